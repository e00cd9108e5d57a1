"""The notebooks of docs/examples/notebooks/, run as a user runs them, but with less to measure."""
import json
import os
import pathlib
import re
import tempfile
import unittest

import nbclient
import nbformat

from environment import ROOT, make_environment

NOTEBOOKS = ROOT / "docs" / "examples" / "notebooks"

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
        kernel = folder / "jupyter" / "kernels" / "attune"
        kernel.mkdir(parents=True)
        (kernel / "kernel.json").write_text(json.dumps({
            "argv": [str(make_environment(folder / "environment")), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            "display_name": "attune", "language": "python"}))
        # The kernel and all that it starts keep their files in the folder, and find the program of the build.
        program = pathlib.Path(os.environ["ATTUNE"])
        os.environ.update({"JUPYTER_PATH": str(folder / "jupyter"), "HOME": cls.folder.name, "XDG_DATA_HOME": cls.folder.name,
                           "PATH": f"{program.parent}:{os.environ['PATH']}"})

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_notebook(self, name):
        parameters, plots = RUNS[name]
        notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
        for index, cell in enumerate(notebook.cells):
            if "parameters" in cell.metadata.get("tags", []):
                notebook.cells.insert(index + 1, nbformat.v4.new_code_cell(parameters))
                break
        # Takes as long as the machine needs; a notebook that hangs is ended from outside.
        nbclient.NotebookClient(notebook, kernel_name="attune", timeout=None, startup_timeout=3600, iopub_timeout=3600,
                                resources={"metadata": {"path": self.folder.name}}).execute()
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

    def test_all_are_tested_and_committed_without_outputs(self):
        self.assertEqual({path.stem for path in NOTEBOOKS.glob("*.ipynb")}, set(RUNS))
        for path in NOTEBOOKS.glob("*.ipynb"):
            for cell in json.loads(path.read_text())["cells"]:
                self.assertFalse(cell.get("outputs") or cell.get("execution_count"),
                                 f"{path.name}: has outputs; clear them before you commit it")


if __name__ == "__main__":
    unittest.main()
