#!/usr/bin/env python3
"""Tests of tools/common: statistics of latencies."""
import itertools
import math
import random
import statistics
import unittest

from common import stats


class Stats(unittest.TestCase):
    def test_summary_is_of_all_rounds(self):
        summary = stats.summary([[3, 1, 2], [9, 8]])
        self.assertEqual(summary, {"min_ms": 1, "median_ms": 3, "count": 5, "round_medians_ms": [2, 8.5]})

    def test_geometric_mean(self):
        self.assertAlmostEqual(stats.geometric_mean([0.5, 2, 8]), 2)

    def test_ranks_are_the_narrowest_that_hold(self):
        for count, confidence in itertools.product(range(12, 40), (0.9, 0.99, 0.999)):
            low, high = stats.ranks_of_interval(count, confidence)

            def misses(rank):
                return 2 * sum(math.comb(count, below) for below in range(rank + 1)) / 2**count
            self.assertEqual(low, count - 1 - high)
            self.assertLessEqual(misses(low), 1 - confidence)
            self.assertGreater(misses(low + 1), 1 - confidence)

    def test_least_count(self):
        for confidence in (0.5, 0.9, 0.99, 0.999):
            count = stats.least_count(confidence)
            self.assertEqual(stats.ranks_of_interval(count, confidence), (0, count - 1))
            with self.assertRaises(ValueError):
                stats.ranks_of_interval(count - 1, confidence)

    def test_interval_holds_the_median_as_often_as_it_says(self):
        random.seed(0)
        held = 0
        for _ in range(2000):
            _, low, high = stats.median_interval([random.expovariate(1) for _ in range(15)], 0.9)
            held += low <= math.log(2) <= high
        self.assertGreater(held / 2000, 0.9)
        self.assertLess(held / 2000, 0.99)

    def test_resampled_interval_holds_the_value_about_as_often_as_it_says(self):
        random.seed(0)
        held = 0
        for _ in range(200):
            values = [random.expovariate(1) for _ in range(15)]
            middle, low, high = stats.resampled_interval(
                15, lambda numbers, of=values: statistics.median(of[number] for number in numbers), 0.9, 400)
            self.assertEqual(middle, statistics.median(values))
            held += low <= math.log(2) <= high
        self.assertGreater(held / 200, 0.83)
        self.assertLess(held / 200, 0.97)

    def test_quantiles_are_those_of_printed_tables(self):
        for degrees, quantile in ((1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262), (30, 2.042)):
            self.assertAlmostEqual(stats.t_quantile(0.95, degrees), quantile, delta=0.0006)
        self.assertAlmostEqual(stats.t_quantile(0.99, 7), 3.499, delta=0.0006)

    def test_interval_holds_the_mean_as_often_as_it_says(self):
        random.seed(0)
        held = 0
        for _ in range(2000):
            _, low, high = stats.mean_interval([random.gauss(5, 1) for _ in range(3)], 0.9)
            held += low <= 5 <= high
        self.assertAlmostEqual(held / 2000, 0.9, delta=0.02)

    def test_one_value_says_nothing(self):
        self.assertEqual(stats.mean_interval([3.0], 0.95), (3, -math.inf, math.inf))
        self.assertEqual(stats.mean_interval([3.0, 3.0], 0.95), (3, 3, 3))


if __name__ == "__main__":
    unittest.main()
