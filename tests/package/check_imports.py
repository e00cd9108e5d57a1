#!/usr/bin/env python3
"""check_imports.py    the Python package gets along with libraries that bring much of the same

Imports the package and PyTorch, TensorFlow, ONNX Runtime and XGBoost, each pair in a process of its own and in both orders,
in which Attune tunes and runs a network after the other has computed something, and the other computes again. Libraries
that are not installed are left out: the set-up of the benchmarks has them in two environments.

    for environment in build/bench/python build/bench/keras; do
      $environment/bin/pip install --no-deps build/dist/attune_compiler-*.whl
      $environment/bin/python tests/package/check_imports.py
    done
"""
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "end_to_end"))

from onnx_writer import Model  # noqa: E402

# Python that computes with a library.
USES = {
    "torch": "torch.nn.Conv2d(3, 8, 3)(torch.randn(1, 3, 64, 64)).sum().backward()",
    "tensorflow": "tensorflow.nn.conv2d(tensorflow.ones((1, 64, 64, 3)), tensorflow.ones((3, 3, 3, 8)), 1, 'SAME').numpy()",
    "onnxruntime": "onnxruntime.InferenceSession(relu).run(None, {'v1': numpy.ones((2, 3), numpy.float32)})",
    "xgboost": "xgboost.train({}, xgboost.DMatrix(numpy.eye(50), numpy.arange(50)), 3)",
}
PROGRAM = """
import sys
import {first}
import {second}
import numpy

relu, records = sys.argv[1:]
{use}
network = attune.zoo("squeezenet1_1").tune(trials=4, batch=4, threads=2, records=records)
assert all(check["ok"] for check in network.verify())
network.run({{"input": network.random_input("input")}}, threads=2)
{use}
"""


def write_relu(path):
    """Writes an ONNX model with one operator."""
    model = Model()
    model.write(path, model.node("Relu", model.input(2, 3)))


def works(first, second, use):
    """Whether both libraries work in one process. Prints what they say if not."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        write_relu(folder / "relu.onnx")
        program = PROGRAM.format(first=first, second=second, use=use)
        done = subprocess.run([sys.executable, "-c", program, folder / "relu.onnx", folder / "records.db"],
                              capture_output=True, text=True, check=False)
    print(f"{first}, then {second}: {'works' if done.returncode == 0 else f'exit code {done.returncode}'}")
    if done.returncode != 0:
        print(done.stdout + done.stderr)
    return done.returncode == 0


def main():
    failures = 0
    for other, use in USES.items():
        if importlib.util.find_spec(other) is None:
            print(f"{other} is not installed")
            continue
        for pair in (("attune", other), (other, "attune")):
            failures += not works(*pair, use)
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
