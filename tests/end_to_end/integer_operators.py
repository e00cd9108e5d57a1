"""Elementwise operators, movement, conversions and recurrent layers on integers of TensorFlow Lite.

Each function adds one operator to a network, with a random shape, options and quantization."""
import numpy

from random_network import Quantization

def shapes_of_two(m):
    shape = (m.pick(1, 2), m.integer(1, 6), m.integer(1, 6), m.pick(1, 3, 8, 17))
    other = m.pick(shape, shape, (1,), shape[-1:], (1, 1, 1, shape[3]), (shape[0], 1, 1, shape[3]))
    return m.pick((shape, other), (shape, other), (other, shape))


def binary(m, dtype, name, options="", quantize=None, version=2, fuses=True):
    first, second = shapes_of_two(m)
    q = m.quantization(dtype)
    r = m.near(dtype, q)
    x, y = m.input(first, dtype, q), m.input(second, dtype, r)
    fields = m.activation() if fuses else {}
    result = m.output(dtype, (quantize or sum_quantization)(m, dtype, q, r))
    m.operator(name, [x, y], [result], options, version=version, **fields)


def sum_quantization(m, dtype, q, r):
    return m.near(dtype, Quantization(max(q.scale, r.scale) * 1.5))


def product_quantization(m, dtype, q, r):
    return m.near(dtype, Quantization(q.scale * r.scale * (100 if dtype != "int16" else 20000)))


def square_quantization(m, dtype, q, r):
    return m.near(dtype, Quantization(max(q.scale, r.scale) ** 2 * (100 if dtype != "int16" else 20000)))


def quotient_quantization(m, dtype, q, r):
    # Where the quotient of two steps is far below a step, LiteRT shifts by more bits than there are.
    return m.near(dtype, Quantization(q.scale / r.scale / 240))


def quotient(m, dtype):
    """No divisor is zero."""
    first, second = shapes_of_two(m)
    q, r = m.quantization(dtype), m.quantization(dtype)
    values = m.values(dtype, second)
    values[values == r.zero] = r.zero + 1 if r.zero < 100 else r.zero - 1
    x, y = m.input(first, dtype, q), m.input(second, dtype, r, values)
    result = m.output(dtype, quotient_quantization(m, dtype, q, r))
    m.operator("DIV", [x, y], [result], "DivOptions", version=2,
               **m.activation())


def alike(m, dtype, name, options=""):
    """Operators of two values that all have one quantization."""
    first, second = shapes_of_two(m)
    q = m.quantization(dtype)
    result = m.output(dtype, q)
    m.operator(name, [m.input(first, dtype, q), m.input(second, dtype, q)], [result], options, version=2)


def comparison(m, dtype, name, options):
    first, second = shapes_of_two(m)
    q = m.quantization(dtype)
    r = m.near(dtype, q)
    result = m.output("bool")
    m.operator(name, [m.input(first, dtype, q), m.input(second, dtype, r)], [result], options, version=2)


def any_shape(m):
    return m.pick((m.integer(1, 300),), (m.integer(1, 7), m.integer(1, 40)), (1, m.integer(1, 7), m.integer(1, 7), 8))


def unary(m, dtype, name, options="", result=None, low=0.003, high=0.2, version=1, **fields):
    """An operator of one value. `result` makes the output's quantization of the input's."""
    q = m.quantization(dtype, low, high)
    y = m.output(dtype, result(m, dtype, q) if result else m.near(dtype, q))
    m.operator(name, [m.input(any_shape(m), dtype, q)], [y], options, version=version, **fields)


def of_unit(m, dtype, q):
    """For results from 0 to 1."""
    return {"int8": Quantization(1 / 256, -128), "uint8": Quantization(1 / 256, 0),
            "int16": Quantization(1 / 32768, 0)}[dtype]


def of_both_signs(m, dtype, q):
    """For results from -1 to 1."""
    return {"int8": Quantization(1 / 128, 0), "uint8": Quantization(1 / 128, 128),
            "int16": Quantization(1 / 32768, 0)}[dtype]


def positive(m, dtype, q):
    return Quantization(m.scale(0.003, 0.05), m.zero(dtype))


def of_logarithms(m, dtype, q):
    return {"int8": Quantization(16 / 256, 127), "uint8": Quantization(16 / 256, 255),
            "int16": Quantization(16 / 32768, 0)}[dtype]


def above_zero(m, dtype, name, result=positive):
    """An operator that has no result for negative numbers."""
    q = Quantization(m.scale(), {"int8": -128, "uint8": 0}.get(dtype, 0))
    values = numpy.maximum(m.values(dtype, any_shape(m)), q.zero + 1).astype(dtype)
    y = m.output(dtype, result(m, dtype, q))
    m.operator(name, [m.input(values.shape, dtype, q, values)], [y])


def leaky_relu(m, dtype):
    unary(m, dtype, "LEAKY_RELU", "LeakyReluOptions", alpha=float(m.pick(0.1, 0.2, 0.25, 0.01, 1.5)))


def prelu(m, dtype):
    q, r = m.quantization(dtype), m.quantization(dtype, 0.001, 0.02)
    channels = m.pick(1, 3, 8)
    shape = (m.pick(1, 2), m.integer(1, 6), m.integer(1, 6), channels)
    slopes = m.constant(m.values(dtype, m.pick((1, 1, channels), (1, 1, 1), shape[1:])), r)
    y = m.output(dtype, m.near(dtype, q))
    m.operator("PRELU", [m.input(shape, dtype, q), slopes], [y])


def gelu(m, dtype):
    unary(m, dtype, "GELU", "GeluOptions", approximate=m.chance(0.5))


def normalization(m, dtype, name, options, result, **fields):
    q = m.quantization(dtype, 0.01, 0.3)
    if dtype == "int16":
        q = Quantization(m.scale(0.0001, 0.001), 0)
    x = m.input((m.pick(1, 3), m.pick(1, 2, 10, 17, 100)), dtype, q)
    m.operator(name, [x], [m.output(dtype, result(m, dtype, q))], options, version=2, **fields)


def softmax(m, dtype):
    normalization(m, dtype, "SOFTMAX", "SoftmaxOptions", of_unit, beta=float(m.pick(1, 1, 0.5, 2)))


def moved(m, dtype, name, more=(), options="", version=1, shape=(2, 4, 6, 8), count=1, **fields):
    q = m.quantization(dtype)
    outputs = [m.output(dtype, q) for _ in range(count)]
    more = [m.ints(*values) if numpy.ndim(values) == 1 else m.constant(numpy.array(values, dtype=numpy.int32))
            for values in more]
    m.operator(name, [m.input(shape, dtype, q), *more], outputs, options, version=version, **fields)


def split(m, dtype):
    q = m.quantization(dtype)
    axis = m.constant(numpy.array(m.pick(1, 2, 3), dtype=numpy.int32))
    x = m.input((2, 4, 4, 8), dtype, q)
    m.operator("SPLIT", [axis, x], [m.output(dtype, q) for _ in range(2)], "SplitOptions", version=2, numSplits=2)


def padv2(m, dtype):
    q = m.quantization(dtype)
    value = m.constant(m.values(dtype, (1,)), q)
    pads = m.constant(numpy.array([[0, 1], [1, 0], [2, 1], [0, 0]], dtype=numpy.int32))
    m.operator("PADV2", [m.input((1, 3, 4, 5), dtype, q), pads, value], [m.output(dtype, q)], "PadV2Options", version=2)


def gather(m, dtype):
    q = m.quantization(dtype)
    indices = m.constant(m.random.integers(0, 4, 6).astype(numpy.int32))
    m.operator("GATHER", [m.input((4, 5), dtype, q), indices], [m.output(dtype, q)], "GatherOptions", version=2)


def pack(m, dtype):
    q = m.quantization(dtype)
    inputs = [m.input((3, 5), dtype, q) for _ in range(3)]
    m.operator("PACK", inputs, [m.output(dtype, q)], "PackOptions", version=2, valuesCount=3, axis=m.pick(0, 1, 2))


def concatenation(m, dtype, same):
    axis = m.pick(1, 3)
    q = m.quantization(dtype)
    inputs = []
    for _ in range(m.integer(2, 4)):
        shape = [1, 4, 5, 6]
        shape[axis] = m.integer(1, 5)
        inputs.append(m.input(tuple(shape), dtype, q if same or m.chance(0.3) else m.near(dtype, q)))
    m.operator("CONCATENATION", inputs, [m.output(dtype, q)], "ConcatenationOptions", version=2, axis=axis)


def resize(m, dtype, name, options):
    q = m.quantization(dtype)
    corners, centers = m.pick((False, False), (True, False), (False, True))
    x = m.input((1, m.integer(2, 7), m.integer(2, 7), m.pick(1, 3, 8)), dtype, q)
    m.operator(name, [x, m.ints(m.integer(1, 13), m.integer(1, 13))], [m.output(dtype, q)], options, version=3,
               alignCorners=corners, halfPixelCenters=centers)


def quantize_floats(m, dtype):
    q = m.quantization(dtype)
    x = (m.random.standard_normal(any_shape(m)) * q.scale * (60 if dtype != "int16" else 9000)).astype(numpy.float32)
    ties = numpy.float32(q.scale) * (m.random.integers(-100, 100, x.shape) + 0.5)
    x = numpy.where(m.random.random(x.shape) < 0.3, ties, x).astype(numpy.float32)
    m.operator("QUANTIZE", [m.input(x.shape, "float32", values=x)], [m.output(dtype, q)], version=2)


def requantize(m, dtype, to):
    q = m.quantization(dtype)
    wide = {"int8": 1, "uint8": 1, "int16": 256, "int32": 1 << 14}
    r = m.near(to, Quantization(q.scale * wide[dtype] / wide[to]))
    m.operator("QUANTIZE", [m.input(any_shape(m), dtype, q)], [m.output(to, r)], version=2)


def dequantize(m, dtype):
    q = m.quantization(dtype)
    m.operator("DEQUANTIZE", [m.input(any_shape(m), dtype, q)], [m.output("float32")], version=2)


def svdf(m, dtype):
    """The state has 16 bits, or the type of the input, and starts at zero."""
    batch, features, units, rank, memory = m.pick(1, 2), m.pick(4, 9), m.pick(3, 8), m.pick(1, 2), m.pick(2, 5)
    q, state = m.quantization(dtype), Quantization(m.scale(0.001, 0.01), 0)
    filters = units * rank
    w, r = Quantization(m.scale(0.003, 0.02)), Quantization(m.scale(0.003, 0.02))
    inputs = [m.input((batch, features), dtype, q), m.constant(m.values("int8", (filters, features)), w),
              m.constant(m.values("int16", (filters, memory)), r),
              m.constant(m.random.integers(-3000, 3000, units).astype(numpy.int32),
                         Quantization(state.scale * r.scale)),
              m.writer.tensor(f"state{len(m.writer.graph.tensors)}", (batch, filters * memory), "int16",
                              scale=state.scale, variable=True)]
    y = m.output(dtype, Quantization(state.scale * r.scale * 2e6 * m.random.uniform(0.5, 2), m.zero(dtype)))
    m.operator("SVDF", inputs, [y], "SVDFOptions", version=3, rank=rank,
               **m.activation("RELU"))


def lstm(m, dtype):
    """A sequence without projection, with or without an input gate; the states start at zero."""
    steps, batch, features, cells = m.integer(1, 4), m.pick(1, 2), m.pick(3, 8), m.pick(2, 5, 8)
    q, y = m.quantization(dtype), Quantization(m.scale(0.004, 0.01), m.zero(dtype))
    time_major = m.chance(0.5)
    x = m.input((steps, batch, features) if time_major else (batch, steps, features), dtype, q)
    absent = m.pick(0, 1)

    def gates(shape, of):
        scales = [m.scale(0.003, 0.02) for _ in range(4)]
        tensors = [m.constant(m.values("int8", shape), Quantization(scale)) for scale in scales[absent:]]
        biases = [m.constant(m.random.integers(-3000, 3000, cells).astype(numpy.int32), Quantization(of * scale))
                  for scale in scales[absent:]]
        return [-1] * absent + tensors, [-1] * absent + biases

    weights, biases = gates((cells, features), q.scale)
    recurrent, _ = gates((cells, cells), y.scale)
    count = len(m.writer.graph.tensors)
    states = [m.writer.tensor(f"hidden{count}", (batch, cells), dtype, scale=y.scale, zero=y.zero, variable=True),
              m.writer.tensor(f"cell{count}", (batch, cells), "int16", scale=2.0 ** m.pick(-13, -12, -11),
                              variable=True)]
    within = [m.writer.tensor(f"within{count}_{i}", (), dtype, scale=y.scale, zero=y.zero) for i in range(5)]
    m.operator("UNIDIRECTIONAL_SEQUENCE_LSTM",
               [x, *weights, *recurrent, -1, -1, -1, *biases, -1, -1, *states, -1, -1, -1, -1], [m.output(dtype, y)],
               "UnidirectionalSequenceLSTMOptions", version=3, intermediates=within, timeMajor=time_major,
               cellClip=float(m.pick(0, 3)), **m.activation("TANH"))
