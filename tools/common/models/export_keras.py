"""python -m common.models.export_keras CASE onnx|tflite FILE    writes a network of keras"""
import os
import pathlib
import subprocess
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy  # noqa: E402
import tensorflow  # noqa: E402

from common.models.cases import case_named  # noqa: E402

OPSET = 17
SAMPLES = 4  # of noise, which give the ranges of integers


def build(case):
    """The network in keras, with the same weights in each call."""
    tensorflow.keras.utils.set_random_seed(0)
    options = {"alpha": case.width} if case.width != 1 else {}
    constructor = getattr(tensorflow.keras.applications, case.network.constructor)
    return shake(constructor(weights=None, input_shape=case.shape[1:], **options))


def shake(model):
    """Normalizes by the statistics of noise: with those of a fresh network, every output would be the same."""
    for layer in model.layers:
        if isinstance(layer, tensorflow.keras.layers.BatchNormalization):
            layer.momentum = 0.0
    model(tensorflow.random.normal((4, *model.input_shape[1:])), training=True)
    return model


def save(case, folder):
    """Writes the network as a SavedModel, from which the other formats are made."""
    signature = [tensorflow.TensorSpec(case.shape, tensorflow.float32)]
    build(case).export(folder, input_signature=signature, verbose=False)


def write_onnx(saved, path):
    subprocess.run([sys.executable, "-m", "tf2onnx.convert", "--saved-model", saved, "--opset", str(OPSET),
                    "--output", str(path)], check=True)


def write_tflite(saved, path):
    path.write_bytes(tensorflow.lite.TFLiteConverter.from_saved_model(saved).convert())


def write_int8_tflite(saved, path, shape):
    """Writes the network in 8-bit integers, except for the input and the output."""
    converter = tensorflow.lite.TFLiteConverter.from_saved_model(saved)
    converter.optimizations = [tensorflow.lite.Optimize.DEFAULT]
    random = numpy.random.default_rng(0)
    converter.representative_dataset = lambda: (
        [random.standard_normal(shape, dtype=numpy.float32)] for _ in range(SAMPLES))
    path.write_bytes(converter.convert())


def main():
    name, form, path = sys.argv[1:]
    case, path = case_named(name), pathlib.Path(path)
    with tempfile.TemporaryDirectory() as saved:
        save(case, saved)
        if form == "onnx":
            write_onnx(saved, path)
        elif case.precision == "int8":
            write_int8_tflite(saved, path, case.shape)
        else:
            write_tflite(saved, path)


if __name__ == "__main__":
    main()
