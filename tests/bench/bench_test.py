#!/usr/bin/env python3
"""Tests of tools/bench: how it compares two programs, and their outputs."""
import math
import random
import unittest

import numpy

from bench import compare, measure


class Compare(unittest.TestCase):
    def rounds(self, latency, spread, seed, count=compare.FEWEST_ROUNDS):
        source = random.Random(seed)
        return [[latency * source.uniform(1, 1 + spread) for _ in range(5)] for _ in range(count)]

    def verdict(self, old, new, spread=0.02):
        return compare.compare("net", 1, self.rounds(old, spread, 1), self.rounds(new, spread, 2)).verdict

    def test_verdicts(self):
        self.assertEqual(self.verdict(10, 10), "same")
        self.assertEqual(self.verdict(10, 11), "slower")
        self.assertEqual(self.verdict(10, 9), "faster")

    def test_a_change_within_the_noise_is_none(self):
        self.assertEqual(self.verdict(10, 10.5, spread=1), "same")

    def test_a_change_that_means_nothing_is_none(self):
        self.assertEqual(self.verdict(10, 10.05, spread=0.0001), "same")

    def test_what_disturbs_both_cancels(self):
        old = [[10.0 * drift] * 3 for drift in range(1, 12)]
        new = [[10.5 * drift] * 3 for drift in range(1, 12)]
        self.assertEqual(compare.compare("net", 1, old, new).verdict, "slower")

    def test_rows(self):
        comparison = compare.compare("net", 2, self.rounds(10, 0.01, 1), self.rounds(11, 0.01, 2))
        header, row = compare.rows([comparison])
        self.assertEqual(len(header), len(row))
        self.assertEqual([row[0], row[1], row[-1]], ["net", "2", "slower"])


class Differences(unittest.TestCase):
    def test_difference(self):
        self.assertEqual(measure.relative_difference(numpy.ones(3), numpy.ones(4)), math.inf)
        self.assertAlmostEqual(measure.relative_difference(numpy.full(4, 1.1), numpy.ones(4)), 0.1)


if __name__ == "__main__":
    unittest.main()
