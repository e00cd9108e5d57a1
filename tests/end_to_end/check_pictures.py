#!/usr/bin/env python3
"""Trained networks get the numbers that they were trained with, or a note says what to do."""
import pathlib
import tempfile

from checks import MODELS, end_to_end, need
from common.program import attune, attune_with_warnings
from onnx_writer import data

CAT = "Egyptian cat"
NOTE = "as numbers of 0 to 255"

# The model; the flags that a person gives when it is compiled; whether it needs them, as the note says without.
CLASSIFIERS = (
    ("tflite/mobilenet_v1_0.25_224_1_default_1.tflite", ("--preprocess", "tf"), True),
    ("onnx/SqueezeNet_fp16.onnx", ("--preprocess", "caffe"), True),
    ("tflite/mobilenet_v2_1.0_224_quant.tflite", (), False),
    ("tflite/tf2_mobilenet_v2_1.0_224_ptq.tflite", (), False),
)
# The model, and whether its file says what to do with pictures.
DIGITS = (("onnx/mnist_winml.onnx", True), ("onnx/mnist-8.onnx", False))


# The model, what is known about its pictures, and the flags to import it: from the metadata of TensorFlow Lite, and from a
# graph that subtracts the mean of samples.
SAYS = (
    ("tflite/mobilenet_v2_1.0_224_quant.tflite", 'mean=127.5 std=127.5 order=rgb resize=stretch of "input"', ()),
    ("onnx/candy.onnx", 'mean=0 std=1 order=rgb resize=stretch of "inputImage"', ("--shape", "inputImage=1x3x720x720")),
)
LABELS = ("--labels", MODELS / "labels/imagenet_labels.txt", "--top", "1")


def run(model, *flags):
    """Returns what `attune run` prints of the cat, and what it says on stderr."""
    seen, lines = attune_with_warnings("run", model, "--input", need(MODELS / "images/cat.bmp"), *flags)
    return seen, "\n".join(lines)


def classify(folder):
    for name, flags, needs_flags in CLASSIFIERS:
        model, artifact = need(MODELS / name), folder / "model.atn"
        _, said = run(model)
        assert (NOTE in said) == needs_flags, f"{name}: without flags: {said or 'no note'}"
        attune("compile", model, "-o", artifact, *flags)
        seen, said = run(artifact, *LABELS)
        print(f"{name} {' '.join(flags)}: {seen.splitlines()[1].strip()}")
        assert CAT in seen and NOTE not in said, f"{name}: {seen}{said}"


def classify_by_metadata(folder):
    """A model in ONNX whose metadata say it needs no flag, and its artifact neither."""
    entry = data(14, data(1, "attune.picture.data_0") + data(2, "order=bgr"))
    model, artifact = folder / "model.onnx", folder / "model.atn"
    model.write_bytes(need(MODELS / "onnx/SqueezeNet_fp16.onnx").read_bytes() + entry)
    attune("compile", model, "-o", artifact)
    for path in (model, artifact):
        seen, said = run(path, *LABELS)
        assert CAT in seen and NOTE not in said, f"{path.name} with metadata: {seen}{said}"


def comments(name, *flags):
    """The lines before the graph of a model."""
    return [line for line in attune("inspect", need(MODELS / name), *flags).splitlines() if line.startswith("// picture")]


def check():
    with tempfile.TemporaryDirectory() as folder:
        classify(pathlib.Path(folder))
        classify_by_metadata(pathlib.Path(folder))
    for name, says_it in DIGITS:
        _, said = run(need(MODELS / name))
        assert (NOTE not in said) == says_it, f"{name}: {said or 'no note'}"
    for name, expected, flags in SAYS:
        lines = comments(name, *flags)
        assert lines == [f"// picture {expected}"], f"{name}: {lines}"


end_to_end(check)
