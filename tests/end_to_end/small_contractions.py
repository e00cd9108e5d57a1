"""Small networks with one contraction each, of every kind and shape that strategies distinguish. CASES maps each name
to a function that adds the contraction to a Model (onnx_writer.py) and returns its output and the output's type."""
import numpy


def conv(x, w, dtype="float32", relu=True, behind=False, **attributes):
    """A convolution with a bias: an image of shape x, weights of shape w. `behind`: after a pointwise convolution."""
    def build(model):
        image = model.input(*x, dtype=dtype)
        if behind:
            image = model.node("Conv", image, model.weights(x[1], x[1], *[1] * len(x[2:]), dtype=dtype))
        y = model.node("Conv", image, model.weights(*w, dtype=dtype), model.weights(w[0], dtype=dtype), **attributes)
        return (model.node("Relu", y) if relu else y), dtype
    return build


def conv_behind(*arguments, **attributes):
    return conv(*arguments, behind=True, **attributes)


def conv_dynamic(x, w, **attributes):
    """A convolution whose weights are an input."""
    return lambda model: (model.node("Conv", model.input(*x), model.input(*w), **attributes), "float32")


def conv_transpose(x, w, **attributes):
    channels = w[1] * attributes.get("group", 1)
    return lambda model: (model.node("ConvTranspose", model.input(*x), model.weights(*w), model.weights(channels),
                                     **attributes), "float32")


def conv_integer(x, w, zero_points=(), types=("uint8", "int8"), **attributes):
    """`zero_points`: which of "x" and "w" have one."""
    def build(model):
        zeros = [model.weights(dtype=dtype) if which in zero_points else None for which, dtype in zip("xw", types)]
        y = model.node("ConvInteger", model.input(*x, dtype=types[0]), model.weights(*w, dtype=types[1]), *zeros,
                       **attributes)
        return model.node("Mul", model.node("Cast", y, to=1), model.weights(1)), "float32"
    return build


def quantization(model, dtype):
    """A scale and a zero point."""
    return model.constant(numpy.float32(0.02)), model.weights(dtype=dtype)


def qlinear_conv(x, w, **attributes):
    def build(model):
        return model.node("QLinearConv", model.input(*x, dtype="uint8"), *quantization(model, "uint8"),
                          model.weights(*w, dtype="int8"), *quantization(model, "int8"),
                          *quantization(model, "uint8"), model.weights(w[0], dtype="int32"), **attributes), "uint8"
    return build


def product(model, a, b, transposed="", bias=None, dtype="float32"):
    """The product of two values of rank 2 or more; the last two axes of the operands named in `transposed` are
    exchanged."""
    def turned(value, rank):
        return model.node("Transpose", value, perm=[*range(rank - 2), rank - 1, rank - 2])
    left = turned(a[0], a[1]) if "a" in transposed else a[0]
    right = turned(b[0], b[1]) if "b" in transposed else b[0]
    y = model.node("MatMul", left, right)
    return model.node("Relu", model.node("Add", y, model.weights(bias, dtype=dtype))) if bias else y


def matmul(a, b, transposed="", constant=True, bias=None, dtype="float32"):
    def build(model):
        right = (model.weights if constant else model.input)(*b, dtype=dtype)
        left = model.input(*a, dtype=dtype)
        return product(model, (left, len(a)), (right, len(b)), transposed, bias, dtype), dtype
    return build


def gemm(a, b, **attributes):
    columns = b[0] if attributes.get("transB") else b[1]
    return lambda model: (model.node("Gemm", model.input(*a), model.weights(*b), model.weights(columns), **attributes),
                          "float32")


def matmul_integer(a, b, zero_points=(), constant=True, types=("uint8", "int8")):
    """`zero_points`: which of "a" and "b" have one; "B" for one per column."""
    def build(model):
        zero_a = model.weights(dtype=types[0]) if "a" in zero_points else None
        zero_b = (model.weights(b[-1], dtype=types[1]) if "B" in zero_points
                  else model.weights(dtype=types[1]) if "b" in zero_points else None)
        right = (model.weights if constant else model.input)(*b, dtype=types[1])
        y = model.node("MatMulInteger", model.input(*a, dtype=types[0]), right, zero_a, zero_b)
        return model.node("Mul", model.node("Cast", y, to=1), model.weights(1)), "float32"
    return build


def qlinear_matmul(a, b):
    def build(model):
        return model.node("QLinearMatMul", model.input(*a, dtype="uint8"), *quantization(model, "uint8"),
                          model.weights(*b, dtype="int8"), *quantization(model, "int8"),
                          *quantization(model, "uint8")), "uint8"
    return build


def attention(heads, queries, keys, size, values=None, mask=False, projected=False):
    """softmax(q kᵀ / 8 + mask) v; q, k and v are inputs or, if `projected`, projections of inputs."""
    def build(model):
        def operand(count, width):
            if not projected:
                return model.input(1, heads, count, width)
            x = model.node("MatMul", model.input(1, count, heads * width), model.weights(heads * width, heads * width))
            shape = model.constant(numpy.array([1, count, heads, width]))
            return model.node("Transpose", model.node("Reshape", x, shape), perm=[0, 2, 1, 3])
        q, k, v = operand(queries, size), operand(keys, size), operand(keys, values or size)
        scores = model.node("Mul", product(model, (q, 4), (k, 4), "b"), model.constant(numpy.float32(0.125)))
        if mask:
            scores = model.node("Add", scores, model.input(1, 1, queries, keys))
        return model.node("MatMul", model.node("Softmax", scores, axis=-1), v), "float32"
    return build


def einsum(equation, a, b):
    return lambda model: (model.node("Einsum", model.input(*a), model.weights(*b), equation=equation), "float32")


def deform_conv(x, w):
    def build(model):
        height, width = x[2] - w[2] + 1, x[3] - w[3] + 1
        offset = model.input(x[0], 2 * w[2] * w[3], height, width)
        return model.node("DeformConv", model.input(*x), model.weights(*w), offset, kernel_shape=w[2:]), "float32"
    return build


def recurrent(op, gates, steps=10, batch=1, size=64):
    return lambda model: (model.node(op, model.input(steps, batch, size), model.weights(1, gates * size, size),
                                     model.weights(1, gates * size, size), hidden_size=size), "float32")


SAME = {"pads": [1, 1, 1, 1]}

CASES = {
    # Convolutions: ranks, channels, windows.
    "conv_1d": conv([1, 32, 200], [64, 32, 3], pads=[1, 1]),
    "conv_1d_pointwise": conv([1, 32, 200], [64, 32, 1]),
    "conv_1d_depthwise": conv_behind([1, 64, 200], [64, 1, 5], group=64),
    "conv_1d_grouped": conv_behind([1, 64, 200], [64, 16, 3], group=4),
    "conv_1d_one_channel": conv([1, 1, 4000], [32, 1, 64], strides=[16]),
    "conv_1d_one_channel_out": conv([1, 32, 200], [1, 32, 3]),
    "conv_1d_dilated": conv([1, 32, 200], [64, 32, 3], dilations=[4]),
    "conv_1d_batch": conv([8, 32, 200], [64, 32, 3]),
    "conv_2d": conv([1, 64, 28, 28], [64, 64, 3, 3], **SAME),
    "conv_2d_pointwise": conv([1, 64, 28, 28], [128, 64, 1, 1]),
    "conv_2d_one_pixel": conv([1, 64, 1, 1], [16, 64, 1, 1]),
    "conv_2d_strided": conv([1, 64, 28, 28], [64, 64, 3, 3], strides=[2, 2], **SAME),
    "conv_2d_strides_differ": conv([1, 64, 28, 28], [64, 64, 3, 3], strides=[2, 1], **SAME),
    "conv_2d_dilated": conv([1, 64, 28, 28], [64, 64, 3, 3], dilations=[2, 2], pads=[2, 2, 2, 2]),
    "conv_2d_wide_window": conv([1, 32, 28, 28], [32, 32, 7, 7], pads=[3, 3, 3, 3]),
    "conv_2d_whole_image": conv([1, 64, 7, 7], [128, 64, 7, 7]),
    "conv_2d_rectangular": conv([1, 64, 28, 28], [64, 64, 1, 7], pads=[0, 3, 0, 3]),
    "conv_2d_image": conv([1, 3, 112, 112], [32, 3, 3, 3], strides=[2, 2], **SAME),
    "conv_2d_patches": conv([1, 3, 112, 112], [192, 3, 16, 16], strides=[16, 16], relu=False),
    "conv_2d_gray_image": conv([1, 1, 28, 28], [8, 1, 5, 5], pads=[2, 2, 2, 2]),
    "conv_2d_few_channels": conv([1, 6, 28, 28], [6, 6, 3, 3], **SAME),
    "conv_2d_one_channel_out": conv([1, 32, 28, 28], [1, 32, 3, 3], **SAME),
    "conv_2d_three_channels_out": conv([1, 32, 28, 28], [3, 32, 3, 3], **SAME),
    "conv_2d_odd_channels": conv([1, 37, 28, 28], [53, 37, 3, 3], **SAME),
    "conv_2d_batch": conv([4, 32, 28, 28], [32, 32, 3, 3], **SAME),
    "conv_2d_weights_are_input": conv_dynamic([1, 32, 28, 28], [32, 32, 3, 3], **SAME),
    "conv_2d_f16": conv([1, 32, 28, 28], [32, 32, 3, 3], dtype="float16", **SAME),
    "conv_2d_f64": conv([1, 32, 28, 28], [32, 32, 3, 3], dtype="float64", **SAME),
    "conv_2d_depthwise": conv_behind([1, 64, 28, 28], [64, 1, 3, 3], group=64, **SAME),
    "conv_2d_depthwise_dilated": conv_behind([1, 64, 28, 28], [64, 1, 3, 3], group=64, dilations=[2, 2]),
    "conv_2d_depthwise_odd_channels": conv_behind([1, 37, 28, 28], [37, 1, 3, 3], group=37, **SAME),
    "conv_2d_depthwise_few_channels": conv([1, 3, 28, 28], [3, 1, 3, 3], group=3, **SAME),
    "conv_2d_depthwise_multiplied": conv_behind([1, 32, 28, 28], [64, 1, 3, 3], group=32, **SAME),
    "conv_2d_depthwise_weights_are_input": conv_dynamic([1, 64, 28, 28], [64, 1, 3, 3], group=64, **SAME),
    "conv_2d_groups_of_2": conv_behind([1, 64, 28, 28], [64, 2, 3, 3], group=32, **SAME),
    "conv_2d_groups_of_4": conv_behind([1, 128, 28, 28], [128, 4, 3, 3], group=32, **SAME),
    "conv_2d_groups_of_5": conv_behind([1, 40, 28, 28], [40, 5, 3, 3], group=8, **SAME),
    "conv_2d_groups_of_8": conv_behind([1, 64, 28, 28], [64, 8, 3, 3], group=8, **SAME),
    "conv_2d_groups_of_12": conv_behind([1, 48, 28, 28], [48, 12, 3, 3], group=4, **SAME),
    "conv_2d_groups_of_16": conv_behind([1, 64, 28, 28], [64, 16, 3, 3], group=4, **SAME),
    "conv_2d_groups_of_24": conv_behind([1, 96, 28, 28], [96, 24, 3, 3], group=4, **SAME),
    "conv_2d_groups_of_32": conv_behind([1, 64, 28, 28], [64, 32, 3, 3], group=2, **SAME),
    "conv_2d_groups_of_the_input": conv([1, 128, 28, 28], [128, 4, 3, 3], group=32, **SAME),
    "conv_2d_depthwise_of_the_input": conv([1, 64, 28, 28], [64, 1, 3, 3], group=64, **SAME),
    "conv_2d_groups_that_widen": conv_behind([1, 32, 28, 28], [64, 8, 3, 3], group=4, **SAME),
    "conv_2d_groups_pointwise": conv_behind([1, 60, 28, 28], [60, 20, 1, 1], group=3),
    "conv_3d": conv([1, 16, 8, 28, 28], [32, 16, 3, 3, 3], pads=[1] * 6),
    "conv_3d_pointwise": conv([1, 16, 8, 28, 28], [32, 16, 1, 1, 1]),
    "conv_3d_strided": conv([1, 16, 8, 28, 28], [32, 16, 3, 3, 3], strides=[2, 2, 2], pads=[1] * 6),
    "conv_3d_dilated": conv([1, 16, 8, 28, 28], [32, 16, 3, 3, 3], dilations=[1, 2, 2]),
    "conv_3d_image": conv([1, 3, 8, 56, 56], [16, 3, 3, 7, 7], strides=[1, 2, 2], pads=[1, 3, 3, 1, 3, 3]),
    "conv_3d_in_time": conv([1, 16, 8, 28, 28], [16, 16, 3, 1, 1], pads=[1, 0, 0, 1, 0, 0]),
    "conv_3d_in_space": conv([1, 16, 8, 28, 28], [16, 16, 1, 3, 3], pads=[0, 1, 1, 0, 1, 1]),
    "conv_3d_depthwise": conv_behind([1, 32, 8, 14, 14], [32, 1, 3, 3, 3], group=32, pads=[1] * 6),
    "conv_3d_grouped": conv_behind([1, 32, 8, 14, 14], [32, 8, 3, 3, 3], group=4, pads=[1] * 6),
    # Transposed convolutions.
    "conv_transpose_1d": conv_transpose([1, 32, 100], [32, 16, 4], strides=[2]),
    "conv_transpose_2d": conv_transpose([1, 32, 14, 14], [32, 16, 2, 2], strides=[2, 2]),
    "conv_transpose_2d_overlapping": conv_transpose([1, 32, 14, 14], [32, 16, 3, 3], strides=[2, 2],
                                                    output_padding=[1, 1], **SAME),
    "conv_transpose_2d_stride_1": conv_transpose([1, 32, 14, 14], [32, 16, 3, 3], **SAME),
    "conv_transpose_2d_stride_3": conv_transpose([1, 32, 14, 14], [32, 16, 5, 5], strides=[3, 3]),
    "conv_transpose_2d_wide_padding": conv_transpose([1, 32, 14, 14], [32, 16, 9, 9], strides=[2, 2], pads=[4] * 4),
    "conv_transpose_2d_strides_differ": conv_transpose([1, 32, 14, 14], [32, 16, 3, 3], strides=[2, 1]),
    "conv_transpose_2d_dilated": conv_transpose([1, 32, 14, 14], [32, 16, 3, 3], strides=[2, 2], dilations=[2, 2]),
    "conv_transpose_2d_grouped": conv_transpose([1, 32, 14, 14], [32, 8, 4, 4], strides=[2, 2], group=2),
    "conv_transpose_2d_depthwise": conv_transpose([1, 32, 14, 14], [32, 1, 4, 4], strides=[2, 2], group=32),
    "conv_transpose_2d_one_channel_out": conv_transpose([1, 16, 28, 28], [16, 1, 2, 2], strides=[2, 2]),
    "conv_transpose_3d": conv_transpose([1, 16, 4, 14, 14], [16, 8, 2, 2, 2], strides=[2, 2, 2]),
    # Convolutions of integers.
    "conv_integer": conv_integer([1, 64, 28, 28], [64, 64, 3, 3], **SAME),
    "conv_integer_zero_point_of_x": conv_integer([1, 64, 28, 28], [64, 64, 3, 3], "x", **SAME),
    "conv_integer_zero_points": conv_integer([1, 64, 28, 28], [64, 64, 3, 3], "xw", **SAME),
    "conv_integer_u8_weights": conv_integer([1, 64, 28, 28], [64, 64, 3, 3], "xw", ("uint8", "uint8"), **SAME),
    "conv_integer_i8_image": conv_integer([1, 64, 28, 28], [64, 64, 3, 3], "x", ("int8", "int8"), **SAME),
    "conv_integer_pointwise": conv_integer([1, 64, 28, 28], [64, 64, 1, 1], "xw"),
    "conv_integer_image": conv_integer([1, 3, 112, 112], [32, 3, 3, 3], "xw", strides=[2, 2], **SAME),
    "conv_integer_few_channels": conv_integer([1, 3, 28, 28], [8, 3, 3, 3], "xw", **SAME),
    "conv_integer_depthwise": conv_integer([1, 64, 28, 28], [64, 1, 3, 3], "xw", group=64, **SAME),
    "conv_integer_grouped": conv_integer([1, 64, 28, 28], [64, 16, 3, 3], "xw", group=4, **SAME),
    "conv_integer_dilated": conv_integer([1, 64, 28, 28], [64, 64, 3, 3], "xw", dilations=[2, 2]),
    "conv_integer_1d": conv_integer([1, 32, 200], [64, 32, 3], "xw"),
    "conv_integer_3d": conv_integer([1, 16, 8, 14, 14], [32, 16, 3, 3, 3], "xw"),
    "qlinear_conv": qlinear_conv([1, 64, 28, 28], [64, 64, 3, 3], **SAME),
    "qlinear_conv_depthwise": qlinear_conv([1, 64, 28, 28], [64, 1, 3, 3], group=64, **SAME),
    "qlinear_conv_few_channels": qlinear_conv([1, 3, 28, 28], [8, 3, 3, 3], **SAME),
    # Matrix products.
    "matmul": matmul([128, 256], [256, 192]),
    "matmul_odd_sizes": matmul([37, 53], [53, 41]),
    "matmul_inputs": matmul([128, 256], [256, 192], constant=False),
    "matmul_transposed_a": matmul([256, 128], [256, 192], "a"),
    "matmul_transposed_b": matmul([128, 256], [192, 256], "b"),
    "matmul_transposed_b_input": matmul([128, 256], [192, 256], "b", constant=False),
    "matmul_transposed_both": matmul([256, 128], [192, 256], "ab", constant=False),
    "matmul_one_row": matmul([1, 256], [256, 192]),
    "matmul_one_row_transposed_b_input": matmul([1, 256], [192, 256], "b", constant=False),
    "matmul_one_column": matmul([128, 256], [256, 1]),
    "matmul_one_column_bias": matmul([128, 256], [256, 1], bias=1),
    "matmul_one_column_input": matmul([128, 256], [256, 1], constant=False),
    "matmul_one_row_and_column": matmul([1, 256], [256, 1], constant=False),
    "matmul_outer": matmul([128, 1], [1, 192], constant=False),
    "matmul_vector_a": lambda model: (model.node("MatMul", model.input(256), model.weights(256, 192)), "float32"),
    "matmul_vector_b": lambda model: (model.node("MatMul", model.input(128, 256), model.weights(256)), "float32"),
    "matmul_dot": lambda model: (model.node("MatMul", model.input(256), model.input(256)), "float32"),
    "matmul_two_columns": matmul([128, 256], [256, 2], bias=2),
    "matmul_bias": matmul([128, 256], [256, 192], bias=192),
    "matmul_3d": matmul([4, 128, 64], [64, 96]),
    "matmul_batched": matmul([4, 128, 64], [4, 64, 96]),
    "matmul_batched_inputs": matmul([4, 128, 64], [4, 64, 96], constant=False),
    "matmul_batched_transposed_a": matmul([4, 64, 128], [4, 64, 96], "a", constant=False),
    "matmul_batched_transposed_b": matmul([4, 128, 64], [4, 96, 64], "b", constant=False),
    "matmul_batched_one_row": matmul([4, 1, 64], [4, 64, 96], constant=False),
    "matmul_batched_one_column": matmul([4, 128, 64], [4, 64, 1], constant=False),
    "matmul_4d": matmul([2, 4, 32, 64], [2, 4, 64, 48], constant=False),
    "matmul_left_broadcast": matmul([128, 64], [4, 64, 96], constant=False),
    "matmul_batches_broadcast": matmul([2, 1, 32, 64], [1, 4, 64, 48], constant=False),
    "matmul_5d": matmul([2, 2, 2, 32, 64], [2, 2, 2, 64, 48], constant=False),
    "matmul_f16": matmul([128, 256], [256, 192], dtype="float16"),
    "matmul_f64": matmul([128, 256], [256, 192], dtype="float64"),
    "matmul_i32": matmul([128, 256], [256, 192], dtype="int32"),
    "matmul_i64": matmul([128, 256], [256, 192], dtype="int64"),
    "gemm": gemm([128, 256], [256, 192]),
    "gemm_transposed_b": gemm([1, 256], [192, 256], transB=1),
    "gemm_transposed_a": gemm([256, 128], [256, 192], transA=1),
    "gemm_transposed_both": gemm([256, 128], [192, 256], transA=1, transB=1),
    "gemm_one_column": gemm([128, 256], [1, 256], transB=1),
    "einsum_matmul": einsum("ij,jk->ik", [128, 64], [64, 96]),
    "einsum_batched": einsum("bij,bjk->bik", [4, 128, 64], [4, 64, 96]),
    "einsum_heads": einsum("bshd,hde->bse", [1, 32, 4, 16], [4, 16, 64]),
    "einsum_outer_batches": einsum("bhqd,bhkd->bhqk", [1, 4, 32, 16], [1, 4, 48, 16]),
    # Matrix products of integers.
    "matmul_integer": matmul_integer([128, 256], [256, 192]),
    "matmul_integer_zero_point_of_a": matmul_integer([128, 256], [256, 192], "a"),
    "matmul_integer_zero_points": matmul_integer([128, 256], [256, 192], "ab"),
    "matmul_integer_zero_points_of_columns": matmul_integer([128, 256], [256, 192], "aB"),
    "matmul_integer_inputs": matmul_integer([128, 256], [256, 192], "ab", constant=False),
    "matmul_integer_u8": matmul_integer([128, 256], [256, 192], "ab", types=("uint8", "uint8")),
    "matmul_integer_i8": matmul_integer([128, 256], [256, 192], "ab", types=("int8", "int8")),
    "matmul_integer_one_row": matmul_integer([1, 256], [256, 192], "ab"),
    "matmul_integer_one_column": matmul_integer([128, 256], [256, 1], "ab"),
    "matmul_integer_odd_sizes": matmul_integer([37, 53], [53, 41], "ab"),
    "matmul_integer_batched": matmul_integer([4, 32, 64], [4, 64, 48], "ab", constant=False),
    "qlinear_matmul": qlinear_matmul([128, 256], [256, 192]),
    # Attention.
    "attention": attention(4, 64, 64, 64),
    "attention_masked": attention(4, 64, 64, 64, mask=True),
    "attention_projected": attention(4, 64, 64, 64, projected=True),
    "attention_one_query": attention(4, 1, 64, 64),
    "attention_one_key": attention(4, 64, 1, 64),
    "attention_across": attention(4, 64, 77, 64),
    "attention_odd_sizes": attention(3, 37, 41, 20),
    "attention_narrow": attention(4, 64, 64, 8),
    "attention_one_value": attention(4, 64, 64, 32, values=1),
    "attention_wide": attention(1, 64, 64, 512),
    # Other contractions.
    "deform_conv": deform_conv([1, 16, 28, 28], [32, 16, 3, 3]),
    "lstm": recurrent("LSTM", 4),
    "gru": recurrent("GRU", 3),
    "rnn": recurrent("RNN", 1),
}
