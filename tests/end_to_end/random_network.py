"""Random networks of integers in the format of TensorFlow Lite: their types, quantizations, inputs and constants."""
import dataclasses

import numpy

from tflite_writer import Writer, schema

ACTIVATIONS = ["NONE", "NONE", "RELU", "RELU6", "RELU_N1_TO_1"]


@dataclasses.dataclass
class Quantization:
    scale: float
    zero: int = 0


class Network:
    """A model whose operators do not depend on each other, with values for its inputs."""

    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        self.writer = Writer()
        self.inputs = {}  # values by name
        self.prefix = ""

    # ---- Random choices

    def pick(self, *options):
        return options[int(self.random.integers(len(options)))]

    def integer(self, low, high):
        return int(self.random.integers(low, high + 1))

    def chance(self, share):
        return bool(self.random.random() < share)

    def scale(self, low=0.003, high=0.2):
        """One in four is a power of two, so that ties occur."""
        scale = numpy.exp(self.random.uniform(numpy.log(low), numpy.log(high)))
        if self.chance(0.25):
            scale = 2.0 ** numpy.round(numpy.log2(scale))
        return float(numpy.float32(scale))

    def zero(self, dtype):
        if dtype not in ("int8", "uint8"):
            return 0
        low, high = (-128, 127) if dtype == "int8" else (0, 255)
        return self.pick(0, low, high, self.integer(low, high), self.integer(low, high))

    def quantization(self, dtype, low=0.003, high=0.2):
        return Quantization(self.scale(low, high), self.zero(dtype))

    def near(self, dtype, q):
        """A quantization for a result of about the range that `q` has."""
        return Quantization(float(numpy.float32(q.scale * self.pick(1, 1, 0.5, 2, self.random.uniform(0.3, 3)))),
                            self.zero(dtype))

    def values(self, dtype, shape):
        """Integers over the whole range; for wider types mostly over 12 bits more than a byte."""
        if dtype in ("int32", "int64"):
            return self.random.integers(-(1 << 20), 1 << 20, shape).astype(dtype)
        low, high = {"int4": (-8, 7)}.get(dtype, None) or (numpy.iinfo(dtype).min, numpy.iinfo(dtype).max)
        return self.random.integers(low, high, shape, endpoint=True).astype("int8" if dtype == "int4" else dtype)

    # ---- Tensors

    def input(self, shape, dtype, q=None, values=None):
        """Adds an input with random values, and returns its tensor."""
        name = f"x{len(self.inputs)}"
        self.inputs[name] = self.values(dtype, shape) if values is None else values
        tensor = self.tensor(name, shape, dtype, q)
        self.writer.graph.inputs.append(tensor)
        return tensor

    def tensor(self, name, shape, dtype, q=None):
        return self.writer.tensor(name, shape, dtype, scale=q and q.scale, zero=q.zero if q else 0)

    def constant(self, values, q=None, dtype=None, axis=0):
        name = f"c{len(self.writer.graph.tensors)}"
        return self.writer.tensor(name, values.shape, dtype or values.dtype.name, data=values, scale=q and q.scale,
                                  zero=q.zero if q else 0, axis=axis)

    def ints(self, *values):
        return self.constant(numpy.array(values, dtype=numpy.int32))

    def output(self, dtype, q=None):
        """Adds an output. Its shape is filled in when LiteRT has computed it."""
        name = f"{self.prefix}y{len(self.writer.graph.outputs)}"
        tensor = self.tensor(name, (), dtype, q)
        self.writer.graph.outputs.append(tensor)
        return tensor

    def operator(self, *arguments, **fields):
        self.writer.operator(*arguments, **fields)

    def set_shapes(self, shapes):
        for tensor, shape in zip(self.writer.graph.outputs, shapes):
            self.writer.graph.tensors[tensor].shape = list(shape)

    def bytes(self):
        return self.writer.bytes()

    def activation(self, *names):
        """The options of a fused activation."""
        return {"fusedActivationFunction": getattr(schema.ActivationFunctionType, self.pick(*(names or ACTIVATIONS)))}
