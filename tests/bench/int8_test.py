#!/usr/bin/env python3
"""Tests of tools/bench for networks of 8-bit integers."""
import math
import pathlib
import tempfile
import unittest

import numpy

from bench import measure, page, pages, plots, report
from bench import results as ask
from common.models import cases, files
from common.program import Failed
from sample import kernel, report_again, sample
from tool_tests import run_module

PEAK = {"gflops_per_core": 120.0, "int8_gops_per_core": 480.0, "l2_gb_per_s": 200.0, "l3_gb_per_s": 50.0,
        "memory_gb_per_s": 20.0}


def int8_sample():
    """A results.json for networks of integers, with three quarters of the multiply-adds in integers."""
    results = sample()
    results["settings"] |= {"int8": True, "peers": ["onnxruntime", "openvino", "litert"]}
    for case in results["cases"]:
        case["precision"] = "int8"
        for run in case["runs"]:
            run["engines"] = {name: run["engines"][name] for name in ("attune", *results["settings"]["peers"])}
            run["profile"] |= {"peak": PEAK, "kernels": [
                kernel(0.6, op="conv_integer+relu", flops=3e8, integer=True),
                kernel(0.3, op="pad+conv", flops=1e8, integer=False),
                kernel(0.1, op="sigmoid+mul", flops=5e8, integer=False)]}
    return results


class Cases(unittest.TestCase):
    def named(self, name):
        return cases.case_named(name, "int8")

    def test_all_of_them(self):
        self.assertEqual([case.name for case in cases.select([], precision="int8")],
                         ["resnet50-int8", "resnet50v2-int8", "mobilenet_v2-int8", "tf_mobilenetv2-int8",
                          "ssd_mobilenet_v1-int8"])

    def test_the_precision_stands_last(self):
        case, = cases.select(["resnet50-192px"], batch=8, precision="int8")
        self.assertEqual(case.name, "resnet50-192px-b8-int8")
        self.assertEqual(cases.case_named(case.name), case)

    def test_a_precision_does_not_make_a_variant(self):
        self.assertTrue(self.named("resnet50").is_standard)
        self.assertFalse(self.named("resnet50-b8").is_standard)

    def test_what_there_is_no_model_of_is_refused(self):
        for name, options in (("resnet18", {"precision": "int8"}), ("ssd_mobilenet_v1", {}), ("resnet50-int8", {}),
                              ("ssd_mobilenet_v1", {"precision": "int8", "batch": 8})):
            with self.assertRaises(ValueError, msg=name):
                cases.select([name], **options)

    def test_a_batch_leaves_out_what_does_not_have_it(self):
        names = [case.name for case in cases.select([], batch=8, precision="int8")]
        self.assertEqual(len(names), 4)
        self.assertNotIn("ssd_mobilenet_v1-b8-int8", names)

    def test_engines_run_what_they_read(self):
        def runs(name):
            return [peer for peer in ("onnxruntime", "openvino", "litert", "mnn")
                    if cases.refusal(self.named(name), peer) is None]
        self.assertEqual(runs("resnet50"), ["onnxruntime", "openvino"])
        self.assertEqual(runs("tf_mobilenetv2"), ["openvino", "litert"])
        self.assertEqual(runs("ssd_mobilenet_v1"), ["litert"])
        self.assertEqual(cases.refusal(self.named("resnet50"), "litert")[0], "NS")
        self.assertIsNone(cases.refusal(self.named("resnet50"), "attune"))

    def test_inputs_have_the_types_of_the_models(self):
        for name, shape, dtype in (("resnet50", (1, 3, 224, 224), "float32"),
                                   ("resnet50v2", (1, 224, 224, 3), "float32"),
                                   ("ssd_mobilenet_v1", (1, 300, 300, 3), "uint8")):
            array = measure.random_input(self.named(name))
            self.assertEqual((array.shape, array.dtype), (shape, dtype))
            self.assertGreater(array.std(), 0)


class Models(unittest.TestCase):
    def test_torchvision_is_quantized_from_its_floats(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "resnet50.onnx").touch()
            command = files.command_for(cases.case_named("resnet50-int8"), "onnx", folder / "x.onnx", folder)
            self.assertEqual(command[2:], ["common.models.quantize_onnx", "resnet50-int8", folder / "resnet50.onnx",
                                           folder / "x.onnx"])

    def test_a_trained_model_is_there_or_not(self):
        case = cases.case_named("ssd_mobilenet_v1-int8")
        with tempfile.TemporaryDirectory() as name:
            trained, files.TRAINED = files.TRAINED, pathlib.Path(name)
            try:
                self.assertRegex(files.lacking(case), r"coco_ssd_mobilenet_v1.*\.tflite$")
                with self.assertRaisesRegex(Failed, "^there is no "):
                    files.ensure(case, "tflite")
                path = files.model_file(case, "tflite")
                path.parent.mkdir()
                path.touch()
                self.assertIsNone(files.lacking(case))
                self.assertEqual(files.ensure(case, "tflite"), path)
            finally:
                files.TRAINED = trained
        self.assertIsNone(files.lacking(cases.case_named("resnet50-int8")))


class Differences(unittest.TestCase):
    SCALE = 1 / 256

    def outputs(self, *integers):
        return [numpy.array(values, dtype=numpy.float32) * numpy.float32(self.SCALE) for values in integers]

    def test_the_step_is_the_scale(self):
        self.assertAlmostEqual(measure.step_of(*self.outputs([0, 255, 7], [0, 255, 8])), self.SCALE, delta=1e-4)
        self.assertEqual(measure.step_of(*self.outputs([0, 0], [0, 0])), 0)

    def test_last_digits_are_no_step(self):
        one, other = self.outputs([0, 2, 4], [0, 2, 4])
        self.assertAlmostEqual(measure.step_of(one, other * numpy.float32(1 + 1e-6)), 2 * self.SCALE, delta=1e-4)

    def test_steps_of_outputs_that_are_nearly_zero_are_allowed(self):
        values, others = numpy.zeros(1000), numpy.zeros(1000)
        values[:3], others[2:8] = 1, 1
        actual, expected = self.outputs(values, others)
        self.assertGreater(measure.relative_difference(actual, expected), measure.TOLERANCE["int8"])
        step = measure.step_of(actual, expected)
        self.assertLess(measure.relative_difference(actual, expected, step), measure.TOLERANCE["int8"])

    def test_another_network_is_found_out(self):
        random = numpy.random.default_rng(0)
        actual, expected = self.outputs(*random.integers(-128, 128, (2, 1000)))
        step = measure.step_of(actual, expected)
        self.assertGreater(measure.relative_difference(actual, expected, step), measure.TOLERANCE["int8"])

    def test_zeros_are_equal(self):
        self.assertEqual(measure.relative_difference(numpy.zeros(4), numpy.zeros(4)), 0)
        self.assertEqual(measure.relative_difference(numpy.zeros(4), numpy.zeros(5)), math.inf)


class Reports(unittest.TestCase):
    def setUp(self):
        self.results = int8_sample()
        self.cases, _ = ask.standard_and_variants(self.results)

    def test_the_share_is_of_multiply_adds(self):
        self.assertEqual(ask.integer_share(self.cases[0]["runs"][0]), 0.75)
        self.assertIsNone(ask.integer_share({"threads": 1, "engines": {}}))

    def test_rows_end_with_the_share(self):
        rows = report.latency_rows(self.results, self.cases, 1)
        self.assertEqual({len(row) for row in rows}, {len(rows[0])})
        self.assertEqual(rows[1][-3:], ["ONNX Runtime", "2.00", "75.0 %"])
        self.assertEqual(rows[-1][-2:], ["1.00", ""])

    def test_the_page_is_one_of_its_own(self):
        names = [pages.name_of(results).removeprefix(pages.kind_of(results["machine"]))
                 for results in (sample(), self.results)]
        self.assertEqual(names, ["", "-int8"])
        text = page.page(self.results, report.figures(self.results), "avx2-int8")
        for expected in ("# Performance in 8-bit integers", "`./do bench --int8 --write-docs`",
                         "](avx2-int8/speed.svg)", "(480 of integers)", "| multiply-adds in integers |"):
            self.assertIn(expected, text)
        self.assertNotIn("integers", page.page(sample(), {}, "avx2"))

    def test_the_roof_is_that_of_integers_where_there_are_any(self):
        profile = self.cases[0]["runs"][1]["profile"]
        self.assertEqual(plots.roof(profile), 960)
        self.assertEqual(plots.roof({**profile, "kernels": profile["kernels"][1:]}), 240)


class CommandLine(unittest.TestCase):
    def test_the_help_names_the_networks(self):
        text = " ".join(run_module("bench", "--help").stdout.split())
        self.assertIn("resnet50, resnet50v2, mobilenet_v2, tf_mobilenetv2, ssd_mobilenet_v1", text)
        self.assertIn("with --int8 onnxruntime,openvino,litert", text)

    def test_results_are_reported_again_as_what_they_are(self):
        with tempfile.TemporaryDirectory() as folder:
            result = report_again(int8_sample(), folder)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("75.0 %", result.stdout)
            self.assertEqual(result.stderr, "")


if __name__ == "__main__":
    unittest.main()
