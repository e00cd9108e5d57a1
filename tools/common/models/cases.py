"""The networks that are measured: well-known architectures, and variants of them in width, resolution and batch.

Weights are random with a seed: the speed of a dense network does not depend on them. The networks in 8-bit integers are
those that people quantize, each in the format that its framework's own tool writes, and one that was trained in
integers.
"""
import re
from dataclasses import dataclass, replace

from common.engines import PEERS

SCALES = ("standard", "width0.75", "192", "256")
BATCHES = (8, 32)


@dataclass(frozen=True)
class Network:
    """An architecture, as a framework defines it."""
    name: str
    framework: str  # torchvision, transformers or keras; tensorflow for a trained file
    constructor: str  # its name there, or the file's
    pixels: int = 224  # each side of the image; 0 if the input is text
    any_size: bool = True  # also takes images of other sizes
    has_width: bool = False  # its constructor has a factor of all channel counts
    batches: tuple[int, ...] = ()  # larger ones, among the variants
    precisions: tuple[str, ...] = ("fp32",)  # in which there are models: fp32, int8
    dtype: str = "float32"  # of the input, if that is an image
    sorts: bool = False  # its outputs are lists whose order the least difference may change


BOTH = ("fp32", "int8")


NETWORKS = (
    Network("resnet18", "torchvision", "resnet18"),
    Network("resnet50", "torchvision", "resnet50", batches=BATCHES, precisions=BOTH),
    Network("resnet50v2", "keras", "ResNet50V2", precisions=BOTH),
    Network("mobilenet_v2", "torchvision", "mobilenet_v2", has_width=True, batches=BATCHES, precisions=BOTH),
    Network("tf_mobilenetv2", "keras", "MobileNetV2", has_width=True, precisions=BOTH),
    Network("efficientnet_b0", "torchvision", "efficientnet_b0"),
    Network("squeezenet1_1", "torchvision", "squeezenet1_1"),
    Network("inception_v3", "torchvision", "inception_v3", pixels=299),
    Network("densenet121", "torchvision", "densenet121"),
    # Its adaptive pooling only exports for sizes that it divides.
    Network("vgg16", "torchvision", "vgg16", any_size=False),
    Network("bert_base_128", "transformers", "BertModel", pixels=0, any_size=False),
    Network("vit_b_16", "torchvision", "vit_b_16"),
    Network("ssd_mobilenet_v1", "tensorflow", "coco_ssd_mobilenet_v1_1.0_quant_2018_06_29_no_metadata", pixels=300,
            any_size=False, precisions=("int8",), dtype="uint8", sorts=True),
)

TOKENS = 128  # of a text


@dataclass(frozen=True)
class Case:
    """A network with all its dimensions fixed: what is exported, compiled and measured."""
    network: Network
    pixels: int
    width: float = 1.0
    batch: int = 1
    precision: str = "fp32"  # of the model; an engine may compute in another

    @property
    def name(self):
        """Such as mobilenet_v2-w0.75-192px-b8-int8: differences from the standard case follow the network's name."""
        parts = [self.network.name]
        if self.width != 1:
            parts.append(f"w{self.width:g}")
        if self.pixels != self.network.pixels:
            parts.append(f"{self.pixels}px")
        if self.batch != 1:
            parts.append(f"b{self.batch}")
        if self.precision != "fp32":
            parts.append(self.precision)
        return "-".join(parts)

    @property
    def is_standard(self):
        return self == standard(self.network, self.precision)

    @property
    def is_text(self):
        return self.pixels == 0

    @property
    def shape(self):
        """The shape of the only input: NCHW, for keras and tensorflow NHWC, or batch × tokens."""
        if self.is_text:
            return (self.batch, TOKENS)
        if self.network.framework in ("keras", "tensorflow"):
            return (self.batch, self.pixels, self.pixels, 3)
        return (self.batch, 3, self.pixels, self.pixels)

    @property
    def formats(self):
        """The formats in which there are model files. Attune reads the first one."""
        if self.precision == "int8":
            return ("onnx",) if self.network.framework == "torchvision" else ("tflite",)
        return ("onnx", "tflite", "mnn") if self.network.framework == "keras" else ("onnx", "ncnn", "mnn")

    def scaled(self, scale):
        """This case in one of SCALES. Raises ValueError if the network does not have it."""
        if scale == "standard":
            return self
        if scale == "width0.75":
            if not self.network.has_width:
                raise ValueError(f"{self.network.name} has no width to scale")
            return replace(self, width=0.75)
        if not self.network.any_size:
            raise ValueError(f"{self.network.name} takes inputs of one size alone")
        return replace(self, pixels=int(scale))

    def batched(self, batch):
        """Returns this case with this many inputs per inference. Raises ValueError if there is no such model."""
        if batch != self.batch and self.network.framework == "tensorflow":
            raise ValueError(f"{self.network.name} takes batches of one size alone")
        return replace(self, batch=batch)


def standard(network, precision="fp32"):
    return Case(network, network.pixels, precision=precision)


def variants(network):
    """The cases that a complete run measures in addition to the standard one."""
    case = standard(network)
    cases = [replace(case, batch=batch) for batch in network.batches]
    for scale in SCALES[1:]:
        try:
            cases.append(case.scaled(scale))
        except ValueError:
            pass
    return cases


def case_named(name, precision="fp32"):
    """Returns the case with this name; `precision` applies if the name has none. Raises ValueError if there is none."""
    match = re.fullmatch(r"(\w+?)(-w(0\.75))?(-(192|256)px)?(-b([1-9]\d*))?(-(int8))?", name)
    network = match and next((n for n in NETWORKS if n.name == match[1]), None)
    if not network:
        raise ValueError(f"there is no network {name}; there are {', '.join(n.name for n in NETWORKS)}")
    case = standard(network, match[9] or precision)
    if case.precision not in network.precisions:
        others = ", ".join(n.name for n in NETWORKS if case.precision in n.precisions)
        raise ValueError(f"there is no model of {network.name} in {case.precision}, but of {others}")
    for scale in (match[3] and f"width{match[3]}", match[5]):
        case = case.scaled(scale or "standard")
    return case.batched(int(match[7] or 1))


def select(names, scale="standard", batch=1, with_variants=False, precision="fp32"):
    """The cases of one precision that a command line selects, each once. Without names: all networks that have this
    precision, scale and batch.

    Raises ValueError with a sentence for the user.
    """
    named = [case_named(name, precision) for name in names]
    stray = next((case for case in named if case.precision != precision), None)
    if stray:
        raise ValueError(f"{stray.name} is measured with --{stray.precision}")
    chosen = []
    for case in named or [standard(network, precision) for network in NETWORKS if precision in network.precisions]:
        try:
            scaled = case.scaled(scale)
            chosen.append(scaled.batched(batch) if batch != 1 else scaled)
        except ValueError:
            if names:
                raise
    if with_variants:
        chosen += [variant for case in chosen if case.is_standard for variant in variants(case.network)]
    return list(dict.fromkeys(chosen))


def refusal(case, peer):
    """Why the peer (its name) cannot run the case, as (status, reason); None if it is supposed to run it.

    "not applicable" is about formats, "NS" (not supported) about the peer's abilities. A network of integers has one
    format; a peer that does not read that format does not support the network.
    """
    if case.precision == "int8":
        return refusal_of_integers(case, peer)
    keras = case.network.framework == "keras"
    if peer == "litert" and not keras:
        return "not applicable", f"takes .tflite alone, which {case.network.framework} does not export"
    if peer == "ncnn" and keras:
        return "NS", "pnnx leaves out the padding of models from Keras"
    if peer == "ncnn" and case.batch > 1:
        return "NS", "its tensors have no batch"
    return None


def refusal_of_integers(case, peer):
    if peer in PEERS and not set(PEERS[peer].formats) & set(case.formats):
        return "NS", f"does not read .{case.formats[0]}, the format that this network of integers has"
    if peer == "openvino" and case.network.framework == "tensorflow":
        return "NS", "does not know TFLite_Detection_PostProcess, the detector's last operator"
    return None
