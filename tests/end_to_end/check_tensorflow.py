#!/usr/bin/env python3
"""check_tensorflow.py [NAME ...]    TensorFlow networks give what TensorFlow gives

Compares the trained networks, frozen graphs and SavedModels, and then two of Keras, which are exported to SavedModel,
.tflite and .onnx: the results of the three must also agree. Prints a line for each network, or for those whose names
contain a NAME, and exits with 1 if one is wrong. TensorFlow comes with the set-up of the benchmarks:
build/bench/keras/bin/python tests/end_to_end/check_tensorflow.py
"""
import os
import pathlib
import tempfile

import numpy

from checks import MODELS, need
from comparing import Expected, compare
from peers import PeerFailed, Report, is_asked_for, isolated, noise, run_attune, speech

SECONDS = 600  # for what TensorFlow does with one network


def shades(*shape):
    """Random samples of a picture, from 0 to 1."""
    return numpy.random.default_rng(0).random(shape, dtype=numpy.float32)


# Keeps everything: no dropout.
KEEP_ALL = numpy.array(1, dtype=numpy.float32)

# The file or folder, and the inputs.
TRAINED = {
    "fc_layers": ("fc-layers_frozen.pb", lambda: {"X": noise(1, 784)}),
    "lstm": ("lstm_frozen.pb", lambda: {"X": noise(1, 784), "keep_prob": KEEP_ALL}),
    "gru": ("gru_frozen.pb", lambda: {"X": noise(1, 784), "keep_prob": KEEP_ALL}),
    "espcn_x2": ("ESPCN_x2.pb", lambda: {"IteratorGetNext": shades(1, 24, 32, 1)}),
    "espcn_x3": ("ESPCN_x3.pb", lambda: {"IteratorGetNext": shades(1, 24, 32, 1)}),
    "fsrcnn_x2": ("FSRCNN_x2.pb", lambda: {"IteratorGetNext": shades(1, 24, 32, 1)}),
    "basic_pitch": ("basic_pitch_savedmodel", lambda: {"input_2": speech(1, 43844, 1)}),
    "half_plus_two": ("half_plus_two", lambda: {"x": noise(3, 1)}),
}

# With the names that the benchmarks use.
KERAS = ("resnet50v2", "tf_mobilenetv2")

# The share of floats that may exceed the tolerance, by no more than ten times: rounding explains it in networks that
# amplify errors.
SHARES = {}


# ---- TensorFlow, each call in a process of its own

def import_tensorflow():
    """Imports it without the kernels of oneDNN, which round differently."""
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0")
    import tensorflow

    tensorflow.config.threading.set_intra_op_parallelism_threads(1)
    tensorflow.config.threading.set_inter_op_parallelism_threads(1)
    return tensorflow


def run_frozen(path, inputs):
    """The outputs of a frozen graph by name: the nodes that no other node uses."""
    tensorflow = import_tensorflow()
    definition = tensorflow.compat.v1.GraphDef.FromString(path.read_bytes())
    used = {source.lstrip("^").split(":")[0] for node in definition.node for source in node.input}
    names = [node.name for node in definition.node if node.name not in used]
    with tensorflow.Graph().as_default() as graph:
        tensorflow.import_graph_def(definition, name="")
        with tensorflow.compat.v1.Session(graph=graph) as session:
            values = session.run([f"{name}:0" for name in names],
                                 {f"{name}:0": value for name, value in inputs.items()})
    return dict(zip(names, values))


def run_saved_model(path, inputs):
    """The outputs of a SavedModel's default signature by name. `inputs`: by name, or the only one."""
    tensorflow = import_tensorflow()
    v1 = tensorflow.compat.v1  # loads graph and variables only; the Python objects may be of an older Keras
    with tensorflow.Graph().as_default(), v1.Session() as session:
        signature = v1.saved_model.load(session, ["serve"], str(path)).signature_def["serving_default"]
        if not isinstance(inputs, dict):
            inputs = {next(iter(signature.inputs)): inputs}
        outputs = {name: info.name for name, info in signature.outputs.items()}
        return session.run(outputs, {signature.inputs[name].name: value for name, value in inputs.items()})


def export(case, folder, image):
    """Writes a Keras network in the three formats, and returns its outputs by name."""
    import_tensorflow()
    from common.models import export_keras

    export_keras.save(case, str(folder / "saved"))
    export_keras.write_tflite(str(folder / "saved"), folder / "model.tflite")
    export_keras.write_onnx(str(folder / "saved"), folder / "model.onnx")
    return run_saved_model(folder / "saved", image)


# ---- Comparing

def compare_by_name(actual, outputs, loose=0.0):
    """Whether the outputs [(name, array)] agree with `outputs` by name, and the figures."""
    names = sorted(name for name, _ in actual)
    if names != sorted(outputs):
        return False, f"the outputs are {', '.join(names)} instead of {', '.join(sorted(outputs))}"
    lines, good = [], True
    for name, values in actual:
        wanted = numpy.asarray(outputs[name])
        same, text = compare(values, Expected(name, wanted, "float" if wanted.dtype.kind == "f" else "equal"), loose)
        lines.append(text if len(actual) == 1 else f"{name}: {text}")
        good = good and same
    return good, "; ".join(lines)


def check_trained(report, name):
    file, make_inputs = TRAINED[name]
    path = need(MODELS / "tf" / file)
    with report.model(name, path):
        inputs = make_inputs()
        outputs = isolated(run_saved_model if path.is_dir() else run_frozen, path, inputs, seconds=SECONDS)
        good, text = compare_by_name(run_attune(path, inputs), outputs, SHARES.get(name, 0))
        report.add("pass" if good else "wrong", name, text)


def check_keras(report, name):
    from common.models.cases import case_named

    case, loose = case_named(name), SHARES.get(name, 0)
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        image = noise(*case.shape)
        try:
            outputs = isolated(export, case, folder, image, seconds=SECONDS)
        except PeerFailed as error:
            report.add("wrong", name, f"cannot be exported: {error}")
            return
        (output, wanted), = outputs.items()
        first = None
        for file in ("saved", "model.tflite", "model.onnx"):
            line = f"{name} {'SavedModel' if file == 'saved' else file}"
            with report.model(line, folder / file):
                (_, values), = run_attune(folder / file, {"image": image})
                good, text = compare(values, Expected(output, wanted, "float"), loose)
                if first is None:
                    first = values
                else:
                    agrees, difference = compare(values, Expected(output, first, "float"), loose)
                    good, text = good and agrees, f"{text}; beside the first: {difference}"
                report.add("pass" if good else "wrong", line, text)


def main():
    report = Report("TensorFlow")
    for names, check in ((TRAINED, check_trained), (KERAS, check_keras)):
        for name in names:
            if is_asked_for(name):
                check(report, name)
    report.finish()


if __name__ == "__main__":
    main()
