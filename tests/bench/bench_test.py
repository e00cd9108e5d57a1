#!/usr/bin/env python3
"""Tests of tools/bench: its statistics, its table of networks, its reports, and how it treats engines that fail."""
import itertools
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

import numpy

from bench import compare, measure, networks, page, plots, report, stats
from bench import results as ask
from bench.__main__ import command_of
from bench.engines import PEERS, Peer
from bench.svg import Drawing
from bench.worker import PeerProcess
from program import Failed

SVG = "{http://www.w3.org/2000/svg}"


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
def open_good(path, array, threads, bf16):
    return lambda: 2 * array


def open_crashing(path, array, threads, bf16):
    os._exit(7)


def open_failing(path, array, threads, bf16):
    raise RuntimeError("cannot read\nthat")


def open_late(path, array, threads, bf16):
    outputs = iter([array])

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
        process = PeerProcess(fake, "model", numpy.ones((2, 3)), 1, False, pathlib.Path(folder.name) / "log")
        self.addCleanup(process.close)
        return process

    def assert_fails(self, fake, reason):
        with self.assertRaisesRegex(Failed, reason):
            self.start(fake).measure(0)

    def test_a_peer_that_works(self):
        process = self.start(peer(open_good))
        self.assertEqual(process.output.tolist(), [2] * 6)
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


def ran(milliseconds):
    return {"status": "ran", "format": "onnx", "load_s": 0.1, **stats.summary([[milliseconds]])}


def kernel(share, **values):
    return {"op": "conv+relu", "strategy": "conv_direct tile=3", "labels": ["/a/Conv", "/b/Conv"], "calls": 2,
            "ms": 1.0, "share": share, "flops": 1e8, "bytes": 1e6, "gflops_per_s": 100.0, "gb_per_s": 1.0,
            "bound": "compute", "roofline_ms": 0.8, **values}


def sample():
    """A results.json with an engine of every kind."""
    def run(threads, ours, theirs):
        profile = {"ms": 2.0, "gflop": 0.2, "threads": threads,
                   "peak": {"gflops_per_core": 120.0, "l2_gb_per_s": 200.0, "l3_gb_per_s": 50.0, "memory_gb_per_s": 20.0},
                   "kernels": [kernel(0.9), kernel(0.08, bound="L3", flops=1e5, gb_per_s=20.0 * threads + 1),
                               kernel(0.02, op="pool", bound="memory"),
                               kernel(0.0, op="copy", strategy="", labels=[], flops=0, bytes=0, bound="",
                                      roofline_ms=0)]}
        return {"threads": threads, "profile": profile, "engines": {
            "attune": ran(ours), "onnxruntime": ran(theirs), "openvino": ran(1.5 * theirs),
            "ncnn": {"status": "NS", "reason": "its tensors have no batch"},
            "mnn": {"status": "missing", "reason": "MNN is not installed: <none> & \"none\""},
            "litert": {"status": "not applicable", "reason": "takes .tflite alone"}}}
    compiled = {"seconds": 0.5, "kernels": 3, "bytes": {"file": 5_000_000}}
    cases = [{"name": name, "network": "net", "framework": "keras", "shape": [1], "standard": standard,
              "compile": compiled, "runs": [run(1, ours, 4.0), run(2, ours / 2, 2.0)]}
             for name, standard, ours in (("one", True, 2.0), ("<two>", True, 8.0), ("one-b8", False, 4.0))]
    return {"date": "2020-01-02T03:04:05+00:00", "command": "./do bench one",
            "settings": {"threads": [1, 2], "rounds": 5, "seconds": 1.0, "bf16": False, "peers": list(PEERS)},
            "machine": {"cpu": "A Processor", "cpu_family": 1, "cpu_model": 2, "instructions": ["avx2"],
                        "processors": 2, "caches": [{"level": 1, "type": "data", "bytes": 32768, "processors": 1}],
                        "memory_bytes": 1 << 30, "system": "An OS"},
            "attune": {"version": "0.1.0", "commit": "0123456789abcdef", "modified": True},
            "versions": {"onnxruntime": "1.0"}, "cases": cases}


class Results(unittest.TestCase):
    def setUp(self):
        self.results = sample()
        self.cases, self.variants = ask.standard_and_variants(self.results)

    def test_ratios(self):
        run = self.cases[0]["runs"][0]
        self.assertEqual(ask.fastest_peer(run), "onnxruntime")
        self.assertEqual(ask.speed_ratio(run), 2.0)
        self.assertAlmostEqual(ask.mean_ratio(self.cases, 1), 1.0)
        self.assertIsNone(ask.mean_ratio([], 1))

    def test_without_peers_there_is_no_ratio(self):
        run = {"threads": 1, "engines": {"attune": ran(1.0)}}
        self.assertIsNone(ask.fastest_peer(run))
        self.assertIsNone(ask.speed_ratio(run))

    def test_missing_names_each_engine_once_a_case(self):
        self.assertEqual([(case, engine) for case, engine, _ in ask.missing(self.results)],
                         [("one", "mnn"), ("<two>", "mnn"), ("one-b8", "mnn")])

    def test_milliseconds_have_three_digits(self):
        self.assertEqual([ask.milliseconds(value) for value in (0.5, 9.994, 9.996, 99.94, 99.96, 289.4)],
                         ["0.50", "9.99", "10.0", "99.9", "100", "289"])


class Report(unittest.TestCase):
    def test_latency_rows(self):
        results = sample()
        rows = report.latency_rows(results, ask.standard_and_variants(results)[0], 1, report.bold)
        self.assertEqual({len(row) for row in rows}, {9})
        self.assertEqual(rows[1][1:], ["**2.00**", "4.00", "6.00", "NS", "missing", "–", "ONNX Runtime", "2.00"])
        self.assertEqual(rows[-1][-1], "**1.00**")

    def test_kernel_rows_are_those_with_a_share(self):
        profile = sample()["cases"][0]["runs"][0]["profile"]
        rows = report.kernel_rows(profile, 0.03)
        self.assertEqual(len(rows), 3)
        self.assertEqual(rows[1][0], "conv+relu by conv_direct: `/a/Conv` and 1 more")
        self.assertEqual(rows[1][-1], "1.25")

    def test_markdown(self):
        self.assertEqual(report.markdown([["a", "b"], ["1", "2"]]), "| a | b |\n|---|--:|\n| 1 | 2 |")

    def test_table_file_gives_reasons(self):
        self.assertIn("- missing, MNN: MNN is not installed", report.table_file(sample()))

    def test_page(self):
        results = sample()
        charts = report.figures(results)
        text = page.page(results, charts)
        self.assertEqual(set(charts), {"speed.svg", "speed-variants.svg", "latency-1.svg", "latency-2.svg",
                                       "roofline-1.svg", "roofline-2.svg"})
        for name in charts:
            self.assertIn(f"](performance/{name})", text)
        for expected in ("./do bench --write-docs", "./do bench one", "commit 0123456789ab, with changes", "one-b8"):
            self.assertIn(expected, text)

    def test_page_of_attune_alone(self):
        results = sample()
        results["settings"]["peers"] = []
        for case in results["cases"]:
            for run in case["runs"]:
                run["engines"] = {"attune": run["engines"]["attune"]}
        self.assertEqual(set(report.figures(results)), {"roofline-1.svg", "roofline-2.svg"})
        self.assertIn("| one | **2.00** |", page.page(results, {}))


class Svg(unittest.TestCase):
    def test_text_is_escaped(self):
        drawing = Drawing(10, 20, "a < b", "\"c\" & d")
        drawing.text(1.23456, 2, "<&>", font_weight=None)
        root = ElementTree.fromstring(str(drawing))
        self.assertEqual(root.find(SVG + "title").text, "a < b")
        text = root.find(SVG + "text")
        self.assertEqual((text.text, text.get("x"), text.get("font-weight")), ("<&>", "1.23", None))

    def test_figures_are_xml_within_their_frame(self):
        for name, drawing in report.figures(sample()).items():
            root = ElementTree.fromstring(drawing)
            width, height = float(root.get("width")), float(root.get("height"))
            for rect in root.iter(SVG + "rect"):
                x, y, w, h = (float(rect.get(key)) for key in ("x", "y", "width", "height"))
                self.assertTrue(0 <= x <= x + w <= width and 0 <= y <= y + h <= height and w >= 0, (name, x, y, w, h))

    def test_a_bar_has_the_length_of_its_value(self):
        bars = [plots.Bar(value, "", "#111111") for value in (1.0, 2.0, 9.0)]
        root = ElementTree.fromstring(plots.BarChart("t", "s", "a", [], [("g", bars)], longest=4.0).draw())
        one, two, nine = (float(r.get("width")) for r in root.iter(SVG + "rect") if r.get("fill") == "#111111")
        self.assertAlmostEqual(two, 2 * one, delta=0.02)
        self.assertAlmostEqual(nine, 4 * one, delta=0.05)

    def test_scales(self):
        self.assertEqual(plots.Scale(0, 10, 100, 200)(5), 150)
        self.assertEqual(plots.Scale(1, 100, 0, 50, logarithmic=True)(10), 25)
        self.assertEqual(plots.Scale(1, 100, 0, 50, logarithmic=True)(0), 0)

    def test_power_above(self):
        self.assertEqual([plots.power_above([value]) for value in (9, 10, 120)], [10, 100, 1000])


class CommandLine(unittest.TestCase):
    def test_the_recorded_command_leaves_out_where_results_went(self):
        self.assertEqual(command_of(["--output", "/x", "vgg16", "--rounds", "3"]), "./do bench vgg16 --rounds 3")
        self.assertEqual(command_of(["--output=/x"]), "./do bench")

    def bench(self, *arguments):
        command = [sys.executable, "-m", "bench", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_bad_usage_is_one_sentence(self):
        for text in ("resnet51", "vgg16 --scale 192", "--threads 0", "--only tvm", "--scale 128", "--rounds x",
                     "--seconds -1", "--from /none", "--against-program /none", "--against HEAD --rounds 3",
                     "--against HEAD --write-docs", "--int8 --bf16", "--int8 --variants", "--int8 resnet18",
                     "resnet50-int8", "--frobnicate"):
            arguments = text.split()
            result = self.bench(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertRegex(result.stderr, r"\Abench: .+\n\Z", arguments)

    def test_old_results_are_reported_again(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "old.json"
            source.write_text(json.dumps(sample()))
            result = self.bench("--from", source, "--output", folder)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertIn("missing: mnn on one", result.stderr)
            self.assertIn("ONNX Runtime", result.stdout)
            self.assertTrue((pathlib.Path(folder) / "table.md").exists())

    def test_another_program_measures_nothing_anew(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "old.json"
            source.write_text(json.dumps(sample()))
            result = self.bench("vgg16", "--from", source, "--output", folder)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("which is not this one", result.stderr)


if __name__ == "__main__":
    unittest.main()
