#!/usr/bin/env python3
"""Tests of what tools/bench writes: its results, its reports, its charts and its command line."""
import pathlib
import tempfile
import unittest

from bench import page, pages, plots, report
from bench import results as ask
from bench.__main__ import command_of
from sample import ran, report_again, sample
from tool_tests import check_figure, run_module


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

    def test_table_file_gives_reasons(self):
        self.assertIn("- missing, MNN: MNN is not installed", report.table_file(sample()))

    def test_page(self):
        results = sample()
        charts = report.figures(results)
        text = page.page(results, charts, "avx2")
        self.assertEqual(set(charts), {"speed.svg", "speed-variants.svg", "latency-1.svg", "latency-2.svg",
                                       "roofline-1.svg", "roofline-2.svg"})
        for name in charts:
            self.assertIn(f"](avx2/{name})", text)
        for expected in ("./do bench --write-docs", "./do bench one", "commit 0123456789ab, with changes", "one-b8"):
            self.assertIn(expected, text)

    def test_the_summary_keeps_the_pages_of_other_machines(self):
        with tempfile.TemporaryDirectory() as folder:
            docs, results = pathlib.Path(folder), sample()
            for instructions, mean in ((["avx2", "avx512f", "amx_tile"], 1.5), (["avx2"], 1.25), (["avx2"], 1.75)):
                results["machine"]["instructions"] = instructions
                pages.write_summary(docs, docs / "pages.json", pages.name_of(results), pages.entry(results, [(1, mean), (2, None)]))
            text = (docs / "performance.md").read_text()
        self.assertIn("| amx | [networks of floats](performance/amx.md), 3 | 1.50 |  | 2020-01-02 |", text)
        self.assertIn("| avx2 | [networks of floats](performance/avx2.md), 3 | 1.75 |", text)
        self.assertNotIn("1.25", text)

    def test_page_of_attune_alone(self):
        results = sample()
        results["settings"]["peers"] = []
        for case in results["cases"]:
            for run in case["runs"]:
                run["engines"] = {"attune": run["engines"]["attune"]}
        self.assertEqual(set(report.figures(results)), {"roofline-1.svg", "roofline-2.svg"})
        self.assertIn("| one | **2.00** |", page.page(results, {}, "avx2"))


class Figures(unittest.TestCase):
    def test_figures_are_xml_within_their_frame(self):
        for name, drawing in report.figures(sample()).items():
            check_figure(self, name, drawing)

    def test_power_above(self):
        self.assertEqual([plots.power_above([value]) for value in (9, 10, 120)], [10, 100, 1000])


class CommandLine(unittest.TestCase):
    def test_the_recorded_command_leaves_out_where_results_went(self):
        self.assertEqual(command_of(["--output", "/x", "vgg16", "--rounds", "3"]), "./do bench vgg16 --rounds 3")
        self.assertEqual(command_of(["--output=/x"]), "./do bench")

    def test_bad_usage_is_one_sentence(self):
        for text in ("resnet51", "vgg16 --scale 192", "--threads 0", "--only tvm", "--scale 128", "--rounds x",
                     "--seconds -1", "--from /none", "--against-program /none", "--against HEAD --rounds 3",
                     "--against HEAD --write-docs", "--int8 --bf16", "--int8 --variants", "--int8 resnet18",
                     "resnet50-int8", "--frobnicate"):
            arguments = text.split()
            result = run_module("bench", *arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertRegex(result.stderr, r"\Abench: .+\n\Z", arguments)

    def test_old_results_are_reported_again(self):
        with tempfile.TemporaryDirectory() as folder:
            result = report_again(sample(), folder)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertIn("missing: mnn on one", result.stderr)
            self.assertIn("ONNX Runtime", result.stdout)
            self.assertTrue((pathlib.Path(folder) / "table.md").exists())

    def test_another_program_measures_nothing_anew(self):
        with tempfile.TemporaryDirectory() as folder:
            result = report_again(sample(), folder, "vgg16")
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("which is not this one", result.stderr)


if __name__ == "__main__":
    unittest.main()
