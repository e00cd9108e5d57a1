#!/usr/bin/env python3
"""check_attention.py [--seed N] [--count N]    ONNX's Attention gives what the standard's reference gives

Draws combinations of opset, type, heads, masks, caches, caps and further outputs, and compares each with onnx's
reference implementation, which computes in f64. Needs the package onnx.
"""
import math
import os
import pathlib
import sys
import tempfile

import numpy

from checks import SKIPPED, check_drawn
from common.program import Failed
from comparing import Expected, compare_all
from peers import run_attune

try:
    import onnx
    from onnx import helper, numpy_helper
    from onnx.reference import ReferenceEvaluator
except ImportError:
    print("the Python package onnx is missing; this check needs it (tools/setup.sh python)")
    sys.exit(1 if os.environ.get("CI") else SKIPPED)

FLOAT, FLOAT16, DOUBLE, BFLOAT16 = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE,
                                    onnx.TensorProto.BFLOAT16)
# The absolute and relative tolerance, the narrowest type last; it decides. The reference takes the root of the scale in
# f32. Scores of 16 bits are rounded, which the softmax makes an error of all weights.
TYPES = {DOUBLE: (1e-7, 1e-6), FLOAT: (1e-5, 1e-4), FLOAT16: (1e-2, 1e-2), BFLOAT16: (8e-2, 8e-2)}
INPUTS = ["q", "k", "v", "mask", "past_key", "past_value", "valid"]
OUTPUTS = ["y", "present_key", "present_value", "scores"]


class Case:
    """One node with its inputs. Floats are held as f64, but are numbers of the case's type."""

    def __init__(self, random):
        self.random = random
        self.opset = int(random.choice([23, 24, 25]))
        self.type = int(random.choice([FLOAT, FLOAT, FLOAT16, BFLOAT16, DOUBLE]))
        self.batch = int(random.integers(1, 4))
        self.kv_heads, self.shared_by = (int(random.integers(1, 4)), int(random.choice([1, 1, 2, 3])))
        self.queries, self.keys = int(random.integers(1, 7)), int(random.integers(1, 8))
        self.size, self.value_size = (int(random.choice([1, 3, 4, 8, 16])) for _ in range(2))
        self.past = int(random.integers(0, 6)) if random.random() < 0.35 else None
        self.attributes, self.arrays = {}, {}
        self.draw_operands()
        self.draw_attributes()
        self.draw_mask()
        floats = [name for name in self.arrays if name != "valid"]
        self.constants = {name for name in floats if name != "q" and random.random() < 0.15}
        self.outputs = self.draw_outputs()

    # ---- What is drawn

    def chance(self, probability):
        return self.random.random() < probability

    def floats(self, *shape):
        spread = self.random.choice([0.5, 1] if self.type in (FLOAT16, BFLOAT16) else [0.5, 1, 3])
        return self.rounded(self.random.standard_normal(shape) * spread)

    def rounded(self, values):
        if self.type == BFLOAT16:
            bits = numpy.ascontiguousarray(values, dtype=numpy.float32).view(numpy.uint32) & 0xFFFF0000
            return bits.view(numpy.float32).astype(numpy.float64)
        return values.astype(helper.tensor_dtype_to_np_dtype(self.type)).astype(numpy.float64)

    def draw_operands(self):
        heads = self.kv_heads * self.shared_by
        shapes = {"q": (self.batch, heads, self.queries, self.size),
                  "k": (self.batch, self.kv_heads, self.keys, self.size),
                  "v": (self.batch, self.kv_heads, self.keys, self.value_size)}
        flat = self.chance(0.4)
        for name, (batch, count, length, size) in shapes.items():
            self.arrays[name] = self.floats(*((batch, length, count * size) if flat else shapes[name]))
        if flat:
            self.attributes.update(q_num_heads=heads, kv_num_heads=self.kv_heads)
        if self.past is not None:
            self.arrays["past_key"] = self.floats(self.batch, self.kv_heads, self.past, self.size)
            self.arrays["past_value"] = self.floats(self.batch, self.kv_heads, self.past, self.value_size)
        elif self.opset >= 24 and self.chance(0.4):
            self.arrays["valid"] = self.random.integers(0, self.keys, self.batch, endpoint=True)

    def draw_attributes(self):
        optional = {"is_causal": (0.5, [1]), "softcap": (0.5, [0.0, 0.5, 2.0, 30.0]), "scale": (0.3, [0.1, 0.5, 1.0]),
                    "softmax_precision": (0.3, [*TYPES])}
        if self.opset >= 25:
            optional.update(left_window_size=(0.3, [0, 1, 3]), right_window_size=(0.3, [0, 1, 3]))
        for name, (probability, values) in optional.items():
            if self.chance(probability):
                self.attributes[name] = self.random.choice(values).item()

    def draw_mask(self):
        kind = self.random.choice(["none", "bool", "float"])
        if kind == "none":
            return
        keys = self.keys + (self.past or 0)
        length = keys
        if self.opset >= 24 and keys > 1 and self.chance(0.25):  # a shorter one, but as long as what is valid
            least = max([2, *self.arrays.get("valid", [])])
            length = int(self.random.integers(min(least, keys), keys, endpoint=True))
        shape = [self.batch, self.kv_heads * self.shared_by, self.queries, length]
        shape = [1 if axis < 3 and self.chance(0.3) else size for axis, size in enumerate(shape)]
        shape = shape[int(self.random.integers(0, 3)):]
        allowed = self.random.random(shape) < self.random.choice([0.3, 0.8, 1])
        if self.chance(0.3):
            allowed &= self.random.random([*shape[:-1], 1]) < 0.7  # some queries without a key
        self.arrays["mask"] = allowed if kind == "bool" else numpy.where(allowed, self.floats(*shape), -math.inf)

    def draw_outputs(self):
        if self.chance(0.4):
            return ["y"]
        self.attributes["qk_matmul_output_mode"] = int(self.random.integers(0, 4))
        return ["y", "", "", "scores"] if "valid" in self.arrays or self.chance(0.4) else OUTPUTS

    # ---- What comes of it

    def model(self, type_, arrays, constants=(), **attributes):
        """The model with floats of the type, bf16 being cast from and to f32."""
        given = FLOAT if type_ == BFLOAT16 else type_
        kinds = {"b": onnx.TensorProto.BOOL, "i": onnx.TensorProto.INT64, "f": given}
        types = {name: kinds[array.dtype.kind] for name, array in arrays.items()}
        casts = [name for name in arrays if given != type_ and types[name] == given]
        nodes = [helper.make_node("Cast", [name], [f"{name}_cast"], to=type_) for name in casts]
        names = [f"{name}_cast" if name in casts else name if name in arrays else "" for name in INPUTS]
        while not names[-1]:
            names.pop()
        nodes.append(helper.make_node("Attention", names, [f"{name}_made" if name else "" for name in self.outputs],
                                      name="attention", **{**self.attributes, **attributes}))
        outputs = [name for name in self.outputs if name]
        nodes += [helper.make_node("Cast", [f"{name}_made"], [name], to=given) for name in outputs]
        as_given = {name: self.convert(array, types[name]) for name, array in arrays.items()}
        graph = helper.make_graph(
            nodes, "attention",
            [helper.make_tensor_value_info(name, types[name], array.shape) for name, array in as_given.items()
             if name not in constants],
            [helper.make_tensor_value_info(name, given, None) for name in outputs],
            [numpy_helper.from_array(as_given[name], name) for name in constants])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=11)
        return model, {name: array for name, array in as_given.items() if name not in constants}

    @staticmethod
    def convert(array, type_):
        return array.astype(helper.tensor_dtype_to_np_dtype(type_))

    def reference(self, **attributes):
        """The reference's outputs, all in f64."""
        arrays = dict(self.arrays)
        if "mask" in arrays and arrays["mask"].shape[-2] == 1:
            # It takes the number of queries from the mask.
            shape = arrays["mask"].shape
            arrays["mask"] = numpy.broadcast_to(arrays["mask"], [*shape[:-2], self.queries, shape[-1]])
        model, inputs = self.model(DOUBLE, arrays, **attributes)
        with numpy.errstate(all="ignore"):
            return ReferenceEvaluator(model).run(None, inputs)

    def expected(self):
        outputs = self.reference()
        if "scores" in self.outputs and self.attributes["qk_matmul_output_mode"] == 0:
            # Without the cap, as the standard's text and function say; its reference gives capped scores.
            outputs[-1] = self.reference(softcap=0.0)[-1]
        given = FLOAT if self.type == BFLOAT16 else self.type
        names = [name for name in self.outputs if name]
        return [Expected(name, self.convert(values, given), "float", tolerance=self.tolerance())
                for name, values in zip(names, outputs)]

    def tolerance(self):
        return max(TYPES[self.type], TYPES[self.attributes.get("softmax_precision", self.type)])

    def describe(self):
        shapes = ", ".join(f"{name} {list(array.shape)}" for name, array in self.arrays.items())
        return f"opset {self.opset}, type {self.type}, {self.attributes}, {shapes}, outputs {self.outputs}"


def check_case(seed):
    """Returns None, or what is wrong."""
    case = Case(numpy.random.default_rng(seed))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        model, inputs = case.model(case.type, case.arrays, case.constants)
        onnx.save(model, path)
        try:
            actual = run_attune(path, inputs)
        except Failed as error:
            return f"seed {seed}: {case.describe()}\n{error}"
    good, text = compare_all(actual, case.expected())
    return None if good else f"seed {seed}: {case.describe()}\n{text}"


check_drawn(__doc__, "nodes", check_case)
