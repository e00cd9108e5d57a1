"""The model files of a case, made once and kept in build/bench/models. Trained models, if they are available, lie
beside the repository."""
import os
import pathlib
import sys
import tempfile
from dataclasses import replace

from common.program import ROOT, Failed, run_tool

FOLDER = ROOT / "build/bench/models"
TRAINED = pathlib.Path(os.environ.get("ATTUNE_MODELS", ROOT.parent / "shared/models"))
KERAS_PYTHON = ROOT / "build/bench/keras/bin/python"

# ncnn has a second file next to this one, which ends in .bin.
SUFFIXES = {"onnx": ".onnx", "tflite": ".tflite", "ncnn": ".ncnn.param", "mnn": ".mnn"}


def is_trained(case):
    """Whether the model is a trained file, which nothing can make again."""
    return case.network.framework == "tensorflow"


def model_file(case, form, folder=FOLDER):
    if is_trained(case):
        return TRAINED / form / (case.network.constructor + SUFFIXES[form])
    return folder / (case.name + SUFFIXES[form])


def lacking(case):
    """The file, relative to the repository's root, that is missing and without which the case cannot be measured; or
    None."""
    path = model_file(case, case.formats[0])
    return os.path.relpath(path, ROOT) if is_trained(case) and not path.exists() else None


def ensure(case, form, folder=FOLDER):
    """The case's model file of this format, made if it is missing. Raises Failed."""
    path = model_file(case, form, folder)
    if path.exists():
        return path
    if is_trained(case):
        raise Failed(f"there is no {os.path.relpath(path, ROOT)}")
    folder.mkdir(parents=True, exist_ok=True)
    print(f"making {path.name}", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        target = pathlib.Path(scratch) / path.name
        run_tool(*command_for(case, form, target, folder))
        if not target.exists():
            raise Failed(f"no {path.name} came out")
        # The named file comes last: if it exists, all do.
        if form == "ncnn":
            os.replace(target.with_suffix(".bin"), path.with_suffix(".bin"))
        os.replace(target, path)
    return path


def command_for(case, form, target, folder):
    """The command line that writes `target`."""
    if form == "mnn":
        # Keras has two formats; MNN's network is faster when it is made from this one.
        source = "tflite" if "tflite" in case.formats else "onnx"
        return [sys.executable, "-m", "common.models.convert_mnn", ensure(case, source, folder), target]
    if case.network.framework == "keras":
        return [KERAS_PYTHON, "-m", "common.models.export_keras", case.name, form, target]
    if case.precision == "int8":
        source = ensure(replace(case, precision="fp32"), "onnx", folder)
        return [sys.executable, "-m", "common.models.quantize_onnx", case.name, source, target]
    return [sys.executable, "-m", "common.models.export_torch", case.name, form, target]
