#!/usr/bin/env python3
"""Tests of what tools/accuracy runs and prints: how it continues, its command line, its documents and its page."""
import contextlib
import io
import json
import pathlib
import re
import tempfile
import unittest
from unittest import mock

from accuracy import networks, options, page, quantizers
from accuracy import __main__ as program
from accuracy import results as ask
from accuracy.networks import NETWORKS
from accuracy.quantizers import TOOLS
from common.program import Failed
from common.results import write
from tool_tests import run_module

SETTINGS = {"calibration": 4, "judging": 8}
ATTUNE = {"version": "0.1.0", "commit": "0123456789abcdef", "modified": False}


def entry_of(network, tool, score=0.985, metric="equal classes", **fields):
    return {"network": network, "tool": tool, "date": "2020-01-02T03:04:05+00:00", "attune": ATTUNE, "status": "ran",
            "metric": metric, "score": score, "relative_error": 0.0123, "wall_s": 5.0, **fields}


def kept_of_report(fp32=0.0):
    """quantizers.facts() of a report in which this share of the multiply-adds stays in fp32."""
    report = {"layers": [
        {"layer": "first", "precision": "int8", "multiply_adds": 1000 - int(1000 * fp32)},
        {"layer": "large", "precision": "f32", "multiply_adds": int(1000 * fp32) - 5, "reason": "alone it costs 0.02"},
        {"layer": "tiny", "precision": "f32", "multiply_adds": 5, "reason": "alone it costs 0.03"}][:3 if fp32 else 1],
        "shares_of_multiply_adds": {"int8": 1 - fp32, "bf16": 0, "f16": 0, "f32": fp32}, "bytes": 500000,
        "float_bytes": 2000000, "agreement": 0.99, "held_back_samples": 1}
    return quantizers.facts(report)


def sample(fp32=0.4):
    """Results for two networks."""
    found = [entry_of("mobilenet_v1", "attune-int8", **kept_of_report()),
             entry_of("mobilenet_v1", "attune-auto", 0.995, **kept_of_report(fp32)),
             entry_of("mobilenet_v1", "onnxruntime", 0.91, version="1.2.3"),
             entry_of("mobilenet_v1", "litert", 0.8, version="4.5.6"),
             entry_of("minilm", "attune-int8", 0.99871, "cosine", **kept_of_report()),
             {**entry_of("minilm", "litert"), "status": "NS", "reason": "there is none"}]
    return {**ask.document(SETTINGS), "entries": {ask.key(one["network"], one["tool"]): one for one in found}}


class Running(unittest.TestCase):
    class Lab:
        def __init__(self, broken=()):
            self.ran, self.broken = [], broken

        def run(self, network, tool):
            self.ran.append((network, tool))
            if network in self.broken:
                raise Failed("tired")
            if network == "interrupted":
                raise KeyboardInterrupt
            return entry_of(network, tool)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.path = self.folder / "new/results.json"
        quiet = mock.patch.object(program, "progress")
        quiet.start()
        self.addCleanup(quiet.stop)

    def run_entries(self, names, results, again=False, **fields):
        lab = self.Lab(**fields)
        failures = program.run_entries([(name, "litert") for name in names], results, self.path, lab, again)
        return [network for network, _ in lab.ran], failures

    def test_what_is_complete_is_not_measured_again(self):
        results = ask.document(SETTINGS)
        with self.assertRaises(KeyboardInterrupt):
            self.run_entries(["a", "b", "interrupted", "c"], results)
        written = ask.read(self.path, SETTINGS)
        self.assertEqual(written, json.loads(json.dumps(results)))
        self.assertEqual(self.run_entries(["a", "b", "c"], written), (["c"], {}))
        self.assertEqual(self.run_entries(["a", "b"], written, again=True)[0], ["a", "b"])

    def test_what_fails_is_tried_again(self):
        results = ask.document(SETTINGS)
        ran, failures = self.run_entries(["a", "b", "c"], results, broken=("b",))
        self.assertEqual((ran, failures), (["a", "b", "c"], {"b, litert": "tired"}))
        self.assertEqual(self.run_entries(["a", "b", "c"], results)[0], ["b"])

    def test_other_results_are_refused(self):
        results = ask.document(SETTINGS)
        write(self.path, results)
        with self.assertRaisesRegex(ValueError, "other numbers of samples"):
            ask.read(self.path, {**SETTINGS, "judging": 9})
        results["machine"]["cpu_model"] += 1
        write(self.path, results)
        with self.assertRaisesRegex(ValueError, "of another machine"):
            ask.read(self.path, SETTINGS)
        self.path.write_text("{")
        with self.assertRaisesRegex(ValueError, "is damaged"):
            ask.read(self.path, SETTINGS)

    def test_published_is_by_network(self):
        results, folder = sample(), self.folder / "published"
        ask.publish(ask.split(results), folder)
        found = ask.published(folder)
        self.assertEqual(list(found), ["mobilenet_v1", "minilm"])
        self.assertEqual(found["minilm"]["entries"].keys(), {"minilm attune-int8", "minilm litert"})
        self.assertEqual(page.page(found), page.page(ask.split(results)))

    def test_layers_are_published_where_the_page_gives_reasons(self):
        found = ask.split(sample(fp32=0.4))["mobilenet_v1"]
        self.assertNotIn("floats", ask.entry(found, "attune-int8"))
        auto = ask.entry(found, "attune-auto")
        self.assertEqual([layer["layer"] for layer in auto["floats"]], ["large"])
        self.assertEqual(auto["small_floats"], 1)
        self.assertNotIn("floats", ask.entry(ask.split(sample(fp32=0.1))["mobilenet_v1"], "attune-auto"))

    def test_the_report_is_written_beside_the_results(self):
        (self.folder / "out").mkdir()
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            program.report(sample(), self.folder / "out", write_docs=False)
        self.assertTrue((self.folder / "out/quantization.md").read_text().startswith("# What quantization costs"))
        self.assertIn("MobileNet v1 0.25", printed.getvalue())


class CommandLine(unittest.TestCase):
    def test_bad_usage_is_one_sentence(self):
        for arguments, expected in ((["--only", "vgg"], "there is no network vgg"),
                                    (["--tools", "tvm"], "there is no tool tvm"),
                                    (["--judging", "0"], "0 is not a number from 1")):
            result = run_module("accuracy", *arguments)
            self.assertEqual((result.returncode, len(result.stderr.splitlines())), (2, 1), result.stderr)
            self.assertIn(expected, result.stderr)

    def test_missing_networks_are_one_sentence(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run_module("accuracy", ATTUNE_MODELS=f"{folder}/none")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertEqual(result.stderr, "accuracy: ../shared/models is missing; it holds the trained networks, and the "
                                        "photos and sounds for them\n")

    def test_names_are_in_the_order_of_the_table(self):
        self.assertEqual(networks.named("minilm,mobilenet_v1"), ["mobilenet_v1", "minilm"])
        self.assertEqual(options.tool_names("litert,attune-int8"), ["attune-int8", "litert"])
        args = options.parser().parse_args([])
        self.assertEqual((args.networks, args.tools), (list(NETWORKS), list(TOOLS)))


class Page(unittest.TestCase):
    def text(self, **fields):
        return page.page(ask.split(sample(**fields)))

    def test_facts_of_a_report(self):
        kept = kept_of_report(0.4)
        self.assertEqual([(layer["layer"], layer["share"]) for layer in kept["floats"]],
                         [("large", 0.395), ("tiny", 0.005)])
        self.assertEqual((kept["layers"], kept["own_samples"]), (3, 1))
        self.assertTrue(ask.needs_reasons(entry_of("minilm", "attune-auto", **kept)))
        self.assertFalse(ask.needs_reasons(entry_of("minilm", "attune-auto", **kept_of_report(0.2))))
        self.assertFalse(ask.needs_reasons(None))

    def test_sentences_and_tables(self):
        text = self.text()
        for expected in (
                "| MobileNet v1 0.25 | equal classes | 4, 8 crops of photos | 98.5 % | 99.5 % | 91.0 % | 80.0 % |",
                "| all-MiniLM-L6-v2 | cosine | 4, 8 texts of 32 tokens | 0.9987 | – | – | NS |",
                "- all-MiniLM-L6-v2: NS, not supported: there is none",
                "- MobileNet v1 0.25: LiteRT's is trained with quantization",
                "| MobileNet v1 0.25 | 0.012 | 0.012 | 0.012 | 0.012 |",
                "| MobileNet v1 0.25 | auto | 60.0 % | – | 40.0 % | 3 | 0.50 | 2.00 |",
                "60.0 % of the multiply-adds, on a budget of 0.3% of the agreement, as measured on 1 sample.",
                "| `large` | 39.5 % | alone it costs 0.02 |",
                "And 1 layer with less than 1 % each.",
                "MobileNet v1 0.25, all-MiniLM-L6-v2: 2020-01-02, on ",
                "; Attune 0.1.0 (0123456789ab), ONNX Runtime 1.2.3, LiteRT 4.5.6."):
            self.assertIn(expected, text)
        for table in re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE):
            self.assertEqual(len({line.count("|") for line in table.splitlines()}), 1, table)

    def test_reasons_are_left_out_where_enough_is_below_fp32(self):
        self.assertNotIn("## Why layers stay in fp32", self.text(fp32=0.2))

    def test_what_detectors_count_is_said(self):
        one = {"entries": {"x": entry_of("ultraface", "litert", metric="F1 of boxes", boxes=812)}}
        self.assertEqual(page.metric(one), "F1 of 812 boxes")
        self.assertEqual(page.metric({"entries": {}}), "–")


if __name__ == "__main__":
    unittest.main()
