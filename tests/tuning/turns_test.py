#!/usr/bin/env python3
"""Tests of tools/tuning/turns.py: what is reported about artifacts that took turns, and which rounds count."""
import unittest
from unittest import mock

from common import timing
from common.program import Failed
from tuning import turns


class Comparisons(unittest.TestCase):
    def test_speedups_are_of_rounds(self):
        rounds = {"tuned": [[1.0, 1.1, 1.0]] * 15, "untuned": [[2.0, 9.0, 2.0]] * 15}
        self.assertEqual(turns.speedups(rounds), {"untuned": (2, 2, 2)})

    def test_gap(self):
        rounds = {"untuned": [[10.0]] * 15, "tuned": [[9.0]] * 15}
        found = turns.gaps(rounds, [[8.0]] * 15)
        self.assertAlmostEqual(found["gap"], 0.2)
        for end in found["closed"]:
            self.assertAlmostEqual(end, 0.5)
        self.assertEqual(turns.speedups(rounds).keys(), {"untuned"})
        self.assertEqual(turns.comparison(rounds)["latency_ms"], {"untuned": 10.0, "tuned": 9.0})
        # The baseline with 12 was further away. A disturbance of a few rounds changes nothing.
        rounds |= {"baseline": [[12.0]] * 15}
        self.assertAlmostEqual(turns.gaps(rounds, [[8.0]] * 10 + [[2.0]] * 3 + [[20.0]] * 2)["closed"][0], 0.75)
        # If there is no gap, or perhaps none, the report does not say how much of it is closed.
        self.assertNotIn("closed", turns.gaps(rounds, [[12.0]] * 15))
        self.assertNotIn("closed", turns.gaps(rounds, [[11.0]] * 8 + [[13.0]] * 7))

    def test_kernels_above_their_rooflines_do_not_make_up_for_others(self):
        kernels = [{"ms": 4.0, "roofline_ms": 3.0}, {"ms": 1.0, "roofline_ms": 2.0}, {"ms": 5.0, "roofline_ms": 4.0}]
        with mock.patch.object(turns, "attune_json", lambda *_: {"kernels": kernels}):
            self.assertEqual(turns.Rooflines("net.atn", 1).measure(0.3), [8.0])

    def test_what_a_shorter_run_has_of_the_gain(self):
        rounds = {"untuned": [[10.0]] * 15, "tuned": [[8.0]] * 15, "baseline": [[12.0]] * 15}
        found = turns.compare_sooner(rounds, [[9.0]] * 15)
        self.assertAlmostEqual(found["speedups"]["untuned"][0], 10 / 9)
        self.assertAlmostEqual(found["shares"]["untuned"][0], 0.5)
        self.assertAlmostEqual(found["shares"]["baseline"][0], 0.75)
        # If there is no gain, or perhaps none, there are no shares of it.
        self.assertEqual(turns.compare_sooner({**rounds, "baseline": [[8.0]] * 15}, [[9.0]] * 15)["shares"].keys(),
                         {"untuned"})


class Contestant:
    """Returns the given times one after the other, and then keeps repeating the last."""

    def __init__(self, *times):
        self.times, self.count = times, 0

    def measure(self, _seconds):
        self.count += 1
        return [self.times[min(self.count, len(self.times)) - 1]] * 3


class Turns(unittest.TestCase):
    def setUp(self):
        no_wait = mock.patch.object(turns, "take_turns", lambda *arguments: timing.take_turns(*arguments, settle_s=0))
        no_wait.start()
        self.addCleanup(no_wait.stop)

    def compare(self, *tuned, gauge=(2.0,)):
        """The rounds that count, and how many there were, if the tuned artifact takes these times."""
        contestants = {"untuned": Contestant(1.0), "tuned": Contestant(*tuned), "rooflines": Contestant(0.5)}
        self.gauge = Contestant(*gauge)
        return turns.compare_in_turns(contestants, ["untuned", "tuned"], self.gauge, turns.MOST_ROUNDS, turns.NARROW)

    def test_they_go_on_until_it_is_known_how_they_compare(self):
        rounds, count = self.compare(1.0, 1.001)
        self.assertEqual((count, rounds.keys()), (turns.ROUNDS, {"untuned", "tuned", "rooflines"}))
        self.assertEqual(self.gauge.count, 3 * turns.ROUNDS)
        self.assertEqual(self.compare(*[1.0, 1.5] * turns.MOST_ROUNDS)[1], turns.MOST_ROUNDS)

    def test_rounds_count_in_which_nothing_disturbs_the_gauge(self):
        # The gauge has three turns per round, one before each contestant's. In five rounds the machine is slow.
        rounds, count = self.compare(*[1.0] * 10, *[1.4] * 5, 1.0, gauge=[2.0] * 31 + [2.2] * 14 + [2.0])
        self.assertEqual((count, rounds["tuned"]), (2 * turns.ROUNDS, [[1.0] * 3] * (2 * turns.ROUNDS - 5)))
        self.assertEqual({len(lists) for lists in rounds.values()}, {len(rounds["tuned"])})

    def test_where_too_few_would_count_all_do(self):
        self.assertEqual(turns.quiet_rounds([[1.0] * 15 + [2.0] * 30, [1.0] * 14 + [2.0] * 31]), list(range(45)))
        self.assertEqual(turns.quiet_rounds([[1.0] * 15 + [2.0] * 30, [1.02] * 15 + [2.0] * 30]), list(range(15)))

    def test_one_that_fails_fails_all(self):
        with mock.patch.object(Contestant, "measure", side_effect=Failed("gone")):
            with self.assertRaisesRegex(Failed, "untuned: gone; tuned: gone"):
                self.compare(1.0)


if __name__ == "__main__":
    unittest.main()
