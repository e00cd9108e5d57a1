"""The scripts of tools/ that measure and compare run, with sizes whose figures mean nothing.

smoke_test.py MODEL MOCKS    MODEL is small; the program MOCKS plays devices
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from common.program import PROGRAM

MODEL, MOCKS = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
CPU = ("--cpu", "x86-64-v3")


class SmokeTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_python(self, *arguments):
        """Returns what Python prints."""
        done = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, check=False,
                              cwd=self.folder, env={**os.environ, "HOME": str(self.folder)})
        self.assertEqual(done.returncode, 0, f"{arguments}: {done.stdout}\n{done.stderr}")
        return done.stdout

    def run_changed(self, module, change, *arguments, call="script.main()"):
        """Returns what a script prints once `change`, in Python, has given its constants other values."""
        package, name = module.split(".")
        code = f"import pathlib, sys\nfrom {package} import {name} as script\n{change}\nsys.exit({call})"
        return self.run_python("-c", code, *arguments)

    def run_lists(self, module, *arguments):
        """Returns what `list` prints. `compare` finds no difference from itself."""
        listed = self.folder / "list"
        listed.write_text(self.run_python("-m", module, "list", *arguments))
        self.assertRegex(self.run_python("-m", module, "compare", listed, listed), r"^0 of \d+ \w+ differ")
        return listed.read_text()

    def test_kernel_digests(self):
        self.assertRegex(self.run_lists("compiler.kernel_digests", *CPU, MODEL), r"convolutions.onnx \S+ [0-9a-f]{64}\n")

    def test_artifact_digests(self):
        for name in ("small.onnx", "small_int8.onnx"):
            shutil.copy(MODEL, self.folder / name)
        listed = self.run_lists("compiler.artifact_digests", "--models", self.folder, *CPU, "small")
        self.assertRegex(listed, r"^small fp32 x86-64-v3 [0-9a-f]{64}\nsmall int8 x86-64-v3 [0-9a-f]{64}\n$")

    def test_loop_throughput(self):
        self.assertRegex(self.run_python("-m", "compiler.loop_throughput", *CPU, MODEL), r"%  conv\w+ \.LBB")

    def test_replay_tuning(self):
        said = self.run_python("-m", "figures.replay_tuning", "--before", PROGRAM, "--trials", 2, MODEL)
        self.assertIn("candidates, the same; trials a second", said)

    def test_split_jobs(self):
        said = self.run_python("-m", "figures.split_jobs", "--scale", 0.002, "--mocks", MOCKS)
        self.assertRegex(said, r"^undivided .* s, in 2 parts .* s:")

    def test_service_load(self):
        said = self.run_changed("figures.service_load", "script.SETTLE_S = script.WATCH_S = 0.1", "--streams", 3, "--no-limits")
        self.assertIn("memory with 3 idle streams: ", said)

    def test_known_answers(self):
        said = self.run_python("-m", "figures.known_answers", MODEL, MOCKS, "--rate", 20, "--seconds", 1)
        self.assertIn("20 answers, 0 not at once", said)

    def test_tenant_overload(self):
        change = f"""
script.MOCKS = pathlib.Path({str(MOCKS)!r})
script.BEGIN_S = script.KNOWN_S = 0.5
script.P99_MS, script.POINTS = float("inf"), 1
"""
        said = self.run_changed("figures.tenant_overload", change, "--seconds", 1, "--rate", 10, "--jobs", 2, "--times", 2)
        self.assertIn('"quiet, share of the device": ', said)

    def test_fleet_figures(self):
        change = f"script.ITEM_S, script.model_file = 0.01, lambda *_: pathlib.Path({str(MODEL)!r})"
        for figure, said in (("devices", "measuring 2 trials takes"), ("load", "1 agents for 0 minutes")):
            self.assertIn(said, self.run_changed("figures.fleet_figures", change, figure, "--mocks", MOCKS, "--trials", 2,
                                                 "--agents", 1, "--minutes", 0))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
