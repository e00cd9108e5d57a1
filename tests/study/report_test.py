#!/usr/bin/env python3
"""Tests of what tools/study reports about results, and of its command line."""
import copy
import json
import pathlib
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

from sample import sample
from study import networks, page, plots
from study import __main__ as program
from study import results as ask
from tool_tests import SVG, check_figure, run_module

RESNET, _, DETECTOR = networks.NETWORKS
ALONE, BOTH = networks.Setup(1, 1, 1), networks.Setup(1, 1, 2)


class Results(unittest.TestCase):
    def setUp(self):
        self.results = sample(["onnxruntime"])
        self.own = self.results["networks"][RESNET.name]

    def test_values(self):
        self.assertEqual(ask.latency(self.own, ALONE, "int8"), 4)
        self.assertEqual(ask.latency(self.own, ALONE, "onnxruntime int8"), 6)
        self.assertIsNone(ask.latency(self.own, ALONE, "bf16"))
        self.assertAlmostEqual(ask.per_second(self.own, BOTH, "fp32"), 200)
        self.assertEqual(ask.size(self.own, "int8"), 4_000_000)
        self.assertIsNone(ask.size(self.own, "bf16"))

    def test_ratios_are_to_the_float_version(self):
        self.assertAlmostEqual(ask.to_float(ask.latency, self.own, ALONE, "int8"), 0.4)
        self.assertAlmostEqual(ask.to_float(ask.size, self.own, "fp16"), 1.1)
        self.assertIsNone(ask.to_float(ask.size, self.own, "bf16"))

    def test_a_reason_is_told_once_with_all_that_it_holds_for(self):
        found = ask.reasons(self.results)
        self.assertEqual(len(found), 2)
        bf16 = next(own for (_, reason), own in found.items() if "bf16" in reason)
        self.assertEqual(bf16["bf16-b1"], [network.title for network in networks.NETWORKS])
        self.assertEqual(ask.missing(self.results), [])

    def test_what_is_missing_is_found(self):
        self.own["agreement"]["int8"] = {"status": "missing", "reason": "it ended"}
        self.assertEqual(ask.missing(self.results), [("int8", RESNET.title, "it ended")])

    def test_a_run_goes_on_as_what_it_began(self):
        results = sample()
        results["machine"] = ask.machine.describe()
        self.assertEqual(ask.difference(results, copy.deepcopy(results)), [])
        other = copy.deepcopy(results)
        other["attune"] = {**other["attune"], "commit": "another", "modified": True}
        self.assertEqual(ask.difference(results, other), [])
        other["attune"]["sha256"] = "cd"
        other["settings"]["rounds"] = 7
        self.assertEqual(ask.difference(results, other), ["settings", "attune"])
        results["machine"]["cpu"] = "Another"
        self.assertIn("machine", ask.difference(results, results))


class Page(unittest.TestCase):
    def rows(self, network, results):
        return page.rows(results, network, results["networks"][network.name])

    def test_rows(self):
        rows = self.rows(RESNET, sample())
        self.assertEqual({len(row) for row in rows}, {11})
        self.assertEqual(len(rows), 7)
        self.assertEqual(rows[1], ["float", "10.0", "10.0", "5.00", "200.0", "200.0", "200.0", "NS", "NS", "–", "–"])
        self.assertEqual(rows[3], ["bf16", *["NS"] * 10])
        self.assertEqual(rows[4][-2:], ["87.5 %", "0.98765"])

    def test_a_detector_has_boxes_and_may_have_no_batches(self):
        rows = self.rows(DETECTOR, sample())
        self.assertEqual(rows[0][-1], "F1 of boxes")
        self.assertEqual([rows[4][6], rows[4][-1]], ["NS", "75.0 %"])

    def test_power_where_it_is_known(self):
        rows = self.rows(RESNET, sample(watts=20.0))
        self.assertEqual(rows[1][7:9], ["20.0", "0.1"])
        self.assertIn("package-0", page.page(sample(watts=20.0), {}))
        self.assertIn("Power and energy are NS, not supported: no energy counter.", page.page(sample(), {}))

    def test_peers_stand_below(self):
        rows = self.rows(RESNET, sample(["onnxruntime", "litert"]))
        self.assertEqual([row[0] for row in rows[7:]], ["ONNX Runtime, fp32", "ONNX Runtime, int8", "LiteRT, fp32",
                                                        "LiteRT, int8"])
        self.assertEqual(rows[7][1:3], ["3.0", "15.0"])
        self.assertEqual(rows[7][-2:], ["–", "–"])

    def test_page(self):
        results = sample(["onnxruntime"])
        charts = plots.figures(results)
        text = page.page(results, charts)
        self.assertEqual(set(charts), {"trade.svg", "latency-1.svg", "latency-2.svg", "throughput.svg", "size.svg"})
        for name in charts:
            self.assertIn(f"](study/{name})", text)
        for expected in ("./do study --write-docs", "./do study --rounds 5 --seconds 2", "weights\nare random",
                         "smooth noise", "ONNX Runtime 1.0", "- mixed: 1 layer in bf16, 50 layers in int8",
                         "takes one picture at a time", "in all pictures together: 40"):
            self.assertIn(expected.replace("\n", " "), text.replace("\n", " "))

    def test_a_page_of_nothing(self):
        results = sample()
        results["networks"] = {}
        self.assertEqual(plots.figures(results), {})
        self.assertNotIn("## ResNet", page.page(results, {}))

    def test_a_run_that_was_interrupted(self):
        results = sample()
        results["networks"] = {RESNET.name: {"artifacts": {}, "agreement": {}, "runs": {}}}
        self.assertEqual(self.rows(RESNET, results)[1][:3], ["float", "–", "–"])
        self.assertEqual(plots.figures(results), {})


class Figures(unittest.TestCase):
    def test_figures_are_xml_within_their_frame(self):
        for name, drawing in plots.figures(sample()).items():
            check_figure(self, name, drawing)

    def test_the_trade_has_a_mark_for_each_version_that_ran(self):
        root = ElementTree.fromstring(plots.trade_chart(sample()))
        self.assertEqual(len(list(root.iter(SVG + "circle"))), 3 * 5)

    def test_bars_are_of_what_the_float_version_has_too(self):
        own = sample()["networks"][RESNET.name]
        self.assertEqual([bar.label for bar in plots.bars(own, ask.size, str)],
                         ["10000000", "11000000", "4000000", "5000000", "4500000"])
        own["artifacts"]["fp32-b1"] = {"status": "missing", "reason": "x"}
        self.assertEqual(plots.bars(own, ask.size, str), [])


class CommandLine(unittest.TestCase):
    def test_bad_usage_is_one_sentence(self):
        for text in ("resnet18", "--peers tvm", "--peers ncnn", "--rounds 0", "--seconds x", "--from /none",
                     "--frobnicate"):
            result = run_module("study", *text.split())
            self.assertEqual(result.returncode, 2, text)
            self.assertRegex(result.stderr, r"\Astudy: .+\n\Z", text)

    def test_results_are_reported_again(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            results = sample()
            results["networks"][RESNET.name]["agreement"]["int8"] = {"status": "missing", "reason": "it ended"}
            (folder / "old.json").write_text(json.dumps(results))
            result = run_module("study", "--from", folder / "old.json", "--output", folder)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertEqual(result.stderr, f"missing: int8 of {RESNET.title}: it ended\n")
            self.assertIn("SSD-MobileNet v2", result.stdout)
            self.assertTrue((folder / "study.md").exists() and (folder / "study/trade.svg").exists())

    def test_the_recorded_command_is_the_whole_one(self):
        args = program.parse(["--peers", "litert", "--write-docs", "--from", self.old()])
        self.assertEqual(program.command_of(args), "./do study --rounds 5 --seconds 2 --peers litert")

    def old(self):
        file = tempfile.NamedTemporaryFile("w", suffix=".json", delete=False)
        self.addCleanup(pathlib.Path(file.name).unlink)
        with file:
            json.dump(sample(), file)
        return file.name


if __name__ == "__main__":
    unittest.main()
