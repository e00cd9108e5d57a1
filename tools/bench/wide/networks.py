"""A network of the wide set, as the lab uses it: one case, always with the same dimensions."""
import importlib
import sys
from dataclasses import dataclass, field

import numpy

from bench.wide.digest import digest
from common.program import ROOT, Failed, run_tool

FOLDER = ROOT / "build/bench/wide"
PEERS = ("onnxruntime", "openvino")  # those that read ONNX directly

# Weights in 8 bits, by ONNX Runtime's quantize_dynamic.
WEIGHT_TYPES = {"": "fp32", "u8": "int8", "s8": "int8"}


@dataclass(frozen=True)
class WideNetwork:
    """The function that makes a network, and how torch exports it.

    `maker` is FILE.FUNCTION of this folder. It is called with `arguments` and returns a torch module and the tuple of
    its inputs, which are drawn with torch's seeded generator.
    """
    name: str
    maker: str
    arguments: dict = field(default_factory=dict, hash=False)
    dynamo: bool = False  # which of torch's two exporters; the other one traces
    weights: str = ""  # u8 or s8 if they are quantized
    is_standard = True
    formats = ("onnx",)
    framework = "torch"
    sorts = False

    @property
    def network(self):
        """Itself: the lab distinguishes an architecture from its variants, but this has no variants."""
        return self

    @property
    def precision(self):
        return WEIGHT_TYPES[self.weights]

    @property
    def model(self):
        return FOLDER / f"{self.name}.onnx"

    @property
    def tensors(self):
        """The folder with inputs and outputs: input0.npy, output0.npy."""
        return FOLDER / self.name

    @property
    def shape(self):
        """The shapes of all inputs, once the network has been exported."""
        return [list(array.shape) for array in self.inputs()]

    def input_files(self):
        """{name of the input: path}, in the model's order."""
        return {path.stem: path for path in numbered(self.tensors, "input")}

    def inputs(self):
        """The arrays, in the model's order."""
        return [numpy.load(path) for path in self.input_files().values()]

    def expected(self):
        """Torch's outputs for the inputs, flat; None if quantization has changed the network."""
        return None if self.weights else [numpy.load(path).ravel() for path in numbered(self.tensors, "output")]


def numbered(folder, name):
    """The files name0.npy, name1.npy, ... in that order."""
    return sorted(folder.glob(f"{name}*.npy"), key=lambda path: int(path.stem.removeprefix(name)))


def ensure(network):
    """The network's model file; exported if it is missing or if its digest has changed. Raises Failed."""
    key, stamp = digest(network), network.model.with_suffix(".key")
    if network.model.exists() and stamp.exists() and stamp.read_text() == key:
        return network.model
    stamp.unlink(missing_ok=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    run_tool(*export_command(network))
    if not network.model.exists():
        raise Failed(f"no {network.model.name} came out")
    stamp.write_text(key)
    return network.model


def export_command(network):
    return [sys.executable, "-m", "bench.wide.export", network.name]


def load_maker(network):
    """The function that makes the network; this imports torch."""
    file, function = network.maker.split(".")
    return getattr(importlib.import_module(f"bench.wide.{file}"), function)


def named(name, networks):
    """The network with this name. Raises ValueError if there is none."""
    found = next((network for network in networks if network.name == name), None)
    if found is None:
        raise ValueError(f"there is no network {name} in the wide set; --wide --list names them")
    return found


def select(names, networks):
    """The networks that a command line names, each once; all if it names none. Raises ValueError."""
    chosen = [named(name, networks) for name in names] or networks
    return list({network.name: network for network in chosen}.values())
