"""Operators that sum up products, and windows and reductions, on integers of TensorFlow Lite.

Each function adds one operator to a network, with a random shape, options and quantization."""
import numpy

from random_network import Quantization
from tflite_writer import schema

PADDINGS = {"SAME": schema.Padding.SAME, "VALID": schema.Padding.VALID}


def weights(m, shape, dtype, axis, channels, per_channel):
    """Constant weights, and their scales. Only u8 has zero points."""
    scale = m.scale(0.002, 0.05)
    if per_channel:
        scale = [float(numpy.float32(scale * m.random.uniform(0.3, 3))) for _ in range(channels)]
    zero = m.pick(0, 128, m.integer(1, 255)) if dtype == "uint8" else 0
    values = m.values(dtype, shape)
    if dtype == "int8":
        values = numpy.maximum(values, -127)
    return m.constant(values, Quantization(scale, zero), dtype, axis), scale


def product_output(m, dtype, x, weight_scale, terms):
    """The quantization of a sum of `terms` products, most of which it holds."""
    terms *= 256 if dtype == "int16" else 1
    spread = x.scale * float(numpy.mean(weight_scale)) * numpy.sqrt(terms) * 74 * 100 / 60
    scale = spread * m.pick(1, 1, 0.5, 2, m.random.uniform(0.3, 2))
    if m.chance(0.25):
        scale = 2.0 ** numpy.round(numpy.log2(scale))
    return Quantization(float(numpy.float32(scale)), m.zero(dtype))


def bias(m, x, weight_scale, channels, dtype, terms, optional=True):
    """[a constant of i32, or i64 where activations have 16 bits], or nothing."""
    if optional and m.chance(0.25):
        return []
    reach = int(74 * 60 * numpy.sqrt(terms)) + 1
    if dtype == "int16":
        reach *= 256
    values = m.random.integers(-reach, reach, channels)
    scale = [float(numpy.float32(x.scale * s)) for s in numpy.atleast_1d(weight_scale)]
    q = Quantization(scale if len(scale) > 1 else scale[0], 0)
    return [m.constant(values.astype("int64" if dtype == "int16" else "int32"), q)]


def image(m, dtype, channels):
    q = m.quantization(dtype)
    shape = (m.pick(1, 1, 2), m.integer(3, 9), m.integer(3, 9), channels)
    return m.input(shape, dtype, q), q


def window_fields(m, dilate=True):
    stride = m.pick(1, 1, 2, 3)
    fields = {"padding": m.pick(*PADDINGS.values()), "strideW": stride, "strideH": m.pick(stride, 1, 2)}
    if dilate:
        fields["dilationWFactor"] = fields["dilationHFactor"] = 2 if stride == 1 and m.chance(0.3) else 1
    return fields


def conv_2d(m, dtype, weight_dtype="int8", per_channel=True):
    channels, group, outputs = m.pick(1, 3, 4, 8, 17), 1, m.pick(1, 2, 5, 8, 16, 19)
    x, q = image(m, dtype, channels * group)
    height, width = m.pick((1, 1), (3, 3), (2, 3))
    w, scale = weights(m, (outputs, height, width, channels), weight_dtype, 0, outputs, per_channel)
    terms = height * width * channels
    fields = window_fields(m)
    if height * width > 1 and fields.get("dilationWFactor", 1) > 1:
        fields["padding"] = PADDINGS["SAME"]
    y = m.output(dtype, product_output(m, dtype, q, scale, terms))
    m.operator("CONV_2D", [x, w, *bias(m, q, scale, outputs, dtype, terms, optional=False)], [y], "Conv2DOptions",
               **m.activation(), **fields)


def depthwise_conv_2d(m, dtype, weight_dtype="int8", per_channel=True):
    channels, multiplier = m.pick(1, 3, 4, 8, 17), m.pick(1, 1, 1, 2, 3)
    x, q = image(m, dtype, channels)
    height, width = m.pick((1, 1), (3, 3), (2, 3))
    outputs = channels * multiplier
    w, scale = weights(m, (1, height, width, outputs), weight_dtype, 3, outputs, per_channel)
    fields = window_fields(m)
    fields["strideH"] = fields["strideW"]
    if fields["dilationWFactor"] > 1:
        fields["padding"] = PADDINGS["SAME"]
    y = m.output(dtype, product_output(m, dtype, q, scale, height * width))
    inputs = [x, w, *bias(m, q, scale, outputs, dtype, height * width, optional=False)]
    m.operator("DEPTHWISE_CONV_2D", inputs, [y], "DepthwiseConv2DOptions", depthMultiplier=multiplier,
               **m.activation(), **fields)


def transpose_conv(m, dtype, weight_dtype="int8", per_channel=True):
    channels, outputs = m.pick(1, 3, 8), m.pick(1, 2, 5, 8)
    x, q = image(m, dtype, channels)
    batch, rows, columns, _ = m.writer.graph.tensors[x].shape
    height, width = m.pick((1, 1), (3, 3), (2, 3), (4, 4))
    w, scale = weights(m, (outputs, height, width, channels), weight_dtype, 0, outputs, per_channel)
    stride, same = m.pick(1, 2), m.chance(0.5)
    sizes = [rows * stride, columns * stride]
    if not same:
        sizes = [(rows - 1) * stride + height, (columns - 1) * stride + width]
    y = m.output(dtype, product_output(m, dtype, q, scale, height * width * channels))
    inputs = [m.ints(batch, *sizes, outputs), w, x, *bias(m, q, scale, outputs, dtype, channels)]
    m.operator("TRANSPOSE_CONV", inputs, [y], "TransposeConvOptions", version=3,
               padding=PADDINGS["SAME" if same else "VALID"], strideW=stride, strideH=stride,
               **m.activation("NONE", "NONE", "RELU", "RELU6"))


def fully_connected(m, dtype, weight_dtype="int8", per_channel=False):
    rows, columns, outputs = m.pick(1, 2, 5, 16), m.pick(1, 7, 16, 33, 64), m.pick(1, 3, 8, 16, 33)
    q = m.quantization(dtype)
    keep = m.chance(0.4)
    x = m.input((2, rows, columns) if keep else (rows, columns), dtype, q)
    w, scale = weights(m, (outputs, columns), weight_dtype, 0, outputs, per_channel)
    y = m.output(dtype, product_output(m, dtype, q, scale, columns / (16 if weight_dtype == "int4" else 1)))
    inputs = [x, w, *bias(m, q, scale, outputs, dtype, columns)]
    m.operator("FULLY_CONNECTED", inputs if len(inputs) > 2 else [*inputs, -1], [y], "FullyConnectedOptions",
               version=4, keepNumDims=keep, **m.activation())


def batch_matmul(m, dtype, constant=False):
    batch, rows, inner, columns = m.pick(1, 3), m.pick(1, 5, 8), m.pick(4, 16, 31), m.pick(1, 6, 16)
    q, r = m.quantization(dtype), m.quantization(dtype)
    adjoint = m.chance(0.5), m.chance(0.5)
    a = (batch, inner, rows) if adjoint[0] else (batch, rows, inner)
    b = (batch, columns, inner) if adjoint[1] else (batch, inner, columns)
    second = m.constant(m.values(dtype, b), r) if constant else m.input(b, dtype, r)
    y = m.output(dtype, product_output(m, dtype, q, r.scale, inner * (256 if dtype == "int16" else 1)))
    m.operator("BATCH_MATMUL", [m.input(a, dtype, q), second], [y], "BatchMatMulOptions", version=2, adjX=adjoint[0],
               adjY=adjoint[1])


# ---- Windows and reductions

def pool(m, dtype, name):
    q = m.quantization(dtype)
    height, width = m.pick((2, 2), (3, 3), (1, 2), (3, 2))
    x = m.input((m.pick(1, 2), m.integer(3, 9), m.integer(3, 9), m.pick(1, 3, 8, 17)), dtype, q)
    y = m.output(dtype, q)
    m.operator(name, [x], [y], "Pool2DOptions", version=2, filterWidth=width, filterHeight=height,
               **m.activation(), **window_fields(m, dilate=False))


def reduction(m, dtype, name, result):
    q = m.quantization(dtype)
    shape = (m.pick(1, 2), m.integer(1, 7), m.integer(1, 7), m.pick(1, 3, 8))
    axes = m.pick((1, 2), (1, 2), (3,), (0,), (1,), (2, 3), (0, 1, 2, 3))
    count = int(numpy.prod([shape[axis] for axis in axes]))
    y = m.output(dtype, result(m, dtype, q, count))
    m.operator(name, [m.input(shape, dtype, q), m.ints(*axes)], [y], "ReducerOptions", version=2,
               keepDims=m.chance(0.6))


def of_mean(m, dtype, q, count):
    return m.pick(q, m.near(dtype, q))


def of_sum(m, dtype, q, count):
    return m.near(dtype, Quantization(q.scale * numpy.sqrt(count)))


def of_extreme(m, dtype, q, count):
    return q


def arg_extreme(m, dtype, name, options):
    q = m.quantization(dtype)
    y = m.output("int32")
    m.operator(name, [m.input((2, 5, 9), dtype, q), m.ints(m.pick(0, 1, 2, -1))], [y], options,
               outputType=schema.TensorType.INT32)
