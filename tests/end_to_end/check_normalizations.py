#!/usr/bin/env python3
"""check_normalizations.py [--seed N] [--count N]    `attune verify` accepts normalizations of nearly constant channels

Draws normalizations, as operators and as chains, of channels whose elements differ by 1 to a ten millionth of
themselves. A difference from the mean is then mostly rounding.
"""
import pathlib
import tempfile

import numpy

from checks import check_drawn
from common.program import Failed
from onnx_writer import Model
from peers import verify_attune


class Case:
    def __init__(self, random, path):
        self.random, self.model = random, Model(opset=18)
        self.model.random = random
        channels = int(random.integers(1, 5))
        spatial = [int(random.choice([1, 2, 3, 5, 7, 12, 16, 31, 56])) for _ in range(int(random.integers(1, 3)))]
        shape = [int(random.integers(1, 3)), channels, *spatial]
        mean, spread = random.choice([-1, 1]) * 10 ** random.uniform(-2, 1), 10 ** random.uniform(-7, 0)
        x = (mean * (1 + spread * random.standard_normal(shape))).astype(numpy.float32)
        if random.random() < 0.3:
            x[:, 0] = mean  # an entirely constant channel
        self.shape, self.epsilon = shape, float(random.choice([1e-5, 1e-3, 1e-12]))
        self.axes = self.model.constant(numpy.arange(2, len(shape)))
        name = self.model.input(*shape)
        before, norm, after = (random.choice(choices) for choices in (BEFORE, NORMS, AFTER))
        self.model.write(path, after(self, norm(self, before(self, name))))
        self.inputs = {name: x}
        self.text = (f"{before.__name__}, {norm.__name__}, {after.__name__} of {shape}, mean {mean:.3g}, spread "
                     f"{spread:.2g}, epsilon {self.epsilon}")

    def node(self, op, *inputs, **attributes):
        return self.model.node(op, *inputs, **attributes)

    def per_channel(self):
        return self.model.weights(self.shape[1])

    def number(self, value):
        return self.model.constant(numpy.float32(value))


# ---- Operators: each appends nodes and returns the output

def nothing(_, x):
    return x


def relu(c, x):
    return c.node("Relu", x)


def scaled(c, x):
    return c.node("Mul", x, c.number(c.random.normal()))


def shifted(c, x):
    return c.node("Add", x, c.number(c.random.normal()))


def sigmoid(c, x):
    return c.node("Sigmoid", x)


def convolution(c, x):
    return c.node("Conv", x, c.model.weights(c.shape[1], c.shape[1], *(1 for _ in c.shape[2:])))


def instance(c, x):
    return c.node("InstanceNormalization", x, c.per_channel(), c.per_channel(), epsilon=c.epsilon)


def group(c, x):
    c.model.opset = 21
    groups = int(c.random.choice([count for count in range(1, c.shape[1] + 1) if c.shape[1] % count == 0]))
    return c.node("GroupNormalization", x, c.per_channel(), c.per_channel(), epsilon=c.epsilon, num_groups=groups)


def layer(c, x):
    axis = int(c.random.integers(1, len(c.shape)))
    scale, bias = (c.model.weights(*c.shape[axis:]) for _ in range(2))
    return c.node("LayerNormalization", x, scale, bias, axis=axis, epsilon=c.epsilon)


def root_mean_square(c, x):
    c.model.opset = 23
    return c.node("RMSNormalization", x, c.model.weights(c.shape[-1]), epsilon=c.epsilon)


def mean_variance(c, x):
    return c.node("MeanVarianceNormalization", x, axes=list(range(2, len(c.shape))))


def batch(c, x):
    parameters = [c.per_channel() for _ in range(4)]
    return c.model.node_of("BatchNormalization", 3, x, *parameters, epsilon=c.epsilon, training_mode=1)[0]


def chain(c, x):
    centered = c.node("Sub", x, c.node("ReduceMean", x, c.axes))
    squares = c.node("Mul", centered, centered) if c.random.random() < 0.5 else c.node("Pow", centered, c.number(2))
    variance = c.node("ReduceMean", squares, c.axes)
    return c.node("Div", centered, c.node("Sqrt", c.node("Add", variance, c.number(c.epsilon))))


def difference_of_squares(c, x):
    mean = c.node("ReduceMean", x, c.axes)
    squares = c.node("ReduceMean", c.node("Mul", x, x), c.axes)
    variance = c.node("Relu", c.node("Sub", squares, c.node("Mul", mean, mean)))
    return c.node("Div", c.node("Sub", x, mean), c.node("Sqrt", c.node("Add", variance, c.number(c.epsilon))))


def averaged(c, x):
    return c.node("ReduceMean", x, c.axes)


BEFORE = [nothing, nothing, relu, scaled, shifted, sigmoid, convolution]
NORMS = [instance, group, layer, root_mean_square, mean_variance, batch, chain, difference_of_squares]
AFTER = [nothing, averaged]


def check_case(seed):
    """Returns None, or what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        case = Case(numpy.random.default_rng(seed), path)
        try:
            verify_attune(path, case.inputs)
        except Failed as error:
            return f"seed {seed}: {case.text}\n{error}"
    return None


check_drawn(__doc__, "networks", check_case)
