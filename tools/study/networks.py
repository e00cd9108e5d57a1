"""The networks that are compared: three, each in six versions of its numbers, in several setups.

The versions are those that the program offers: weights of 16 bits that kernels convert to floats, bfloat16 if the
processor has it, 8-bit integers in all layers or in those that tolerate them, and integers with 16 different values,
which make the smallest file.
"""
from dataclasses import dataclass

from common.models.cases import case_named

BATCHES = (1, 8)


@dataclass(frozen=True)
class Network:
    name: str  # of the performance lab's case, or of the zoo's network
    title: str
    pixels: int  # each side of the picture
    is_zoo: bool = False  # true: [1, 3, height, width], only batch 1; false: [batch, height, width, 3]
    detects: bool = False  # its outputs are boxes [n, 4], scores [n] and classes [n]; otherwise one list of scores

    def case(self, batch=1, precision="fp32"):
        """The performance lab's case. The zoo's networks have none."""
        return case_named(self.name, precision).batched(batch)


NETWORKS = (
    Network("resnet50v2", "ResNet-50 v2", 224),
    Network("tf_mobilenetv2", "MobileNet v2", 224),
    Network("ssd_mobilenet_v2", "SSD-MobileNet v2", 300, is_zoo=True, detects=True),
)


@dataclass(frozen=True)
class Version:
    name: str
    title: str
    quantize: tuple[str, ...] = ()  # flags of attune quantize; empty: the network is not quantized
    compile: tuple[str, ...] = ()  # flags of attune compile
    by_sample: bool = False  # whether compile needs a sample picture


FLOAT = Version("fp32", "float")
VERSIONS = (
    FLOAT,
    Version("fp16", "weights in fp16", compile=("--weights", "fp16")),
    Version("bf16", "bf16", compile=("--precision", "bf16"), by_sample=True),
    Version("int8", "int8", quantize=("--precision", "int8")),
    Version("mixed", "mixed", quantize=("--precision", "auto", "--max-drop", "1%")),
    Version("clustered", "int8, 16 clusters", quantize=("--clusters", "16"), compile=("--compact",)),
)
PEER_VERSIONS = ("fp32", "int8")  # that other engines run too


def version_named(name):
    return next(version for version in VERSIONS if version.name == name)


@dataclass(frozen=True)
class Setup:
    """How a version runs: `streams` processes at once, each of which runs inferences of `batch` pictures one after the
    other on `threads` threads."""
    batch: int
    streams: int
    threads: int

    @property
    def name(self):
        return f"b{self.batch}-s{self.streams}-t{self.threads}"

    @property
    def title(self):
        """batch 1 × 2 streams × 1 thread"""
        def count(number, word):
            return f"{number} {word}" if number == 1 else f"{number} {word}s"
        return f"batch {self.batch} × {count(self.streams, 'stream')} × {count(self.threads, 'thread')}"


def setups(processors):
    """The setups for a machine with this many processors: one at a time on one and on all, one on each, and batches."""
    alone, everything = Setup(1, 1, 1), Setup(1, 1, processors)
    return list(dict.fromkeys((alone, everything, Setup(1, processors, 1), Setup(BATCHES[-1], 1, processors))))


def busy_setups(processors):
    """The setups that use all processors; throughput is reported for these."""
    return [setup for setup in setups(processors) if setup.streams * setup.threads == processors]


def quiet_setups(processors):
    """The setups with one picture at a time; latency is reported for these."""
    return [setup for setup in setups(processors) if setup.batch == setup.streams == 1]


def contestants(peers):
    """(engine, version) for all that take turns. Attune's own versions have the engine None."""
    own = [(None, version.name) for version in VERSIONS]
    return own + [(peer, version) for peer in peers for version in PEER_VERSIONS]


def key_of(engine, version):
    """The name of a contestant in the results: int8, or onnxruntime int8."""
    return f"{engine} {version}" if engine else version
