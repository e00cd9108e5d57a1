#!/usr/bin/env python3
"""check_data_dependent.py [--seed N] [--count N]    what follows a size that data decides is right, or NS

Draws operators after NonZero, Compress, Unique and NonMaxSuppression. Each model gives what onnxruntime gives, or is
refused as not supported, with its node and the reason. Data leaves nothing, one element, some, or all.
"""
import argparse
import pathlib
import tempfile

import numpy
import onnxruntime

from checks import end_to_end
from common.program import NOT_SUPPORTED, Failed, onnxruntime_session
from comparing import Expected, compare_all
from onnx_writer import Model
from peers import not_supported, run_attune

LEAST_RIGHT = 0.1  # of all models: a refusal says nothing about values


class Refused(Exception):
    """onnxruntime does not run the model."""


class Case:
    """A model that grows by an operator at a time, and the values that onnxruntime gives."""

    def __init__(self, seed, folder):
        self.random = numpy.random.default_rng(seed)
        self.path = pathlib.Path(folder) / "model.onnx"
        self.model, self.inputs, self.steps = Model(opset=18), {}, []
        self.value, self.array = None, None
        self.others = []  # earlier values, which an operator may take too
        self.take(*self.source())
        for _ in range(int(self.random.integers(1, 4))):
            self.grow()

    # ---- Growing

    def source(self):
        return self.pick([self.non_zero, self.compress, self.unique, self.suppression])()

    def pick(self, choices):
        return choices[int(self.random.integers(0, len(choices)))]

    def chance(self, probability):
        return self.random.random() < probability

    def size(self):
        return int(self.random.integers(1, 5))

    def axis(self):
        return int(self.random.integers(0, self.array.ndim))

    def ints(self, *values):
        return self.model.constant(numpy.array(values, dtype=numpy.int64))

    def floats(self, *shape):
        return self.model.constant(self.random.standard_normal(shape).astype(numpy.float32))

    def flags(self, *shape):
        share = self.pick([0, 0.3, 0.7, 1])
        flags = self.random.random(shape) < share
        if share == 0 and self.chance(0.5):
            flags.flat[int(self.random.integers(0, flags.size))] = True
        return flags

    def given(self, array):
        name = self.model.input(*array.shape, dtype=str(array.dtype))
        self.inputs[name] = array
        return name

    def evaluate(self, value):
        self.model.write(self.path, value)
        quiet = onnxruntime.RunOptions()
        quiet.log_severity_level = 4
        try:
            return onnxruntime_session(self.path).run(None, self.inputs, quiet)[0]
        except Exception as error:  # whatever it raises
            raise Refused(str(error)) from None

    def take(self, value, dtype, what):
        """Appends an operator whose output this is, as floats."""
        if dtype != "float32":
            value = self.model.node("Cast", value, to=1)
        array = self.evaluate(value)
        if self.value is not None:
            self.others.append((self.value, self.array))
        self.value, self.array = value, array
        self.steps.append(f"{what} {list(array.shape)}")

    def grow(self):
        """Appends an operator that onnxruntime runs, unless none of a few does."""
        for _ in range(8):
            parts = list(self.model.parts)
            operator = self.pick(OPERATORS)
            try:
                self.take(operator(self), "float32", operator.__name__)
                return
            except (Refused, ValueError, IndexError):  # it does not take this shape
                self.model.parts = parts

    # ---- Sizes that data decides

    def non_zero(self):
        shape = [self.size() for _ in range(self.size() % 3 + 1)]
        found = self.model.node("NonZero", self.given(self.flags(*shape)))
        if self.chance(0.5):
            found = self.model.node("Transpose", found)
        return found, "int64", "NonZero"

    def compress(self):
        shape = [self.size() for _ in range(self.size() % 3 + 1)]
        x = self.given(self.random.standard_normal(shape).astype(numpy.float32))
        axis = int(self.random.integers(0, len(shape)))
        if self.chance(0.3):
            return self.model.node("Compress", x, self.given(self.flags(int(numpy.prod(shape))))), "float32", "Compress"
        return self.model.node("Compress", x, self.given(self.flags(shape[axis])), axis=axis), "float32", "Compress"

    def unique(self):
        x = self.given(self.random.integers(0, self.size(), self.size() + 2).astype(numpy.float32))
        return self.model.node("Unique", x), "float32", "Unique"

    def suppression(self):
        count = self.size() + 1
        corners = self.random.random((1, count, 2)).astype(numpy.float32)
        boxes = numpy.concatenate([corners, corners + self.random.random((1, count, 2)).astype(numpy.float32)], 2)
        scores = self.random.random((1, self.size(), count)).astype(numpy.float32)
        limits = [self.ints(self.size()), self.floats_of(0.5), self.floats_of(self.pick([0.0, 0.6, 2.0]))]
        found = self.model.node("NonMaxSuppression", self.given(boxes), self.given(scores), *limits)
        return found, "int64", "NonMaxSuppression"

    def floats_of(self, *values):
        return self.model.constant(numpy.array(values, dtype=numpy.float32))

    def describe(self):
        return ", ".join(self.steps)


# ---- Operators: each appends nodes and returns the output

def activation(c):
    return c.model.node(c.pick(["Relu", "Neg", "Sigmoid", "Abs", "Floor", "Exp", "Softsign"]), c.value)


def with_number(c):
    return c.model.node(c.pick(["Add", "Mul", "Sub", "Max"]), c.value, c.floats())


def with_constant(c):
    shape = [1 if c.chance(0.4) else size for size in c.array.shape][c.pick([0, 0, 1]):]
    operands = [c.value, c.floats(*shape)]
    return c.model.node(c.pick(["Add", "Mul", "Min", "PRelu"]), *operands)


def with_other(c):
    other, _ = c.pick(c.others or [(c.value, c.array)])
    return c.model.node(c.pick(["Add", "Mul", "Max"]), c.value, other)


def compared(c):
    flags = c.model.node(c.pick(["Less", "Greater"]), c.value, c.floats(*c.array.shape[-1:]))
    return c.model.node("Where", flags, c.value, c.floats())


def transposed(c):
    return c.model.node("Transpose", c.value, perm=[int(i) for i in c.random.permutation(c.array.ndim)])


def reshaped(c):
    shape = [int(size) for size in c.array.shape]
    total = int(numpy.prod(shape))
    by_number = list(shape)
    by_number[c.axis()] = -1
    kept = [0 if c.chance(0.5) else size for size in shape]
    factors = [size for size in range(1, 7) if total % size == 0]
    choices = [[-1], shape, by_number, kept, [-1, c.pick(factors)], [c.pick(factors), -1], [*shape, 1], [1, *kept],
               [c.pick(factors), -1, 1], [0, -1]]
    return c.model.node("Reshape", c.value, c.ints(*c.pick(choices)))


def squeezed(c):
    if c.chance(0.4):
        return c.model.node("Squeeze", c.value)
    return c.model.node("Squeeze", c.value, c.ints(c.axis()))


def unsqueezed(c):
    return c.model.node("Unsqueeze", c.value, c.ints(int(c.random.integers(0, c.array.ndim + 1))))


def flattened(c):
    return c.model.node("Flatten", c.value, axis=int(c.random.integers(0, c.array.ndim + 1)))


def sliced(c):
    step = c.pick([1, 1, 1, 2, -1])
    ends = [int(c.random.integers(-3, 8)) for _ in range(2)] if c.chance(0.5) else [0, c.pick([-1, -2, 1, 2, 1 << 60])]
    start, end = ends if step > 0 else (-1, c.pick([-3, -(1 << 60)]))
    return c.model.node("Slice", c.value, *(c.ints(i) for i in (start, end, c.axis(), step)))


def gathered(c):
    axis = c.axis()
    indices = c.random.integers(0, max(c.array.shape[axis], 1), c.pick([(), (2,), (2, 2)]))
    return c.model.node("Gather", c.value, c.model.constant(indices.astype(numpy.int64)), axis=axis)


def as_indices(c):
    indices = c.model.node("Cast", c.model.node("Mod", c.model.node("Floor", c.value), c.floats_of(3), fmod=1), to=7)
    return c.model.node("Gather", c.floats(3, 2), c.model.node("Abs", indices))


def as_many_indices(c):
    depth = c.array.shape[-1]
    if not 0 < depth <= 3:
        raise ValueError(depth)
    indices = c.model.node("Cast", c.model.node("Mod", c.model.node("Floor", c.value), c.floats_of(3), fmod=1), to=7)
    return c.model.node("GatherND", c.floats(3, 3, 3), c.model.node("Abs", indices))


def concatenated(c):
    axis, shape = c.axis(), list(c.array.shape)
    shape[axis] = c.size()
    return c.model.node("Concat", c.value, c.pick([c.value, c.floats(*shape)]), axis=axis)


def expanded(c):
    shape = [int(size) for size in c.array.shape]
    choices = [shape, [c.size(), *shape], [1 for _ in shape], [c.size() if size == 1 else size for size in shape]]
    return c.model.node("Expand", c.value, c.ints(*c.pick(choices)))


def tiled(c):
    return c.model.node("Tile", c.value, c.ints(*(c.size() % 2 + 1 for _ in c.array.shape)))


def padded(c):
    pads = [int(c.chance(0.3)) for _ in range(2 * c.array.ndim)]
    return c.model.node("Pad", c.value, c.ints(*pads))


def split(c):
    axis = c.axis()
    return c.pick(c.model.node_of("Split", 2, c.value, axis=axis, num_outputs=2))


def multiplied(c):
    if c.chance(0.5):
        return c.model.node("MatMul", c.value, c.floats(c.array.shape[-1], c.size()))
    return c.model.node("MatMul", c.floats(c.size(), c.array.shape[-min(2, c.array.ndim)]), c.value)


def multiplied_by_itself(c):
    return c.model.node("MatMul", c.value, c.model.node("Transpose", c.value))


def gemm(c):
    if c.array.ndim != 2:
        raise ValueError(c.array.ndim)
    transposed_x = int(c.chance(0.5))
    rows, inner = c.array.shape[::-1] if transposed_x else c.array.shape
    columns = c.size()
    addend = c.pick([(columns,), (1, columns), (rows, 1), (rows, columns), ()])
    return c.model.node("Gemm", c.value, c.floats(inner, columns), c.floats(*addend), transA=transposed_x)


def einsum(c):
    if c.array.ndim == 1:
        return c.model.node("Einsum", c.value, *([c.value] if c.chance(0.5) else [c.floats(*c.array.shape)]),
                            equation=c.pick(["i,i->i", "i,i->", "i,j->ij"]))
    if c.array.ndim != 2:
        raise ValueError(c.array.ndim)
    rows, columns = c.array.shape
    equation, shape = c.pick([("ij->ji", None), ("ij->j", None), ("ij->i", None), ("ij->", None),
                              ("ij,jk->ik", (columns, 2)), ("ij,ik->jk", (rows, 2)), ("ij,ij->i", (rows, columns)),
                              ("ij,j->i", (columns,))])
    return c.model.node("Einsum", c.value, *([] if shape is None else [c.floats(*shape)]), equation=equation)


def reduced(c):
    op = c.pick(["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2"])
    keepdims = int(c.chance(0.5))
    return c.model.node(op, c.value, *([c.ints(c.axis())] if c.chance(0.7) else []), keepdims=keepdims)


def best(c):
    return c.model.node("Cast", c.model.node(c.pick(["ArgMax", "ArgMin"]), c.value, axis=c.axis()), to=1)


def top(c):
    values, indices = c.model.node_of("TopK", 2, c.value, c.ints(1), axis=c.axis())
    return c.pick([values, c.model.node("Cast", indices, to=1)])


def along_axis(c):
    op = c.pick(["Softmax", "LogSoftmax", "Hardmax", "CumSum"])
    return c.model.node(op, c.value, c.ints(c.axis())) if op == "CumSum" else c.model.node(op, c.value, axis=c.axis())


def normalized(c):
    return c.model.node("LayerNormalization", c.value, c.floats(c.array.shape[-1]), axis=-1)


def shape_of(c):
    return c.model.node("Cast", c.model.node(c.pick(["Shape", "Size"]), c.value), to=1)


def shaped_like(c):
    return c.model.node("Expand", c.floats(1), c.model.node("Shape", c.value))


def one_hot(c):
    return c.model.node("OneHot", c.model.node("Cast", c.value, to=7), c.ints(3), c.floats_of(0, 1))


def searched_again(c):
    return c.model.node("Cast", c.model.node("NonZero", c.value), to=1)


def compressed_again(c):
    axis = c.axis()
    return c.model.node("Compress", c.value, c.model.constant(c.flags(c.array.shape[axis])), axis=axis)


def scattered(c):
    """Several elements may go to one position, whose result does not depend on their order."""
    if c.array.ndim != 1:
        raise ValueError(c.array.shape)
    indices = c.model.node("Cast", c.model.node("Mod", c.model.node("Floor", c.value), c.floats_of(3), fmod=1), to=7)
    indices, reduction = c.model.node("Abs", indices), c.pick(["add", "mul", "max"])
    if c.chance(0.5):
        return c.model.node("ScatterElements", c.floats(4), indices, c.value, axis=0, reduction=reduction)
    return c.model.node("ScatterND", c.floats(4), c.model.node("Unsqueeze", indices, c.ints(1)), c.value,
                        reduction=reduction)


def replaced(c):
    """x at the positions that flags choose, each of which is chosen once, becomes a function of what it was."""
    shape = [c.size() for _ in range(c.pick([1, 1, 2, 3]))]
    x = c.given(c.random.standard_normal(shape).astype(numpy.float32))
    positions = c.model.node("NonZero", c.given(c.flags(*shape)))
    reduction = c.pick(["none", "none", "add", "mul", "min"])
    activation = c.pick(["Neg", "Exp", "Abs", "Sigmoid"])
    if len(shape) == 1 and c.chance(0.5):
        positions = c.model.node("Squeeze", positions, c.ints(0))
        updates = c.model.node(activation, c.model.node("GatherElements", x, positions, axis=0))
        return c.model.node("ScatterElements", x, positions, updates, axis=0, reduction=reduction)
    positions = c.model.node("Transpose", positions)
    updates = c.model.node(activation, c.model.node("GatherND", x, positions))
    return c.model.node("ScatterND", x, positions, updates, reduction=reduction)


OPERATORS = [activation, with_number, with_constant, with_other, compared, transposed, reshaped, squeezed, unsqueezed,
             flattened, sliced, gathered, as_indices, as_many_indices, concatenated, expanded, tiled, padded, split,
             multiplied, multiplied_by_itself, gemm, einsum, reduced, best, top, along_axis, normalized, shape_of,
             shaped_like, one_hot, searched_again, compressed_again, scattered, replaced]


def check_case(seed):
    """Returns ("right" or "NS", None), or ("wrong", why)."""
    with tempfile.TemporaryDirectory() as folder:
        case = Case(seed, folder)
        case.model.write(case.path, case.value)
        expected = [Expected("y", case.array, "float")]
        try:
            good, text = compare_all(run_attune(case.path, case.inputs), expected)
        except Failed as error:
            lines = str(error).splitlines()[1:]
            good, text = bool(not_supported(error)) and all(line.startswith(NOT_SUPPORTED) for line in lines), str(error)
            if good:
                return "NS", text
    return ("right", None) if good else ("wrong", f"seed {seed}: {case.describe()}\n{text}")


def check(first, count):
    results = [check_case(seed) for seed in range(first, first + count)]
    counts = {verdict: sum(other == verdict for other, _ in results) for verdict in ("right", "NS", "wrong")}
    print(f"{count} models: {counts}")
    if options.reasons:
        reasons = {line for verdict, text in results if verdict == "NS" for line in text.splitlines()[1:]}
        print("\n".join(sorted(reasons)))
    assert not counts["wrong"], "\n".join(text for verdict, text in results if verdict == "wrong")
    assert counts["right"] >= LEAST_RIGHT * count


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--count", type=int, default=100)
parser.add_argument("--reasons", action="store_true", help="print why models are not supported")
options = parser.parse_args()
end_to_end(lambda: check(options.seed, options.count))
