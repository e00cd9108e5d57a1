"""From a network and a version to an artifact, as a person would do it: attune quantize if the version has integers,
then attune compile.

A model with another batch is quantized anew, with the same pictures, since the output of attune quantize has the batch
of its input. So the mixed version may have other layers in integers for another batch, because measurements choose
them.
"""
import collections

from common.models import files, zoo
from common.program import NOT_SUPPORTED, ROOT, Failed, attune_json
from study import samples

FOLDER = ROOT / "build/study"


def float_model(network, batch):
    """The network's file. Raises Failed, with NOT_SUPPORTED first if there is no such network."""
    if not network.is_zoo:
        return files.ensure(network.case(batch), "onnx")
    if batch > 1:
        raise Failed(f"{NOT_SUPPORTED}this network of the zoo takes one picture at a time")
    return zoo.zoo_model(network.name)


def quantized_model(network, version, batch):
    """The file that attune quantize writes."""
    return FOLDER / "models" / f"{network.name}-{version.name}-b{batch}.onnx"


def artifact(network, version, batch):
    return FOLDER / "artifacts" / f"{network.name}-{version.name}-b{batch}.atn"


def is_there(network, version, batch):
    """Whether all files exist that make() writes."""
    return artifact(network, version, batch).exists() and (
        not version.quantize or quantized_model(network, version, batch).exists())


def make(network, version, batch):
    """Writes the artifact. Returns its entry in the results, see results.py. Raises Failed."""
    path, model = artifact(network, version, batch), float_model(network, batch)
    path.parent.mkdir(parents=True, exist_ok=True)
    entry = {"status": "made"}
    if version.quantize:
        target = quantized_model(network, version, batch)
        target.parent.mkdir(parents=True, exist_ok=True)
        data = samples.folder(network, batch)
        report = attune_json("quantize", model, "--data", data, *version.quantize, "-o", target)
        entry |= {"layers": by_precision(report["layers"]), "quantize": quantization(report)}
        model = target
    sample = ["--input", samples.example(network, batch)] if version.by_sample else []
    report = attune_json("compile", model, *version.compile, *sample, "-o", path)
    if "bf16" in report:
        entry["layers"] = by_precision(report["bf16"]["layers"])
    return entry | {"bytes": path.stat().st_size, "kernels": report["kernels"]}


def by_precision(layers):
    """{precision: number of layers}"""
    return dict(collections.Counter(layer["precision"] for layer in layers))


def quantization(report):
    """The facts kept from the report of attune quantize: bytes of weights, and agreement on the samples that it held
    back."""
    return {name: report[name] for name in ("agreement", "cosine", "calibration_samples", "held_back_samples",
                                            "float_bytes", "bytes")}
