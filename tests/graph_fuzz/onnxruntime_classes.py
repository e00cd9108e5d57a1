"""Where onnxruntime differs from the reference, and who is right: one table, one row per class."""
import dataclasses
import json
import typing

import numpy


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    holds: typing.Callable[["Difference"], bool]
    why: str


class Difference:
    """The known facts about a graph for which onnxruntime exceeds the bounds, with the first node that does, if one
    does."""

    def __init__(self, graph):
        node = graph.get("node") or {}
        self.optimizer = graph.get("optimizer")  # without it the optimized model does not differ
        outputs = [apart for level in graph.get("differs", {}).values() for apart in level.values()]
        self.output_types = {apart.get("type") for apart in outputs}
        self.crash = graph.get("crash")
        self.pairs = graph.get("pairs", [])
        self.op = node.get("op")
        self.attrs = node.get("attrs", {})
        # "f32[2,3]" becomes "f32".
        self.types = [text.split("[")[0] for text in node.get("inputs", [])]
        self.shapes = [[int(size) for size in text.split("[")[1].rstrip("]").split(",") if size]
                       for text in node.get("inputs", []) if text]
        self.type = node.get("type", "").split("[")[0]
        self.actual, self.expected = node.get("actual"), node.get("expected")
        self.operand = node.get("operand")  # the first operand's number, if the shapes are the same


def saturates_pairs(d):
    left = {"matmul_integer": 0, "conv_integer": 1}.get(d.op)
    return left is not None and d.types[left] == "u8" and d.types[1 - left] == "i8"


def casts_beyond_range(d):
    if d.op != "cast" or d.types[0] not in ("f16", "bf16", "f32", "f64") or d.operand is None:
        return False
    bits = int(d.type[1:]) if d.type[1:].isdigit() and d.type[0] in "iu" else 0
    low, high = (0, 2 ** bits) if d.type[0] == "u" else (-2 ** (bits - 1), 2 ** (bits - 1)) if bits else (1, 0)
    return bits > 0 and not low - 1 < d.operand < high


def rounds_a_length(d):
    """A resize by corners whose length, scale times size in f32, is not an integer."""
    return (d.op == "resize" and d.attrs.get("coordinate_mode") in ("align_corners", "tf_crop_and_resize")
            and any(numpy.float32(scale * size) % 1 != 0 for scale, size in zip(d.attrs["scales"], d.shapes[0])))


def ignores_a_region(d):
    """A resize of a region that keeps the size along some axis without being the whole axis."""
    if d.op != "resize" or d.attrs.get("coordinate_mode") != "tf_crop_and_resize":
        return False
    regions = zip(d.attrs["roi"], d.attrs["roi"][len(d.attrs["scales"]):])
    return any(scale == 1 and region != (0, 1) for scale, region in zip(d.attrs["scales"], regions))


def saturates_product(d):
    if d.op != "reduce_prod" or d.type not in ("i32", "i64"):
        return False
    largest = 2.0 ** (int(d.type[1:]) - 1)
    return d.actual in (-largest, largest - 1, largest)


def normalizes_single_numbers(d):
    return (d.op == "group_norm" and d.attrs.get("groups") == d.shapes[0][1]
            and all(size == 1 for size in d.shapes[0][2:]))


def crashes_in_a_transposed_product(d):
    return (d.crash and d.optimizer in ("NchwcTransformer", "MatmulTransposeFusion") and not d.output_types
            and "transpose matmul" in d.pairs)


ROWS = (
    Row("u8 times i8 saturates", saturates_pairs,
        "without VNNI, onnxruntime sums pairs of u8 x i8 products in 16 bits, which saturate (vpmaddubsw); the exact "
        "integers are Attune's"),
    Row("fake quantization as integers", lambda d: d.optimizer == "integers",
        "onnxruntime's optimizer computes what lies between DequantizeLinear and QuantizeLinear in integers: biases "
        "rounded to i32, u8 x i8 saturating; Attune computes the floats that the model says"),
    Row("f64 scale in f32", lambda d: d.optimizer == "MatMulScaleFusion" and d.output_types == {"float64"},
        "onnxruntime's optimizer moves a factor of f64 into a matrix product whose scale is an f32; Attune keeps f64"),
    Row("zeros before a pool", lambda d: d.optimizer == "Pad_Fusion",
        "onnxruntime's optimizer makes zeros before a max pool the pool's own padding, which no maximum sees; in Attune "
        "they are zeros"),
    Row("transposition fused into a product", crashes_in_a_transposed_product,
        "onnxruntime crashes where MatmulTransposeFusion makes a transposition part of a product of f16, and "
        "NchwcTransformer comes after it; without either of them it gives what Attune gives"),
    Row("cast of what the integer type has not", casts_beyond_range,
        "ONNX leaves the result open; Attune saturates, and NaN is 0"),
    Row("integer product beyond range", saturates_product,
        "ONNX leaves the result open; Attune's wraps around, as all its sums and products do; onnxruntime's saturates"),
    Row("resize of a rounded length", rounds_a_length,
        "onnxruntime puts the last corner at the rounded length of the output; Attune, as ONNX's reference "
        "implementation and its test data, at scale times size"),
    Row("resize of a region without a scale", ignores_a_region,
        "onnxruntime ignores the region along an axis whose scale is 1; Attune takes it, as ONNX's reference "
        "implementation does"),
    Row("col2im of dilated rows", lambda d: d.op == "col2im" and len(d.attrs["image"]) == 1
        and d.attrs.get("dilations", [1]) != [1],
        "where images have one dimension, dilation and several channels, onnxruntime adds some elements to another "
        "channel; Attune's are the sums of ONNX's definition"),
    Row("normalization of single numbers", normalizes_single_numbers,
        "x - mean is 0, and the result the bias, which is Attune's; onnxruntime computes x s + (bias - mean s), whose "
        "terms are 300 times as large and rounded"),
    Row("is_nan of a bf16 scalar", lambda d: d.op == "is_nan" and d.types == ["bf16"] and d.shapes == [[]],
        "onnxruntime gives a scalar an axis; Attune keeps its shape"),
)


def find(graph):
    """The class of a graph that differs, or None."""
    difference = Difference(graph)
    return next((row for row in ROWS if row.holds(difference)), None)


def describe(graph):
    """Seed, node and values of an unexplained difference, on one line."""
    if "crash" in graph:
        return f"onnxruntime crashes: {graph['crash']}"
    apart = {level: next(iter(outputs.values()))["what"] for level, outputs in graph["differs"].items()}
    node = graph.get("node")
    if node is None:
        return f"{apart}, optimizer {graph.get('optimizer')}, no node differs by itself"
    return (f"{node['op']} {node['value']} ({', '.join(node['inputs'])}) {json.dumps(node['attrs'])}: {node['what']}; "
            f"outputs {apart}")
