#!/usr/bin/env python3
"""Tests of how tools/tuning reports its results: curves, comparisons, figures and the page."""
import copy
import math
import re
import unittest

from common.report import lines
from common.report.words import duration
from sample import entry_of, sample
from tool_tests import check_figure
from tuning import curves, page, plots
from tuning import results as ask
from tuning.cases import Plan, TuneCase


class Curves(unittest.TestCase):
    POINTS = [(0, 1.0), (20, 1.1), (50, 1.2), (80, 1.5), (80, 1.4)]

    def test_of_an_entry(self):
        entry = {"case": {"searches": False}, "kernels_untuned_ms": 4.0, "curve": [[1.5, 10, 3.0], [9.0, 40, 2.0]]}
        self.assertEqual(curves.curve(entry, "trials"), [(0, 1), (10, 4 / 3), (40, 2)])
        self.assertEqual(curves.curve(entry, "seconds"), [(0, 1), (1.5, 4 / 3), (9, 2)])
        entry["case"]["searches"] = True
        self.assertEqual(curves.curve(entry, "seconds"), [(1.5, 4 / 3), (9, 2)])

    def test_a_speed_holds_until_the_next_point(self):
        self.assertEqual([curves.speed_at(self.POINTS, x) for x in (0, 19.9, 20, 79, 80, 500)],
                         [1, 1, 1.1, 1.2, 1.4, 1.4])

    def test_a_search_that_finds_nothing_has_no_curve(self):
        self.assertEqual(curves.mean_curve([[(3, 1.5)], []]), [])
        entry = {"case": {"searches": True}, "kernels_untuned_ms": 4.0, "curve": []}
        self.assertIsNone(ask.kernel_gain(entry))

    def test_budget_until_a_gain(self):
        self.assertAlmostEqual(curves.speed_with(0.8, [self.POINTS, [(9, 0.5), (10, 0.9)]]), 0.75 + 0.8 * 0.4)
        self.assertEqual(curves.position_of(self.POINTS, 1.16), 50)
        self.assertEqual(curves.position_of(self.POINTS, 1.001), 20)
        self.assertIsNone(curves.position_of(self.POINTS, 1.6))

    def test_what_gains_nothing_has_no_share_of_it(self):
        for runs in ([], [[]], [self.POINTS, []], [[(0, 1.0), (9, 0.9)]]):
            self.assertIsNone(curves.speed_with(0.8, runs))
        self.assertIsNone(curves.position_of(self.POINTS, None))

    def test_a_mean_curve_begins_where_all_have_begun(self):
        mean = curves.mean_curve([[(3, 1.5), (10, 0.5)], [(5, 1.0)]])
        self.assertEqual((mean[0][:2], mean[-1][:2]), ((5, 1.25), (10, 0.75)))

    def test_a_mean_curve_goes_as_far_as_the_longest(self):
        mean = curves.mean_curve([[(0, 1.0), (10, 0.5)], [(0, 1.0), (100, 0.7)]])
        self.assertEqual(mean[0], (0, 1, 1, 1))
        self.assertEqual(mean[-1][0], 100)
        self.assertAlmostEqual(mean[-1][1], 0.6)
        self.assertLess(mean[-1][2], 0.5)

    def test_bins_count_each_run_once(self):
        first, last = curves.binned([[(1, 0.0), (2, 0.2), (10, 0.8)], [(4, 0.5)], []], 10, 2)
        self.assertEqual((first[0], last[0]), (2.5, 7.5))
        self.assertAlmostEqual(first[1], 0.3)
        self.assertEqual(last[1:], (0.8, -math.inf, math.inf))

    def test_overlap(self):
        self.assertTrue(curves.overlap((1.5, 1, 2), (2.5, 2, 3)))
        self.assertFalse(curves.overlap((1.5, 1, 2), (2.6, 2.1, 3)))
        self.assertFalse(curves.overlap((2.6, 2.1, 3), (1.5, 1, 2)))
        self.assertTrue(curves.overlap((9, -math.inf, math.inf), (1, 1, 1)))

    def test_a_mean_is_of_all_or_none(self):
        self.assertIsNone(curves.mean_or_none([1, None]))
        self.assertIsNone(curves.mean_or_none(None))
        self.assertEqual(curves.mean_or_none([1, 1]), (1, 1, 1))


class Results(unittest.TestCase):
    def setUp(self):
        self.results = sample()

    def test_gains(self):
        entry = entry_of(TuneCase("net", 40), 8.0)
        self.assertAlmostEqual(ask.kernel_gain(entry), 8 / 6.4)

    def test_strategies_differ_where_intervals_do_not_overlap(self):
        entries = ask.entries(self.results, 1)
        self.assertEqual(ask.compare_strategies(entries, "annealing", "random"), (["<a>", "b"], [], 2))
        self.assertEqual(ask.compare_strategies(entries, "random", "annealing"), ([], ["<a>", "b"], 2))
        self.assertEqual(ask.compare_strategies(entries, "grid", "genetic"), ([], [], 2))

    def test_a_pair_has_one_seed(self):
        entries = [entry_of(TuneCase("net", 40, strategy, seed), ms)
                   for strategy, seed, ms in (("annealing", 0, 5.0), ("annealing", 1, 10.0), ("annealing", 2, 10.0),
                                              ("random", 1, 12.0), ("random", 0, 6.0))]
        annealing, at_random = (ask.of(entries, strategy=strategy) for strategy in ("annealing", "random"))
        for found, expected in zip(ask.paired_gain(annealing, at_random), (1.2, 1.2, 1.2)):
            self.assertAlmostEqual(found, expected)
        self.assertIsNone(ask.paired_gain(annealing, ask.of(entries, strategy="grid")))
        entries[0]["curve"], entries[0]["case"]["searches"] = [], True
        self.assertIsNone(ask.paired_gain(annealing, at_random))

    def test_one_seed_proves_nothing(self):
        entries = ask.entries(sample(Plan(networks=("b",), seeds=1, trials=40)), 1)
        self.assertEqual(ask.compare_strategies(entries, "annealing", "random"), ([], [], 0))

    def test_transfer(self):
        entries = ask.entries(self.results, 2)
        self.assertEqual(ask.transfer_networks(entries), {"b": "<a>"})
        arms = ask.transfer_arms(ask.of(entries, network="b"))
        self.assertEqual({arm: len(runs) for arm, runs in arms.items()},
                         {"nothing": 2, "its own tasks": 2, "the first network's records": 2})
        # Kernels take 8 ms in the beginning and 6.4 ms in the end, so 80 % of the gain is reached at 6.7 ms.
        self.assertEqual(ask.trials_until(arms, ask.speed_of_most(arms["nothing"]))["nothing"], [40, 40])

    def test_trials_until_near_what_a_model_that_knows_nothing_ends_with(self):
        arms = ask.model_arms(copy.deepcopy(ask.of(ask.entries(self.results, 3), network="b")))
        without = arms["none"]
        without[0]["curve"] = [[5.0, 2, 8.0], [40.0, 40, 6.6]]
        without[1]["curve"] = [[5.0, 2, 8.0], [40.0, 40, 6.0]]
        self.assertEqual(ask.trials_until(arms, ask.speed_near_end(without)),
                         {"none": [40, 40], "pretrained": [40, 40]})
        without[0]["curve"] = []
        self.assertEqual(ask.trials_until(arms, ask.speed_near_end(without)), {})
        self.assertEqual(ask.trials_until(arms, ask.speed_near_end([])), {})

    def test_runs_of_how_soon(self):
        runs = ask.soon_runs(ask.entries(self.results, 7))
        long, short, taught, recalled = runs
        self.assertEqual([run["case"]["time"] for run in runs], ["2h", "10m", "3m", "2h"])
        self.assertIsNone(ask.what_came_of(long, recalled))
        self.assertIsNotNone(ask.what_came_of(short, recalled))
        self.assertIsNotNone(ask.what_came_of(taught, recalled))
        self.assertIsNone(ask.what_came_of(short, None))
        self.assertEqual(ask.soon_runs([]), (None, None, None, None))

    def test_mean_speedup_takes_the_ends_of_all(self):
        entries = [{"speedups": {"untuned": values}} for values in ((1.0, 0.5, 2.0), (4.0, 2.0, 8.0))]
        for value, expected in zip(ask.mean_speedup(entries, "untuned"), (2, 1, 4), strict=True):
            self.assertAlmostEqual(value, expected)
        self.assertIsNone(ask.mean_speedup(entries, "baseline"))



class Plots(unittest.TestCase):
    def test_ticks(self):
        self.assertEqual(plots.ticks(0, 500), [0, 100, 200, 300, 400, 500])
        self.assertEqual([round(value, 6) for value in plots.ticks(0.83, 1.01)], [0.85, 0.9, 0.95, 1.0])

    def test_stairs(self):
        points = [(0, 5), (2, 3), (4, 3)]
        self.assertEqual(lines.corners(points, False), points)
        self.assertEqual(lines.corners(points, True), [(0, 5), (0, 5), (2, 5), (2, 3), (4, 3), (4, 3)])
        self.assertEqual(lines.corners([], True), [])

    def test_an_endless_band_does_not_stretch_the_axis(self):
        line = lines.Series("a", "#000000", [(0, 1.0, -math.inf, math.inf), (1, 0.8, -5.0, 6.0)])
        low, high = lines.value_range([line])
        self.assertTrue(0.6 < low < 0.8 and 1.0 < high < 1.2, (low, high))

    def test_figures_are_xml_within_their_frame(self):
        drawn = plots.figures(ask.split(sample()))
        self.assertEqual(set(drawn), {name for name, _ in plots.CHARTS.values()})
        for name, drawing in drawn.items():
            check_figure(self, name, drawing)

    def test_no_results_no_figures(self):
        self.assertEqual(plots.figures({}), {})


class Page(unittest.TestCase):
    def setUp(self):
        self.results = sample()
        self.charts = plots.figures(ask.split(self.results))

    def test_every_figure_says_where_it_is_from(self):
        text = page.page(ask.split(self.results), self.charts)
        for number, (name, _) in plots.CHARTS.items():
            origin = text.split(f"](tuning/{name})\n\n")[1].splitlines()[0]
            for part in (f"`./do experiments --only {number}`", "2020-01-02", "2 cores of A Processor", "0123456789ab"):
                self.assertIn(part, origin)

    def test_sentences_and_tables(self):
        text = page.page(ask.split(self.results), self.charts)
        for expected in (
                "By the sum of the kernels, annealing is better than random on 2 of 2 networks (<a>, b), and worse on "
                "none",
                "| b, annealing | 2 | 40 | 1.249× (1.239 to 1.259) | **1.125×** (1.124 to 1.126) |",
                "| b, random | 2 | 40 | 1.110× (1.103 to 1.118) | – |",
                "| b, nothing | 2 | 1 of 2 | 40 (40 to 40) |",
                "With the first network's records b has 80 % of the gain after 40 trials, and after 40 where nothing is "
                "known: 100 % of these, and 100 % of all 40 that a run has.",
                "| b, 1 | 25 % | 10.0 | 8.00 | **1.250×** (1.200 to 1.300) | 60 % (50 to 70) "
                "| 1.020× (0.990 to 1.050)",
                "| geometric mean, 2 |  |  |  | **1.250×** (1.200 to 1.300) |",
                "On 1 thread the interval of the gain is above 1 for 2 of 2 networks, and below 1 for 0. "
                "At least half of the gap is closed on 2 of 2 networks that have a significant one.",
                "tuning comes there sooner on 0 of 2 networks",
                "that the network has itself, from 8 random candidates of each other task of 3 networks, on 1 and 2 "
                "threads. *Near the end*",
                "| b, pretrained | 0.25 (0.25 to 0.25) | 0.50 (0.50 to 0.50) |",
                "| nothing | 40 s | 40 | **1.200×** (1.100 to 1.300) | 90 % (80 to 100) | **1.400×** (1.300 to 1.500) | "
                "– |",
                "| the long run's records | 2 s | 0 | **1.250×** (1.200 to 1.300) | – | **1.500×** (1.400 to 1.600) | – |",
                "The kernels of the long run had 80 % of their gain after 40 s."):
            self.assertIn(expected, text)
        for table in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
            self.assertEqual(len({line.count("|") for line in table.splitlines()}), 1, table)

    def test_with_one_seed_nothing_is_claimed(self):
        results = sample(Plan(networks=("b",), deployed=("b",), pairs=(("a", "b"),), seeds=1, trials=40))
        text = page.page(ask.split(results), plots.figures(ask.split(results)))
        self.assertNotIn("do not overlap", text)
        self.assertIn("| b, annealing | 1 | 40 | 1.250× |", text)
        self.assertNotIn("inf", re.sub(r"infer\w*", "", text))

    def test_an_unfinished_experiment_says_so(self):
        self.results["cases"].pop(self.results["experiments"]["1"]["cases"][0])
        text = page.page(ask.split(self.results), self.charts)
        self.assertIn("1 run of it has not been made.", text)

    def test_experiments_that_were_not_run_are_left_out(self):
        self.results["experiments"] = {"6": self.results["experiments"]["6"]}
        text = page.page(ask.split(self.results), plots.figures(ask.split(self.results)))
        self.assertEqual(re.findall("^## (.*)$", text, re.MULTILINE), ["Tuned and untuned"])

    def test_a_baseline_for_another_processor_is_named(self):
        entries = [{"case": {"network": network}, "baseline_cpu": "cpu9"} for network in ("a", "a", "b")]
        self.assertEqual(page.compiled_for([*entries, {"case": {"network": "c"}}]),
                         ["The baseline fails to compile a and b for this processor. It is compiled for cpu9 there, "
                          "whose code runs here too."])

    def test_how_many_rounds_count_is_said(self):
        entries = [{"rounds": 60, "rounds_counted": 20}, {"rounds": 15, "rounds_counted": 15}, {}]
        self.assertIn(" 35 of 75 rounds count;", page.rounds_counted(entries))
        self.assertEqual(page.rounds_counted([{}]), "")

    def test_runs_that_never_come_there_are_counted(self):
        self.assertEqual(page.reached([None, None], " s"), "0 of 2 runs")
        self.assertEqual(page.reached([None, 12.3], " s"), "1 of 2 runs: 12 s")
        self.assertEqual(page.reached([7.0], " s"), "7 s")

    def test_durations(self):
        self.assertEqual([duration(value) for value in (42.4, 600, 3 * 3600 + 300)], ["42 s", "10 min", "3:05 h"])


if __name__ == "__main__":
    unittest.main()
