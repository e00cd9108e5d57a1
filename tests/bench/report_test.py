#!/usr/bin/env python3
"""Tests of what tools/bench says: its results, its reports, its charts and its command line."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

from bench import page, plots, report, stats
from bench import results as ask
from bench.__main__ import command_of
from bench.engines import PEERS
from bench.svg import Drawing

SVG = "{http://www.w3.org/2000/svg}"


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
