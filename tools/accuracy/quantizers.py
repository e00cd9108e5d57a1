"""The tools that are compared: each makes a quantized form of a network and opens it.

Attune and ONNX Runtime quantize the float network, with the same samples; both have one scale for each output channel
of the weights, and u8 activations. With its default settings, Attune chooses ranges by the least squared error and
corrects biases; ONNX Runtime is used as its documentation advises for x86 with VNNI, after its own preprocessing of the
model. LiteRT's quantized networks come from their publishers.
"""
import pathlib
import tempfile
from dataclasses import dataclass
from functools import cached_property
from typing import Callable

import numpy

from accuracy import engines, models
from common.agreement import metrics
from common.agreement.photos import CALIBRATION, JUDGING
from common.program import Failed, attune, attune_json

FLOAT = "f32"

# How far a converted float network may be from Attune's, by its relative error. It is wide: it only has to catch
# another network or another layout, not different rounding.
TOLERANCE = 0.01
CHECKED = 5  # samples on which this is checked


class NotSupported(Exception):
    """There is no such quantized network; the message is why."""


@dataclass(frozen=True)
class Job:
    """A network to quantize. `folder` is for intermediate files."""
    network: object  # networks.Network
    calibration: int  # how many samples
    judging: int
    threads: int
    folder: pathlib.Path

    @cached_property
    def model(self):
        """The float network's file. Raises Failed."""
        return self.network.model()

    @cached_property
    def reference(self):
        """The float network, compiled by Attune: a function from an input to outputs. Raises Failed."""
        return self.compile(self.model, "float")

    def compile(self, model, name):
        artifact = self.folder / f"{name}.atn"
        attune("compile", model, "-o", artifact, "--threads", self.threads)
        return engines.open_attune(artifact, self.threads)

    def calibration_samples(self):
        return self.network.samples(CALIBRATION, self.calibration)

    def judging_samples(self):
        return self.network.samples(JUDGING, self.judging)


def by_attune(precision):
    """The tool `attune quantize` with this --precision."""
    def quantize(job):
        target = job.folder / "quantized.onnx"
        with tempfile.TemporaryDirectory(dir=job.folder) as data:
            for index, sample in enumerate(job.calibration_samples()):
                numpy.save(pathlib.Path(data) / f"{index:05}.npy", sample)
            metric = job.network.metric()
            drop = ["--max-drop", metric.max_drop, "--agreement", metric.agreement] if precision == "auto" else []
            report = attune_json("quantize", job.model, "--data", data, "--samples", job.calibration, "--precision",
                                 precision, *drop, "--threads", job.threads, "-o", target)
        return job.compile(target, "quantized"), facts(report)
    return quantize


def facts(report):
    """The facts kept from the report of `attune quantize`: shares of the layers' multiply-adds by precision, and the
    layers that are not in integers."""
    total = sum(layer["multiply_adds"] for layer in report["layers"]) or 1
    floats = [{"layer": layer["layer"], "precision": layer["precision"], "share": layer["multiply_adds"] / total,
               "reason": layer.get("reason", "")} for layer in report["layers"] if layer["precision"] != "int8"]
    return {"shares": report["shares_of_multiply_adds"], "layers": len(report["layers"]), "floats": floats,
            "bytes": report["bytes"], "float_bytes": report["float_bytes"],
            "own_agreement": report["agreement"], "own_samples": report["held_back_samples"]}


def by_onnxruntime(job):
    from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static
    from onnxruntime.quantization.shape_inference import quant_pre_process

    model = models.for_onnxruntime(job.model)
    check_same(job, engines.open_onnxruntime(model, job.threads), model.name)
    prepared, target = job.folder / "prepared.onnx", job.folder / "quantized.onnx"
    # All shapes are fixed, so that inference of symbolic shapes has nothing to do.
    quant_pre_process(model, prepared, skip_symbolic_shape=True)
    quantize_static(prepared, target, reader_of(prepared, job.calibration_samples()), quant_format=QuantFormat.QDQ,
                    per_channel=True, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
                    calibrate_method=CalibrationMethod.MinMax)
    return engines.open_onnxruntime(target, job.threads), {}


def reader_of(model, samples):
    """A reader that gives ONNX Runtime the samples."""
    import onnx
    from onnxruntime.quantization import CalibrationDataReader

    name = onnx.load(model).graph.input[0].name

    class Reader(CalibrationDataReader):
        def get_next(self):
            sample = next(samples, None)
            return None if sample is None else {name: sample}

    return Reader()


def check_same(job, converted, name):
    """Raises Failed if a converted float network computes something else than the original."""
    for sample in job.network.samples(JUDGING, CHECKED):
        error = metrics.relative_error(job.reference(sample), converted(sample))
        if not error <= TOLERANCE:
            raise Failed(f"{name} computes something else: its output differs from Attune's by {error:.2g} of the root "
                         "mean square")


def by_litert(job):
    if not job.network.litert:
        raise NotSupported(job.network.litert_note)
    return engines.open_litert(models.trained(job.network.litert), job.threads), {}


@dataclass(frozen=True)
class Tool:
    name: str  # on the command line and in results
    title: str  # for people
    quantize: Callable  # from a Job to (a runner of the quantized network, facts); raises NotSupported and Failed


TOOLS = {tool.name: tool for tool in (
    Tool("attune-int8", "Attune, int8", by_attune("int8")),
    Tool("attune-auto", "Attune, auto", by_attune("auto")),
    Tool("onnxruntime", "ONNX Runtime", by_onnxruntime),
    Tool("litert", "LiteRT", by_litert),
)}
