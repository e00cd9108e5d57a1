"""The notebooks of docs/examples/notebooks/, run as a user runs them, but with less to measure, and as they are stored."""
import json
import pathlib
import re
import tempfile
import unittest

from environment import make_environment
from figures.notebooks import MOST_BYTES, NOTEBOOKS, Runner

# For each notebook, what stands after its cell of parameters, and how many plots it draws.
RUNS = {
    "quick_start": ("", 1),
    "quantization": ("num_samples = 2; calibrations = ['min-max']", 2),
    "tuning": ("limits = {'trials': 4}", 1),
    "sweep": ("bench_seconds = 0.05; threads = [1]", 1),
}


class NotebooksTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.folder.name)
        cls.runner = Runner(make_environment(folder / "environment"), folder)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_notebook(self, name):
        parameters, plots = RUNS[name]
        notebook = self.runner.run(name, parameters)
        outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
        self.assertEqual(sum("image/png" in output.get("data", {}) for output in outputs), plots)
        return "\n".join(output.get("text", "") + output.get("data", {}).get("text/plain", "") for output in outputs)

    def test_quick_start_finds_the_face(self):
        said = self.run_notebook("quick_start")
        self.assertIn("a face at [270. 242.], score 0.94", said)
        self.assertNotIn("WRONG", said)
        self.assertTrue(said.endswith("True"), said)

    def test_quantization_makes_it_smaller(self):
        row = re.compile(r"^(.+?) +\S+ ms +(\S+) of 64 pixels +(\S+) MB$", re.MULTILINE)
        rows = {name: (float(error), float(size)) for name, error, size in row.findall(self.run_notebook("quantization"))}
        self.assertEqual(list(rows), ["fp32", "weights in fp16", "int8, min-max"])
        self.assertEqual(rows["fp32"][0], 0)
        self.assertLess(rows["weights in fp16"][1], rows["fp32"][1])
        self.assertLess(rows["int8, min-max"][1], rows["fp32"][1])

    def test_tuning_keeps_the_results(self):
        said = self.run_notebook("tuning")
        self.assertRegex(said, r"\d+ trials in")
        self.assertIn("True", said)

    def test_a_sweep_runs_all_combinations(self):
        self.assertRegex(self.run_notebook("sweep"), r"4 runs; the fastest takes \d+\.\d+ ms: ")

    def test_all_are_tested_and_committed_with_outputs(self):
        self.assertEqual({path.stem for path in NOTEBOOKS.glob("*.ipynb")}, set(RUNS))
        for path in NOTEBOOKS.glob("*.ipynb"):
            text, (_, plots) = path.read_text(), RUNS[path.stem]
            self.assertLess(len(text), MOST_BYTES, path.name)
            self.assertNotRegex(text, r"(?<![\w.])/(?:home|root|tmp|work|var|mnt)/", f"{path.name}: names a folder of the machine")
            cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
            self.assertEqual([cell["execution_count"] for cell in cells], list(range(1, len(cells) + 1)),
                             f"{path.name}: is stored without outputs, or was not run as a whole: run figures.notebooks")
            outputs = [output for cell in cells for output in cell["outputs"]]
            self.assertEqual(sum("image/png" in output.get("data", {}) for output in outputs), plots, path.name)
            self.assertNotIn("error", {output["output_type"] for output in outputs}, path.name)


if __name__ == "__main__":
    unittest.main()
