#!/usr/bin/env python3
"""Tests of ./do bench --wide: its table of networks, when they are exported again, its record and its page. None of
them needs torch."""
import ast
import math
import pathlib
import tempfile
import unittest
from unittest import mock

import numpy

from bench import measure
from bench.wide import digest, networks, page, results
from bench.wide.networks import WideNetwork
from bench.wide.table import NETWORKS
from common.program import Failed
from sample import kernel, ran, report_again, sample
from tool_tests import run_module

SOURCE = """
import torch
WIDTH = 8
class Layer(torch.nn.Module):
    def forward(self, x):
        return helper(x)
def helper(x):
    return x * WIDTH
def other():
    return 1
def make(depth):
    return [Layer() for _ in range(depth)]
"""


class Table(unittest.TestCase):
    def test_names_are_of_files_and_each_once(self):
        names = [network.name for network in NETWORKS]
        self.assertGreaterEqual(len(names), 60)
        self.assertEqual(len(names), len(set(names)))
        for name in names:
            self.assertRegex(name, r"\A[a-z0-9_]+\Z")

    def test_functions_take_the_arguments(self):
        for network in NETWORKS:
            file, name = network.maker.split(".")
            source = digest.definitions((digest.HERE / f"{file}.py").read_text(), name)[name]
            arguments = ast.parse(source).body[0].args
            if arguments.kwarg is None:
                self.assertLessEqual(set(network.arguments), {each.arg for each in arguments.args}, network.name)

    def test_select(self):
        chosen = networks.select(["tcn", "unet", "tcn"], NETWORKS)
        self.assertEqual([network.name for network in chosen], ["tcn", "unet"])
        self.assertEqual(networks.select([], NETWORKS), NETWORKS)
        with self.assertRaisesRegex(ValueError, "there is no network resnet51"):
            networks.select(["resnet51"], NETWORKS)


class Digest(unittest.TestCase):
    def test_definitions_are_those_that_are_used(self):
        self.assertEqual(set(digest.definitions(SOURCE, "make")), {"make", "Layer", "helper", "WIDTH"})
        with self.assertRaises(KeyError):
            digest.definitions(SOURCE, "none")

    def test_what_is_used_makes_a_difference(self):
        changed, unrelated = SOURCE.replace("WIDTH = 8", "WIDTH = 9"), SOURCE.replace("return 1", "return 2")
        before = digest.definitions(SOURCE, "make")
        self.assertNotEqual(digest.definitions(changed, "make"), before)
        self.assertEqual(digest.definitions(unrelated, "make"), before)

    def test_each_part_of_a_network_counts(self):
        def key(**changes):
            of = {"name": "a", "maker": "audio.tcn", "arguments": {"steps": 5}, **changes}
            return digest.digest(WideNetwork(**of))
        self.assertEqual(key(), key(name="b"))
        keys = {key(), key(arguments={"steps": 6}), key(maker="audio.wavenet"), key(dynamo=True), key(weights="u8")}
        self.assertEqual(len(keys), 5)


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, value in (("FOLDER", self.folder), ("run_tool", self.export)):
            patch = mock.patch.object(networks, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.exports = 0

    def export(self, *command):
        self.exports += 1
        (self.folder / f"{command[-1]}.onnx").touch()

    def test_a_model_is_exported_where_it_has_changed(self):
        for count, arguments in ((1, {"steps": 5}), (1, {"steps": 5}), (2, {"steps": 6})):
            path = networks.ensure(WideNetwork("net", "audio.tcn", arguments))
            self.assertEqual((path, self.exports), (self.folder / "net.onnx", count))

    def test_tensors_are_in_the_order_of_their_numbers(self):
        network = WideNetwork("net", "audio.tcn")
        network.tensors.mkdir()
        for index in range(11):
            numpy.save(network.tensors / f"input{index}.npy", numpy.full(2, index))
        numpy.save(network.tensors / "output0.npy", numpy.ones((2, 2)))
        self.assertEqual(list(network.input_files()), [f"input{index}" for index in range(11)])
        self.assertEqual([array[0] for array in network.inputs()], list(range(11)))
        self.assertEqual([output.tolist() for output in network.expected()], [[1] * 4])
        self.assertEqual(measure.input_flags(network)[:2], ["--input", f"input0={network.tensors}/input0.npy"])
        self.assertIsNone(WideNetwork("net", "audio.tcn", weights="u8").expected())


class Comparison(unittest.TestCase):
    def test_the_worst_output_counts(self):
        one = [numpy.ones(4), numpy.full(4, 2.0)]
        self.assertAlmostEqual(measure.largest_difference(one, [numpy.ones(4), numpy.full(4, 4.0)], "fp32"), 0.5)
        self.assertTrue(math.isnan(measure.largest_difference([numpy.full(4, math.nan), one[1]], one, "fp32")))

    def test_wrong_is_told_from_not_there(self):
        measure.check_difference(1e-5, "torch", "torch's")
        for difference in (0.01, math.nan, math.inf):
            with self.assertRaises(measure.Wrong) as raised:
                measure.check_difference(difference, "torch", "torch's")
            self.assertEqual(measure.failed(raised.exception)["status"], "wrong")


class FakeLab:
    """Measures nothing, and reports that Attune fails."""
    rounds, seconds, bf16, int8, peers = 2, 0.1, False, False, ["onnxruntime"]

    def measure(self, network, threads, progress):
        reason = "attune compile net.onnx: exit code 1\nnot supported: Frobnicate a: unknown\nmore"
        return {"runs": [{"threads": count, "engines": {
            "attune": {"status": "missing", "reason": reason}, "openvino": {"status": "wrong", "reason": "else"},
            "onnxruntime": ran(2.0)}} for count in threads]}


class Record(unittest.TestCase):
    def setUp(self):
        self.networks = [WideNetwork("a", "audio.tcn"), WideNetwork("b", "audio.wavenet")]
        for target, name, value in ((results, "ensure", self.ensure),
                                    (results.machine, "program", lambda: {"commit": "0" * 40, "modified": False})):
            patch = mock.patch.object(target, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def ensure(self, network):
        if network.name == "b":
            raise Failed("torch does not know it")

    def begun(self, document, threads=(1,), names="ab"):
        return results.begun(document, FakeLab(), list(threads), "./do bench --wide", names)

    def run_all(self, document, anew=False):
        measured = []
        results.measure(FakeLab(), self.networks, anew, document, lambda _: None, measured.append)
        return measured

    def test_it_goes_on_where_it_ended(self):
        document = self.begun(None)
        self.assertEqual(self.run_all(document), ["a, 1 of 2", "b, 2 of 2"])
        self.assertEqual(self.run_all(document), [])
        self.assertEqual(len(self.run_all(document, anew=True)), 2)
        document["cases"][1]["key"] = "of another source"
        self.assertEqual(self.run_all(document), ["b, 2 of 2"])
        self.assertIs(self.begun(document), document)
        with self.assertRaisesRegex(ValueError, "--again begins anew"):
            self.begun(document, [1, 2])

    def test_networks_that_are_gone_are_left_out(self):
        document = self.begun(None)
        self.run_all(document)
        self.assertEqual([case["name"] for case in self.begun(document, names="b")["cases"]], ["b"])

    def test_what_fails_is_recorded_with_its_reason(self):
        document = self.begun(None)
        self.run_all(document)
        one, other = document["cases"]
        engines = one["runs"][0]["engines"]
        self.assertEqual(engines["attune"], {"status": "NS", "reason": "not supported: Frobnicate a: unknown"})
        self.assertEqual([engines[name]["status"] for name in ("openvino", "onnxruntime")], ["wrong", "ran"])
        self.assertEqual((other["export"], other["runs"]), ("torch does not know it", []))


def wide_sample():
    """Results for three networks: one where Attune is ahead, one where it is behind, and one that torch does not
    export."""
    document = sample()
    document["settings"] |= {"threads": [1], "peers": ["onnxruntime", "openvino"], "wide": True}
    for case in document["cases"]:
        case["runs"], case["attune"] = case["runs"][:1], document["attune"]
        case["runs"][0]["engines"] = {name: case["runs"][0]["engines"][name] for name in
                                      ("attune", "onnxruntime", "openvino")}
    first, second, third = document["cases"]
    first["runs"][0]["engines"]["openvino"] = {"status": "wrong", "reason": "computes something else"}
    second["runs"][0]["profile"]["kernels"] = [kernel(0.2, ms=1.0, roofline_ms=0.9, op="first"),
                                               kernel(0.8, ms=4.0, roofline_ms=1.0, op="worst", peak_share=0.2)]
    third |= {"export": "torch does not know it", "runs": []}
    return document


class Page(unittest.TestCase):
    def test_the_least_ratio_is_first(self):
        rows = page.rows(wide_sample(), 1)
        self.assertEqual([row[0] for row in rows[1:]], ["<two>", "one", "geometric mean"])
        self.assertEqual([row[-1] for row in rows[1:]], ["0.50", "2.00", "1.00"])

    def test_the_costly_kernel_is_named_where_attune_is_behind(self):
        text = page.page(wide_sample())
        self.assertIn("| <two> | 0.50 | worst by conv_direct: `/a/Conv` and 1 more | 80 % | 3.00 | 25 % | 20 % |", text)
        self.assertNotIn("| one | 2.00 | ", text)

    def test_what_did_not_run_has_its_reason(self):
        text = page.page(wide_sample())
        self.assertIn("- wrong, OpenVINO: computes something else (one)", text)
        self.assertIn("- one-b8: torch does not know it", text)
        self.assertIn("over 2 networks, of which it is behind on 1", text)


class CommandLine(unittest.TestCase):
    def test_the_list(self):
        result = run_module("bench", "--wide", "--list")
        self.assertEqual(result.stdout.split(), [network.name for network in NETWORKS])

    def test_bad_usage_is_one_sentence(self):
        for text in ("--list", "--again", "--wide resnet51", "--wide --int8", "--wide --variants", "--wide --batch 8",
                     "--wide --only ncnn"):
            result = run_module("bench", *text.split())
            self.assertEqual(result.returncode, 2, text)
            self.assertRegex(result.stderr, r"\Abench: .+\n\Z", text)

    def test_old_results_are_reported_again(self):
        with tempfile.TemporaryDirectory() as folder:
            result = report_again(wide_sample(), folder)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertEqual(result.stderr, "missing: openvino on one: computes something else\n")
            self.assertIn("# Performance on the wide set", (pathlib.Path(folder) / "table.md").read_text())


if __name__ == "__main__":
    unittest.main()
