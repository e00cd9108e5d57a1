"""Draws integer networks in the format of TensorFlow Lite: for each operator and type one network, in which the
operator occurs with several shapes, options and quantizations side by side."""
from integer_operators import (above_zero, alike, binary, comparison, concatenation, dequantize, gather, gelu,
                               leaky_relu, lstm, moved, normalization, of_both_signs, of_logarithms, of_unit, pack,
                               padv2, positive, prelu, product_quantization, quantize_floats, quotient, requantize,
                               resize, softmax, split, square_quantization, svdf, unary)
from integer_products import (arg_extreme, batch_matmul, conv_2d, depthwise_conv_2d, fully_connected, of_extreme,
                              of_mean, of_sum, pool, reduction, transpose_conv)
from random_network import Network

TYPES = ("int8", "uint8", "int16")

# Inputs besides the first one, options, and what is set in them.
MOVEMENTS = {
    "TRANSPOSE": ([(0, 3, 1, 2)], "TransposeOptions", {}),
    "RESHAPE": ([(2, 12, 16)], "ReshapeOptions", {}),
    "SLICE": ([(0, 1, 2, 3), (2, 2, 3, 4)], "SliceOptions", {}),
    "STRIDED_SLICE": ([(0, 1, 0, 7), (2, 4, 6, 0), (1, 2, 3, -2)], "StridedSliceOptions", {}),
    "PAD": ([[[0, 0], [1, 2], [0, 1], [2, 0]]], "PadOptions", {}),
    "MIRROR_PAD": ([[[0, 0], [1, 2], [0, 1], [2, 0]]], "MirrorPadOptions", {"mode": 0}),
    "SPACE_TO_DEPTH": ([], "SpaceToDepthOptions", {"blockSize": 2}),
    "DEPTH_TO_SPACE": ([], "DepthToSpaceOptions", {"blockSize": 2}),
}

REQUANTIZED = [("int8", "int8"), ("int8", "uint8"), ("uint8", "int8"), ("uint8", "uint8"), ("int8", "int16"),
               ("int16", "int8"), ("int16", "int16"), ("int16", "int32"), ("int32", "int8"), ("int32", "int16")]


def products():
    for dtype in TYPES:
        weight = "uint8" if dtype == "uint8" else "int8"
        for name, function in (("conv_2d", conv_2d), ("depthwise_conv_2d", depthwise_conv_2d),
                               ("transpose_conv", transpose_conv), ("fully_connected", fully_connected)):
            yield f"{name}.{dtype}", function, (dtype, weight, False), {}
            if dtype == "uint8":
                continue
            yield f"{name}.{dtype}.channels", function, (dtype, weight, True), {}
            # LiteRT takes weights of 4 bits for bytes in a depthwise convolution of 16 bits.
            if function is not transpose_conv and (function, dtype) != (depthwise_conv_2d, "int16"):
                yield f"{name}.{dtype}.int4", function, (dtype, "int4", function is not fully_connected), {}
    for dtype in ("int8", "int16"):
        yield f"batch_matmul.{dtype}", batch_matmul, (dtype,), {}
        yield f"batch_matmul.{dtype}.constant", batch_matmul, (dtype, True), {}


def of_two_values():
    for dtype in TYPES:
        yield f"add.{dtype}", binary, (dtype, "ADD", "AddOptions"), {}
        yield f"sub.{dtype}", binary, (dtype, "SUB", "SubOptions"), {}
        yield f"mul.{dtype}", binary, (dtype, "MUL", "MulOptions", product_quantization), {}
        yield f"maximum.{dtype}", alike, (dtype, "MAXIMUM", "MaximumMinimumOptions"), {}
        yield f"minimum.{dtype}", alike, (dtype, "MINIMUM", "MaximumMinimumOptions"), {}
    for dtype in ("int8", "uint8"):
        yield f"div.{dtype}", quotient, (dtype,), {}
        yield f"prelu.{dtype}", prelu, (dtype,), {}
        for name in ("EQUAL", "NOT_EQUAL", "GREATER", "GREATER_EQUAL", "LESS", "LESS_EQUAL"):
            options = name.title().replace("_", "") + "Options"
            yield f"{name.lower()}.{dtype}", comparison, (dtype, name, options), {}
    options = ("int8", "SQUARED_DIFFERENCE", "SquaredDifferenceOptions", square_quantization)
    yield "squared_difference.int8", binary, options, {"fuses": False}


def of_one_value():
    for dtype in TYPES:
        yield f"relu.{dtype}", unary, (dtype, "RELU"), {}
        yield f"relu6.{dtype}", unary, (dtype, "RELU6"), {}
        yield f"leaky_relu.{dtype}", leaky_relu, (dtype,), {}
        yield f"logistic.{dtype}", unary, (dtype, "LOGISTIC"), {"result": of_unit, "high": 0.1}
        yield f"tanh.{dtype}", unary, (dtype, "TANH"), {"result": of_both_signs, "high": 0.1}
        yield f"gelu.{dtype}", gelu, (dtype,), {}
        yield f"softmax.{dtype}", softmax, (dtype,), {}
        yield f"quantize.{dtype}", quantize_floats, (dtype,), {}
        yield f"dequantize.{dtype}", dequantize, (dtype,), {}
    for dtype in ("int8", "uint8"):
        yield f"relu_n1_to_1.{dtype}", unary, (dtype, "RELU_N1_TO_1"), {}
        yield f"relu_0_to_1.{dtype}", unary, (dtype, "RELU_0_TO_1"), {}
        yield f"hard_swish.{dtype}", unary, (dtype, "HARD_SWISH", "HardSwishOptions"), {}
        options = (dtype, "LOG_SOFTMAX", "LogSoftmaxOptions", of_logarithms)
        yield f"log_softmax.{dtype}", normalization, options, {}
        options = (dtype, "L2_NORMALIZATION", "L2NormOptions", of_both_signs)
        yield f"l2_normalization.{dtype}", normalization, options, {}
    for dtype, low, high in (("int8", 0.003, 0.03), ("int16", 1e-5, 1e-4)):
        yield f"abs.{dtype}", unary, (dtype, "ABS", "AbsOptions"), {}
        yield f"rsqrt.{dtype}", above_zero, (dtype, "RSQRT"), {}
        yield f"log.{dtype}", above_zero, (dtype, "LOG"), {}
        yield f"exp.{dtype}", unary, (dtype, "EXP", "ExpOptions", positive), {"low": low, "high": high}
    yield "sqrt.int8", above_zero, ("int8", "SQRT"), {}
    yield "elu.int8", unary, ("int8", "ELU"), {}
    for dtype, to in REQUANTIZED:
        yield f"quantize.{dtype}.{to}", requantize, (dtype, to), {}


def windows_and_reductions():
    for dtype in TYPES:
        yield f"average_pool_2d.{dtype}", pool, (dtype, "AVERAGE_POOL_2D"), {}
        yield f"max_pool_2d.{dtype}", pool, (dtype, "MAX_POOL_2D"), {}
        yield f"mean.{dtype}", reduction, (dtype, "MEAN", of_mean), {}
        yield f"sum.{dtype}", reduction, (dtype, "SUM", of_sum), {}
        yield f"reduce_max.{dtype}", reduction, (dtype, "REDUCE_MAX", of_extreme), {}
        yield f"reduce_min.{dtype}", reduction, (dtype, "REDUCE_MIN", of_extreme), {}
        options = ("RESIZE_NEAREST_NEIGHBOR", "ResizeNearestNeighborOptions")
        yield f"resize_nearest_neighbor.{dtype}", resize, (dtype, *options), {}
    for dtype in ("int8", "int16"):  # bytes without sign are computed as floats, whose sums depend on the order
        yield f"resize_bilinear.{dtype}", resize, (dtype, "RESIZE_BILINEAR", "ResizeBilinearOptions"), {}
    for dtype in ("int8", "uint8"):
        yield f"arg_max.{dtype}", arg_extreme, (dtype, "ARG_MAX", "ArgMaxOptions"), {}
        yield f"arg_min.{dtype}", arg_extreme, (dtype, "ARG_MIN", "ArgMinOptions"), {}
    yield "svdf.int8", svdf, ("int8",), {}
    yield "unidirectional_sequence_lstm.int8", lstm, ("int8",), {}


def movements():
    for dtype in TYPES:
        for name, (more, options, fields) in MOVEMENTS.items():
            if dtype == "int16" and name in ("SPACE_TO_DEPTH", "DEPTH_TO_SPACE"):
                continue  # there is no kernel
            yield f"{name.lower()}.{dtype}", moved, (dtype, name, more, options), fields
        for name, function in (("split", split), ("gather", gather), ("pack", pack), ("padv2", padv2)):
            yield f"{name}.{dtype}", function, (dtype,), {}
        yield f"concatenation.{dtype}", concatenation, (dtype, dtype != "uint8"), {}


def networks():
    """The drawable parts: the name, a function that adds an operator to a network, and its arguments."""
    groups = (products(), of_two_values(), of_one_value(), windows_and_reductions(), movements())
    return {name: (function, arguments, named) for group in groups for name, function, arguments, named in group}


def draw(name, seed, count):
    """The network of that name, with `count` operators."""
    function, arguments, named = networks()[name]
    network = Network([seed, *name.encode()])
    for _ in range(count):
        function(network, *arguments, **named)
    return network
