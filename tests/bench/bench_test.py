#!/usr/bin/env python3
"""Tests of tools/bench: its statistics, its table of networks, and how it treats engines that fail."""
import itertools
import math
import os
import pathlib
import random
import statistics
import tempfile
import unittest

import numpy

from bench import compare, measure, networks, stats
from bench.engines import PEERS, Peer
from bench.worker import PeerProcess
from program import Failed


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


class Networks(unittest.TestCase):
    def test_names_lead_back_to_their_cases(self):
        for network in networks.NETWORKS:
            standard = [networks.standard(network, precision) for precision in network.precisions]
            for case in (*standard, *networks.variants(network)):
                self.assertEqual(networks.case_named(case.name), case)

    def test_shapes(self):
        shapes = {name: networks.case_named(name).shape for name in
                  ("inception_v3", "resnet50-192px-b8", "tf_mobilenetv2-w0.75", "bert_base_128-b2")}
        self.assertEqual(list(shapes.values()), [(1, 3, 299, 299), (8, 3, 192, 192), (1, 224, 224, 3), (2, 128)])

    def test_bad_names_are_refused(self):
        for name in ("resnet51", "resnet50-", "resnet50-100px", "vgg16-192px", "resnet50-w0.75", "bert_base_128-256px",
                     "resnet50-b0", ""):
            with self.assertRaises(ValueError, msg=name):
                networks.case_named(name)

    def test_select(self):
        def names(*arguments, **options):
            return [case.name for case in networks.select(*arguments, **options)]
        self.assertEqual(names([]), [network.name for network in networks.NETWORKS if "fp32" in network.precisions])
        self.assertEqual(names(["vgg16", "vgg16"]), ["vgg16"])
        self.assertEqual(names(["resnet18"], "192", 4), ["resnet18-192px-b4"])
        self.assertEqual(names([], "width0.75"), ["mobilenet_v2-w0.75", "tf_mobilenetv2-w0.75"])
        self.assertEqual(names(["resnet50"], with_variants=True),
                         ["resnet50", "resnet50-b8", "resnet50-b32", "resnet50-192px", "resnet50-256px"])
        with self.assertRaises(ValueError):
            names(["vgg16"], "256")

    def test_every_peer_has_a_format_or_a_reason(self):
        for case in (*networks.select([], with_variants=True), *networks.select([], precision="int8")):
            for peer in PEERS.values():
                supposed = networks.refusal(case, peer.name) is None
                self.assertTrue(not supposed or set(peer.formats) & set(case.formats), (case.name, peer.name))


# Peers that behave as engines may. They are opened in another process.
def open_good(path, arrays, threads, bf16):
    return lambda: [2 * array for array in arrays]


def open_crashing(path, arrays, threads, bf16):
    os._exit(7)


def open_failing(path, arrays, threads, bf16):
    raise RuntimeError("cannot read\nthat")


def open_late(path, arrays, threads, bf16):
    outputs = iter([arrays])

    def run():
        output = next(outputs, None)
        if output is None:
            os._exit(8)
        return output
    return run


def peer(open_function, module="json"):
    return Peer("fake", "Fake", "fake-package", module, ("onnx",), open_function)


class Worker(unittest.TestCase):
    def start(self, fake):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        process = PeerProcess(fake, "model", [numpy.ones((2, 3)), numpy.zeros(1)], 1, False,
                              pathlib.Path(folder.name) / "log")
        self.addCleanup(process.close)
        return process

    def assert_fails(self, fake, reason):
        with self.assertRaisesRegex(Failed, reason):
            self.start(fake).measure(0)

    def test_a_peer_that_works(self):
        process = self.start(peer(open_good))
        self.assertEqual([output.tolist() for output in process.outputs], [[2] * 6, [0]])
        self.assertGreaterEqual(process.load_s, 0)
        self.assertEqual(len(process.measure(0)), 3)
        self.assertGreater(len(process.measure(0.02)), 3)

    def test_peers_that_do_not(self):
        self.assert_fails(peer(open_good, "no_such_module"), "fake-package is not installed")
        self.assert_fails(peer(open_failing), "^cannot read$")
        self.assert_fails(peer(open_crashing), "ended with code 7")
        self.assert_fails(peer(open_late), "ended with code 8")


class Turns(unittest.TestCase):
    class Contestant:
        def __init__(self, name, calls, last=math.inf):
            self.name, self.calls, self.left = name, calls, last

        def measure(self, seconds):
            self.left -= 1
            if self.left < 0:
                raise Failed("tired")
            self.calls.append(self.name)
            return [1.0]

    def test_each_begins_in_its_turn(self):
        calls = []
        measure.take_turns({name: self.Contestant(name, calls) for name in "abc"}, 3, 1, settle_s=0)
        self.assertEqual("".join(calls), "abcbcacab")

    def test_one_that_fails_leaves_the_others(self):
        calls = []
        contestants = {"a": self.Contestant("a", calls, last=1), "b": self.Contestant("b", calls)}
        latencies, failures = measure.take_turns(contestants, 3, 1, settle_s=0)
        self.assertEqual(latencies, {"b": [[1.0]] * 3})
        self.assertEqual(failures, {"a": "tired"})


class Failures(unittest.TestCase):
    def test_what_attune_does_not_support_is_not_missing(self):
        self.assertEqual(measure.failed(Failed("attune ...: exit code 1\nNS Conv a: 5-D"))["status"], "NS")
        self.assertEqual(measure.failed(Failed("attune ...: exit code 1\nno memory"))["status"], "missing")

    def test_difference(self):
        self.assertEqual(measure.relative_difference(numpy.ones(3), numpy.ones(4)), math.inf)
        self.assertAlmostEqual(measure.relative_difference(numpy.full(4, 1.1), numpy.ones(4)), 0.1)


if __name__ == "__main__":
    unittest.main()
