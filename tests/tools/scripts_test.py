"""Scripts of tools/ that need much to do their work, on something little."""
import contextlib
import io
import json
import pathlib
import subprocess
import tempfile
import unittest
from unittest import mock

from common.program import ROOT
from compiler import artifact_digests, onnxruntime_scripts
from generators import stage_prior

# Stand for the packages, and say which one they are.
PACKAGES = {"onnxruntime.py": "KIND = 'true'\n", "attune/__init__.py": "", "attune/onnxruntime.py": "KIND = 'attune'\n"}


class ScriptsTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def check_script(self, text):
        """Returns what a script reports in a checkout."""
        for name, content in PACKAGES.items():
            self.write(f"made/up/{name}", content)
        self.write("made/up/run.py", text)
        return onnxruntime_scripts.check(onnxruntime_scripts.Script("made/up", "run.py", folder="."), self.folder, None)

    def test_public_scripts_run_with_attune(self):
        self.assertEqual(self.check_script("import onnxruntime as rt\nrt.KIND\n"), ("passed", 1, ""))
        state, imports, error = self.check_script("from onnxruntime import KIND\nassert KIND == 'true', KIND\n")
        self.assertEqual((state, imports, error), ("failed", 1, "AssertionError: attune"))
        state, _, error = self.check_script("import onnxruntime\nassert onnxruntime.KIND == 'attune'\n")
        self.assertEqual((state, error), ("not as it is", "AssertionError"))

    def test_public_scripts_may_be_missing(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said), mock.patch("sys.argv", ["x", str(self.folder), "--only", "plot_gpr"]):
            self.assertEqual(onnxruntime_scripts.main(), 0)
        self.assertRegex(said.getvalue(), r"^not there +0 onnx/sklearn-onnx .*\n0 of 0 pass\n$")

    def test_the_prior_of_stages_has_quantiles(self):
        stage = {"job": "a", "name": "build", "outcome": "done", "own_prediction": [0, 0, 0], "start": 1}
        schedule = {"jobs": [{"id": "a", "kind": "tuning", "state": "done", "seconds": 60},
                             {"id": "b", "kind": "tuning", "state": "failed", "seconds": 1}],
                    "stages": [*({**stage, "end": 1 + seconds} for seconds in (2, 4, 30)),
                               {**stage, "name": "time", "end": 9, "own_prediction": [1, 2, 3]},
                               {**stage, "end": 99, "outcome": "lost"}]}
        path, said = self.write("schedule.json", json.dumps(schedule)), io.StringIO()
        with contextlib.redirect_stdout(said), mock.patch("sys.argv", ["x", str(path)]):
            stage_prior.main()
        self.assertEqual(said.getvalue().splitlines(), ['    {"tuning", "", {30, 60, 120}},',
                                                        '    {"tuning", "build", {2, 4, 30}},'])

    def test_samples_have_the_sizes_of_the_inputs(self):
        inputs = [("x", "f32", 12), ("ids", "i64", 3)]
        with mock.patch.object(artifact_digests, "zoo_inputs", lambda _: inputs):
            artifact_digests.write_samples("net", self.folder)
        sizes = {str(path.relative_to(self.folder)): path.stat().st_size for path in self.folder.rglob("*.raw")}
        self.assertEqual(sizes, {f"{sample}/{name}.raw": bytes for sample in range(artifact_digests.SAMPLES)
                                 for name, bytes in (("x", 48), ("ids", 24))})

    def test_the_checks_of_python_say_how_they_are_called(self):
        done = subprocess.run([ROOT / "tools/lint/check_python.sh"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("check_python.sh asan ", done.stderr)


if __name__ == "__main__":
    unittest.main()
