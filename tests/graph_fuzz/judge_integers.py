"""Judges random graphs of integers by Python's integers: judge_integers.py --help.

graph_fuzz makes the graphs, whose constants, inputs and attributes are often where a double or 32 bits lose digits, and
computes them three times: by the reference interpreter, compiled, and compiled after a way through ONNX. Here each operator
is computed once more as graph/op_table.inc defines it, with nothing in common with the code that is judged.
"""
import argparse
import itertools
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "u8": 8, "u16": 16, "u32": 32, "u64": 64}


class Tensor:
    """Integers in row-major order; those of a bool are 0 and 1."""

    def __init__(self, dtype, shape, data):
        self.dtype, self.shape, self.data = dtype, tuple(shape), [int(x) for x in data]

    def __eq__(self, other):
        return (self.dtype, self.shape, self.data) == (other.dtype, other.shape, other.data)

    def at(self, index):
        return self.data[offset(self.shape, index)]


def limits(dtype):
    if dtype == "bool":
        return 0, 1
    bits = BITS[dtype]
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if dtype[0] == "i" else (0, (1 << bits) - 1)


def wrap(x, dtype):
    if dtype == "bool":
        return int(x != 0)
    x &= (1 << BITS[dtype]) - 1
    return x - (1 << BITS[dtype]) if dtype[0] == "i" and x >> BITS[dtype] - 1 else x


def offset(shape, index):
    at = 0
    for size, i in zip(shape, index):
        at = at * size + i
    return at


def indices(shape):
    return itertools.product(*map(range, shape))


def make(dtype, shape, element):
    """The tensor whose element at each index is what `element` gives, wrapped."""
    return Tensor(dtype, shape, [wrap(element(index), dtype) for index in indices(shape)])


def broadcast_shape(*shapes):
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    return tuple(next((size for size in sizes if size != 1), 1) for sizes in zip(*padded))


def broadcast(x, index):
    """The element of x, which broadcasts to a shape, at an index of that shape."""
    own = index[len(index) - len(x.shape):]
    return x.at([0 if size == 1 else i for size, i in zip(x.shape, own)])


def elementwise(dtype, function, *operands):
    shape = broadcast_shape(*(x.shape for x in operands))
    return make(dtype, shape, lambda index: function(*(broadcast(x, index) for x in operands)))


def truncated(a, b):
    """a / b toward zero, and 0 for b = 0."""
    if b == 0:
        return 0
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def remainder(a, b, truncate):
    if b == 0:
        return 0
    return a - truncated(a, b) * b if truncate else a % b


def power(a, b, dtype):
    if b < 0:
        return truncated(1, a ** (abs(b) % 2 or 2)) if abs(a) == 1 else 0
    return pow(a, b, 1 << BITS[dtype]) if dtype != "bool" else a ** b


def shifted(a, b, bits, left, signed):
    if not 0 <= b < bits:
        return -1 if signed and a < 0 else 0
    return a << b if left else a >> b


def clipped(x, attrs):
    if "min" in attrs:
        x = max(x, math.ceil(attrs["min"]))
    return min(x, math.floor(attrs["max"])) if "max" in attrs else x


def sign(x):
    return (x > 0) - (x < 0)


UNARY = {"identity": lambda x: x, "neg": lambda x: -x, "abs": abs, "sign": sign, "relu": lambda x: max(x, 0)}
BINARY = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": truncated,
    "min": min, "max": max, "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
    "mul_high": lambda a, b: (a * b + (1 << 31)) >> 32,
}
COMPARISONS = {
    "equal": lambda a, b: a == b, "less": lambda a, b: a < b, "less_equal": lambda a, b: a <= b,
    "greater": lambda a, b: a > b, "greater_equal": lambda a, b: a >= b,
}


def pad(x, attrs):
    rank, pads, mode = len(x.shape), attrs["pads"], attrs.get("mode", "constant")
    low, high = limits(x.dtype)
    value = attrs.get("value", 0)
    # A type's number nearest to the value, toward zero.
    fill = int(min(max(value, low), high)) if x.dtype != "bool" else int(value != 0)
    shape = [size + pads[d] + pads[d + rank] for d, size in enumerate(x.shape)]

    def source(i, size):
        if 0 <= i < size:
            return i
        if mode == "edge":
            return min(max(i, 0), size - 1)
        if mode == "wrap":
            return i % size
        if mode == "reflect":
            if size == 1:
                return 0
            phase = i % (2 * (size - 1))
            return min(phase, 2 * (size - 1) - phase)
        return None

    def element(index):
        at = [source(i - pads[d], x.shape[d]) for d, i in enumerate(index)]
        return fill if None in at else x.at(at)

    return make(x.dtype, shape, element)


def concat(operands, axis):
    def element(index):
        i = index[axis]
        for x in operands:
            if i < x.shape[axis]:
                return x.at(index[:axis] + (i,) + index[axis + 1:])
            i -= x.shape[axis]

    shape = list(operands[0].shape)
    shape[axis] = sum(x.shape[axis] for x in operands)
    return make(operands[0].dtype, shape, element)


def lines(x, axis):
    """The index without the axis, and the elements along it, of each line."""
    others = x.shape[:axis] + x.shape[axis + 1:]
    for index in indices(others):
        yield index, [x.at(index[:axis] + (i,) + index[axis:]) for i in range(x.shape[axis])]


def from_lines(x, axis, length, results, dtype):
    """Puts a list of `length` for each line of x in place of the line."""
    shape = x.shape[:axis] + (length,) + x.shape[axis + 1:]
    of = dict(results)
    return make(dtype, shape, lambda index: of[index[:axis] + index[axis + 1:]][index[axis]])


def reduce(op, x, attrs):
    axes, keep = attrs["axes"], attrs.get("keepdims", 1)
    kept = [d for d in range(len(x.shape)) if d not in axes]
    groups = {}
    for index in indices(x.shape):
        groups.setdefault(tuple(index[d] for d in kept), []).append(x.at(index))
    low, high = limits(x.dtype)
    # A mean's sum has 64 bits.
    wide = "i64" if x.dtype[0] == "i" else "u64"
    function = {"reduce_sum": sum, "reduce_prod": math.prod, "reduce_max": lambda v: max(v, default=low),
                "reduce_min": lambda v: min(v, default=high),
                "reduce_mean": lambda v: truncated(wrap(sum(v), wide), len(v))}[op]
    shape = [1 if d in axes else size for d, size in enumerate(x.shape) if keep or d not in axes]

    def element(index):
        full = iter(index)
        own = tuple(i for d in range(len(x.shape)) if keep or d not in axes for i in [next(full)] if d not in axes)
        return function(groups.get(own, []))

    return make(x.dtype, shape, element)


def arg_extreme(op, x, attrs):
    axis, last = attrs["axis"], attrs.get("select_last", 0)
    best = max if op == "arg_max" else min
    found = []
    for index, line in lines(x, axis):
        at = [i for i, value in enumerate(line) if value == best(line)]
        found.append((index, [at[-1 if last else 0]]))
    y = from_lines(x, axis, 1, found, "i64")
    return y if attrs.get("keepdims", 1) else Tensor("i64", x.shape[:axis] + x.shape[axis + 1:], y.data)


def scan(op, x, attrs):
    axis = attrs["axis"]

    def scanned(line):
        line = line[::-1] if attrs.get("reverse") else line
        running, out = (1 if op == "cum_prod" else 0), []
        for value in line:
            before = running
            running = wrap(running * value if op == "cum_prod" else running + value, x.dtype)
            out.append(before if attrs.get("exclusive") else running)
        return out[::-1] if attrs.get("reverse") else out

    return from_lines(x, axis, x.shape[axis], [(index, scanned(line)) for index, line in lines(x, axis)], x.dtype)


def top_k(x, attrs):
    axis, k, largest = attrs["axis"], attrs["k"], attrs.get("largest", 1)
    values, places = [], []
    for index, line in lines(x, axis):
        order = sorted(range(len(line)), key=lambda i: (-line[i] if largest else line[i], i))[:k]
        values.append((index, [line[i] for i in order]))
        places.append((index, order))
    return [from_lines(x, axis, k, values, x.dtype), from_lines(x, axis, k, places, "i64")]


def matmul(a, b, attrs):
    def oriented(x, transpose):
        return (x.shape[-1], x.shape[-2]) if transpose else x.shape[-2:]

    left, right = attrs.get("transpose_a", 0), attrs.get("transpose_b", 0)
    rows, inner = oriented(a, left)
    columns = oriented(b, right)[1]
    batch = broadcast_shape(a.shape[:-2], b.shape[:-2])

    def matrix(x, index, row, column, transpose):
        own = index[len(index) - (len(x.shape) - 2):] if len(x.shape) > 2 else ()
        own = tuple(0 if size == 1 else i for size, i in zip(x.shape, own))
        return x.at(own + ((column, row) if transpose else (row, column)))

    def element(index):
        *at, m, n = index
        at = tuple(at)
        return sum(matrix(a, at, m, k, left) * matrix(b, at, k, n, right) for k in range(inner))

    return make(attrs.get("to", a.dtype), batch + (rows, columns), element)


def gathered(op, x, where, attrs):
    def inside(i, size):
        return i + size if i < 0 else i

    if op == "gather":
        axis, rank = attrs["axis"], len(where.shape)
        shape = x.shape[:axis] + where.shape + x.shape[axis + 1:]
        return make(x.dtype, shape, lambda index: x.at(
            index[:axis] + (inside(where.at(index[axis:axis + rank]), x.shape[axis]),) + index[axis + rank:]))
    if op == "gather_elements":
        axis = attrs["axis"]
        return make(x.dtype, where.shape, lambda index: x.at(
            index[:axis] + (inside(where.at(index), x.shape[axis]),) + index[axis + 1:]))
    batch, width = attrs.get("batch_dims", 0), where.shape[-1]
    rank = len(where.shape) - 1

    def element(index):
        tuple_at = [inside(where.at(index[:rank] + (k,)), x.shape[batch + k]) for k in range(width)]
        return x.at(index[:batch] + tuple(tuple_at) + index[rank:])

    return make(x.dtype, where.shape[:-1] + x.shape[batch + width:], element)


def scattered(op, x, where, updates, attrs):
    combine = {"none": lambda old, new: new, "add": lambda old, new: old + new, "mul": lambda old, new: old * new,
               "min": min, "max": max}[attrs.get("reduction", "none")]
    data = list(x.data)
    for index in indices(updates.shape):
        if op == "scatter_elements":
            axis = attrs["axis"]
            i = where.at(index)
            at = index[:axis] + (i + x.shape[axis] if i < 0 else i,) + index[axis + 1:]
        else:
            rank = len(where.shape) - 1
            position = [where.at(index[:rank] + (k,)) for k in range(where.shape[-1])]
            at = tuple(i + x.shape[k] if i < 0 else i for k, i in enumerate(position)) + index[rank:]
        place = offset(x.shape, at)
        data[place] = wrap(combine(data[place], updates.at(index)), x.dtype)
    return Tensor(x.dtype, x.shape, data)


def moved(op, x, attrs):
    if op == "reshape":
        return Tensor(x.dtype, attrs["shape"], x.data)
    if op == "transpose":
        perm = attrs["perm"]
        back = [perm.index(d) for d in range(len(perm))]
        return make(x.dtype, [x.shape[p] for p in perm], lambda index: x.at([index[b] for b in back]))
    if op == "broadcast":
        return make(x.dtype, attrs["shape"], lambda index: broadcast(x, index))
    return make(x.dtype, attrs["sizes"], lambda index: x.at(
        [start + i * step for start, i, step in zip(attrs["starts"], index, attrs["steps"])]))  # slice


def evaluate(node, operands):
    """The results of a node, as a list."""
    op, attrs, x = node["op"], node["attrs"], operands[0]
    if op in UNARY:
        return [elementwise(x.dtype, UNARY[op], x)]
    if op in BINARY:
        return [elementwise(x.dtype, BINARY[op], *operands)]
    if op in COMPARISONS:
        return [elementwise("bool", COMPARISONS[op], *operands)]
    if op == "not":
        return [elementwise(x.dtype, (lambda v: 1 - v) if x.dtype == "bool" else (lambda v: ~v), x)]
    if op == "clip":
        return [elementwise(x.dtype, lambda v: clipped(v, saturated(attrs, x.dtype)), x)]
    if op == "cast":
        return [elementwise(attrs["to"], lambda v: v, x)]
    if op == "mod":
        return [elementwise(x.dtype, lambda a, b: remainder(a, b, attrs.get("truncate", 0)), *operands)]
    if op == "pow":
        wide = "i64" if x.dtype[0] == "i" else "u64"
        return [elementwise(x.dtype, lambda a, b: power(a, wrap(b, wide), wide), *operands)]
    if op in ("shift_left", "shift_right"):
        return [elementwise(x.dtype, lambda a, b: shifted(a, b, BITS[x.dtype], op == "shift_left", x.dtype[0] == "i"),
                            *operands)]
    if op == "where":
        return [elementwise(operands[1].dtype, lambda c, a, b: a if c else b, *operands)]
    if op in ("reshape", "transpose", "broadcast", "slice"):
        return [moved(op, x, attrs)]
    if op == "pad":
        return [pad(x, attrs)]
    if op == "concat":
        return [concat(operands, attrs["axis"])]
    if op.startswith("reduce_"):
        return [reduce(op, x, attrs)]
    if op.startswith("arg_"):
        return [arg_extreme(op, x, attrs)]
    if op.startswith("cum_"):
        return [scan(op, x, attrs)]
    if op == "top_k":
        return top_k(x, attrs)
    if op == "matmul":
        return [matmul(*operands, attrs)]
    if op.startswith("gather"):
        return [gathered(op, *operands, attrs)]
    if op.startswith("scatter"):
        return [scattered(op, *operands, attrs)]
    raise NotImplementedError(op)


def saturated(attrs, dtype):
    """A clip's limits as the type holds them, after rounding inwards."""
    low, high = limits(dtype)
    rounded = {"min": math.ceil, "max": math.floor}
    return {name: min(max(rounded[name](value), low), high) for name, value in attrs.items()}


def complaints(case):
    """Returns the faults of a case, as sentences."""
    values = {name: Tensor(**tensor) for name, tensor in case["tensors"].items()}
    for node in case["nodes"]:
        values.update(zip(node["outputs"], evaluate(node, [values[name] for name in node["operands"]])))
    for output in case["outputs"]:
        right = values[output["value"]]
        for who in ("reference", "compiled", "imported"):
            if output[who] is not None and Tensor(**output[who]) != right:
                yield f"{output['value']}: {who} gives {output[who]['data'][:8]}, right is {right.data[:8]}"


def main():
    parser = argparse.ArgumentParser(description="Random graphs of integers, judged by Python's integers")
    parser.add_argument("--graph-fuzz", default="build/release/bin/graph_fuzz")
    parser.add_argument("--seed", type=int, default=1, help="of the first graph")
    parser.add_argument("--graphs", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    judged = by_onnx = wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "cases"
        made = subprocess.run([arguments.graph_fuzz, "--integers", path, "--seed", str(arguments.seed), "--graphs",
                               str(arguments.graphs), "--jobs", str(arguments.jobs)], check=False)
        with open(path, encoding="utf-8") as cases:
            for case in map(json.loads, cases):
                judged += 1
                by_onnx += all(output["imported"] is not None for output in case["outputs"])
                for sentence in complaints(case):
                    wrong += 1
                    print(f"seed {case['seed']}: {sentence}")
    print(f"{judged} graphs judged, {by_onnx} of them by way of ONNX too; {wrong} wrong")
    return 1 if wrong or made.returncode or judged == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
