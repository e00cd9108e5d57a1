#!/usr/bin/env python3
"""Tests of what tools/scheduling makes of schedules: figures, drawings and the page."""
import re
import unittest

from common.stats import part_seconds
from scheduling import figures, page, plots
from tool_tests import check_figure, run_module

NETWORKS = ["<a>", "b"]


def schedule_row(strategy, jobs, makespan, difference):
    return {"strategy": strategy, "jobs": jobs, "makespan": makespan, "bound": 95.0, "simulated_from_alone": 99.0,
            "simulated_from_own": makespan + 1, "idle_device": 0.1, "idle_processors": 0.6,
            "waiting": {"p50": 0.1, "p99": 2.0}, "predictions": {"stages": 10, "within": 8, "share_within": 0.8},
            "completion": {network: makespan for network in NETWORKS[:jobs]}, "same_kernels": True,
            "stage_seconds": {"open": 1.0, "select": 5.0, "time": 40.0, "confirm_time": 9.0},
            "differences": [difference * (index + 1) / 50 for index in range(100)],
            "stages": [["<a>", "select", False, 0.0, 5.0], ["b", "time", True, 1.0, makespan]]}


def sample():
    """Two jobs: interleaving takes 100 s of 95, one after the other 150 s."""
    live = {network: {"alone": (1.1, 1.0, 1.2), "predictive": (1.1, 1.0, 1.2), "uncoordinated": (0.9, 0.8, 1.0)}
            for network in NETWORKS}
    strategies = ("sequential", "uncoordinated", "lockstep", "first_come", "predictive", "back_to_back", "dedicated")
    return {"date": "2020-01-02", "command": "./do scheduling", "trials": 200, "building": 1, "networks": NETWORKS,
            "attune": {"version": "0.1.0", "commit": "0123456789abcdef", "modified": False},
            "machine": {"cpu": "A Processor", "cpu_family": 1, "cpu_model": 2, "instructions": ["avx2"],
                        "processors": 2, "caches": [], "memory_bytes": 1 << 30, "system": "An OS"},
            "alone": {network: {"seconds": 75.0, "stage_seconds": {"open": 1.0, "time": 20.0}, "idle_device": 0.4,
                                "idle_processors": 0.6} for network in NETWORKS},
            "schedules": [schedule_row("uncoordinated", 1, 96.0, 0.01), schedule_row("sequential", 2, 150.0, 0.005),
                          schedule_row("uncoordinated", 2, 90.0, 0.2), schedule_row("predictive", 2, 100.0, 0.01)],
            "dedicated": [{"jobs": 1, "makespan": 75.0, "hosts": 1}, {"jobs": 2, "makespan": 75.0, "hosts": 2}],
            "simulated": [{"mix": mix, "jobs": 8, "devices": devices, "bound": 300.0 / devices,
                           "makespan": {strategy: 330.0 / devices for strategy in strategies}}
                          for mix in ("like", "unlike") for devices in (1, 2)],
            "live": {"makespan": {"predictive": 100.0, "uncoordinated": 90.0}, "networks": live}}


class Recorded:
    """Stands for the lab: ratios by the name of a run."""

    def __init__(self, ratios):
        self._ratios = ratios

    def alone(self, network):
        return f"alone-{network}"

    def ratios(self, name, _network):
        return self._ratios[name]


class Figures(unittest.TestCase):
    def test_differences_are_of_candidates_that_both_measured(self):
        lab = Recorded({"alone-a": {1: 1.0, 2: 2.0, 3: 1.0}, "beside": {3: 1.1, 2: 1.0, 4: 9.0}})
        self.assertEqual([round(value, 6) for value in figures.differences(lab, "beside", ["a"])], [0.1, 0.5])

    def test_differences_are_of_the_first_candidates(self):
        quiet = {key: 1.0 for key in range(80)}
        lab = Recorded({"alone-a": quiet, "beside": {**quiet, 70: 2.0}})
        self.assertEqual(figures.differences(lab, "beside", ["a"]), [0.0] * figures.COMPARED)

    def test_stages(self):
        stage = {"job": "a", "name": "time", "start": 2.0, "end": 5.0, "needs": [{"exclusive": True}]}
        schedule = {"stages": [stage, {**stage, "job": "b", "start": 5.0, "end": 6.0, "needs": []}]}
        self.assertEqual(figures.stage_seconds(schedule), {"time": 4.0})
        self.assertEqual(figures.bars(schedule), [["a", "time", True, 2.0, 5.0], ["b", "time", False, 5.0, 6.0]])

    def test_every_stage_has_a_part(self):
        parts = {}
        for stage in ("open", "time", "confirm_time", "calibrate", "finish"):
            parts[stage], = (part for part, seconds in part_seconds({stage: 1}, plots.PARTS).items() if seconds)
        self.assertEqual(parts, {"open": "open, prepare", "time": "measure", "confirm_time": "finalize",
                                 "calibrate": "measure", "finish": "finalize"})


class Report(unittest.TestCase):
    def test_figures_are_xml_within_their_frame(self):
        drawn = plots.figures(sample())
        self.assertEqual(set(drawn), set(plots.CHARTS))
        for name, drawing in drawn.items():
            check_figure(self, name, drawing)

    def test_the_page_has_every_section_and_the_verdict(self):
        text = page.page(sample(), plots.CHARTS)
        for title, name, _ in page.SECTIONS:
            self.assertIn(f"## {title}", text)
            self.assertIn(f"(scheduling/{name})" if name else title, text)
        self.assertIn("reaches **95.0 %** of the bound", text)
        self.assertIn("**Completion: held.** 2 jobs interleaved end after 100 s, one after the other after 150 s", text)
        self.assertIn("1.50 times as fast, where 1.58 times", text)
        self.assertIn("**Inference speed: held.**", text)
        self.assertIn("The networks that it tunes are slower (0.818 times as fast as those tuned alone)", text)

    def test_a_claim_may_not_hold(self):
        results = sample()
        results["schedules"][-1] = schedule_row("predictive", 2, 160.0, 0.3)
        verdicts = re.findall(r"\*\*(.*: (?:not )?held)", page.page(results, plots.CHARTS))
        self.assertEqual(verdicts, ["Completion: not held", "Inference speed: not held", "Hardware: held",
                                    "Uncoordinated sharing distorts: held"])

    def test_without_some_strategies_there_are_fewer_sentences(self):
        results = sample()
        results["schedules"] = results["schedules"][:1]
        results["live"] = {}
        text = page.page(results, plots.figures(results))
        self.assertNotIn("## The claim", text)
        self.assertNotIn("## The tuned networks", text)


class CommandLine(unittest.TestCase):
    def test_bad_usage_is_one_sentence(self):
        result = run_module("scheduling", "--trials", "none")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertEqual(result.stderr, "scheduling: --trials: none is not a number from 1\n")


if __name__ == "__main__":
    unittest.main()
