#!/usr/bin/env python3
"""check_open_sizes.py NETWORK    a network that leaves sizes open is compiled once, and gives what onnxruntime gives at each size

The sizes are drawn after the artifact is written: 1, odd ones, edges of tiles, large ones.
"""
import pathlib
import sys
import tempfile

import numpy

from checks import MODELS, SKIPPED, end_to_end, need
from common.program import attune_json, onnxruntime_session
from comparing import Expected, compare
from peers import run_attune

try:
    import onnx
    from onnx import numpy_helper, parser
except ImportError:
    print("the Python package onnx is missing; this check needs it (tools/setup.sh python)")
    sys.exit(SKIPPED)

RANDOM = numpy.random.default_rng(11)
SIZES = (1, 2, 3, 7, 15, 16, 17, 33, 64, 100)

# Attention with positions and a causal mask that are made of the length, then the mean over it.
TEXT = """<ir_version: 9, opset_import: ["": 17]>
text (int64[batch, length] ids) => (float[batch, length, 32] states, float[batch, 32] mean) {
  embedded = Gather (table, ids)
  sizes = Shape (ids)
  length_of = Gather <axis = 0> (sizes, one)
  count = Range (zero, length_of, one)
  placed = Gather (places, count)
  x = Add (embedded, placed)
  q0 = MatMul (x, wq)
  k0 = MatMul (x, wk)
  v0 = MatMul (x, wv)
  q1 = Reshape (q0, heads)
  k1 = Reshape (k0, heads)
  v1 = Reshape (v0, heads)
  q = Transpose <perm = [0, 2, 1, 3]> (q1)
  k = Transpose <perm = [0, 2, 3, 1]> (k1)
  v = Transpose <perm = [0, 2, 1, 3]> (v1)
  scores = MatMul (q, k)
  rows = Unsqueeze (count, axis_one)
  columns = Unsqueeze (count, axis_zero)
  causal = GreaterOrEqual (rows, columns)
  masked = Where (causal, scores, low)
  weights = Softmax <axis = -1> (masked)
  sums = MatMul (weights, v)
  back = Transpose <perm = [0, 2, 1, 3]> (sums)
  flat = Reshape (back, whole)
  added = Add (x, flat)
  hidden = MatMul (added, w1)
  active = Relu (hidden)
  states = MatMul (active, w2)
  mean = ReduceMean <axes = [1], keepdims = 0> (states)
}"""

# A step of a decoder: what was seen before is longer by the new part afterwards.
STEP = """<ir_version: 9, opset_import: ["": 17]>
step (float[batch, new, 32] x, float[batch, 4, past, 8] past_k) => (float[batch, new, 32] y, float[batch, 4, all, 8] k) {
  q0 = MatMul (x, wq)
  k0 = MatMul (x, wk)
  q1 = Reshape (q0, heads)
  k1 = Reshape (k0, heads)
  q = Transpose <perm = [0, 2, 1, 3]> (q1)
  k2 = Transpose <perm = [0, 2, 1, 3]> (k1)
  k = Concat <axis = 2> (past_k, k2)
  turned = Transpose <perm = [0, 1, 3, 2]> (k)
  scores = MatMul (q, turned)
  weights = Softmax <axis = -1> (scores)
  sums = MatMul (weights, k)
  back = Transpose <perm = [0, 2, 1, 3]> (sums)
  y = Reshape (back, whole)
}"""

# Convolutions over an open width, which rounds sizes down.
SOUND = """<ir_version: 9, opset_import: ["": 17]>
sound (float[batch, 2, width] x) => (float[batch, 8, frames] y, float[batch, 8, 1] mean) {
  first = Conv <kernel_shape = [5], strides = [2], pads = [2, 2]> (x, c1)
  active = Relu (first)
  pooled = MaxPool <kernel_shape = [3], strides = [2], pads = [1, 1]> (active)
  y = Conv <kernel_shape = [3], pads = [1, 1]> (pooled, c2)
  mean = GlobalAveragePool (y)
}"""


def weights(*shape):
    return (RANDOM.standard_normal(shape) / 4).astype(numpy.float32)


CONSTANTS = {"table": weights(100, 32), "places": weights(128, 32), "wq": weights(32, 32), "wk": weights(32, 32),
             "wv": weights(32, 32), "w1": weights(32, 64), "w2": weights(64, 32), "c1": weights(4, 2, 5), "c2": weights(8, 4, 3),
             "zero": numpy.array(0), "one": numpy.array(1), "axis_one": numpy.array([1]), "axis_zero": numpy.array([0]),
             "heads": numpy.array([0, 0, 4, 8]), "whole": numpy.array([0, 0, 32]), "low": numpy.array(-1e9, numpy.float32)}


def text(batch, length):
    return {"ids": RANDOM.integers(0, 100, (batch, length))}


def step(batch, new, past):
    return {"x": weights(batch, new, 32), "past_k": weights(batch, 4, past, 8)}


def sound(batch, width):
    return {"x": weights(batch, 2, width + 4)}


def tokens(batch, length):
    ids = RANDOM.integers(1996, 20000, (batch, length))
    mask = numpy.arange(length)[None] <= RANDOM.integers(0, length, (batch, 1))
    return {"input_ids": ids, "attention_mask": mask.astype(numpy.int64), "token_type_ids": numpy.zeros_like(ids)}


def pieces(batch):
    return {"bytes": RANDOM.integers(0, 257, (batch, 2048), dtype=numpy.int32)}


# The text or the file of a network, and its inputs by sizes.
NETWORKS = {"text": (TEXT, text), "step": (STEP, step), "sound": (SOUND, sound),
            "minilm_int8": ("all-MiniLM-L6-v2_int8.onnx", tokens), "magika": ("magika_standard_v3_3.onnx", pieces)}


def written(source, folder):
    """The path of the model."""
    if source.endswith(".onnx"):
        return need(MODELS / "onnx" / source)
    model = parser.parse_model(source)
    used = {name for node in model.graph.node for name in node.input}
    model.graph.initializer.extend(numpy_helper.from_array(values, name) for name, values in CONSTANTS.items() if name in used)
    path = pathlib.Path(folder) / "model.onnx"
    onnx.save(model, path)
    return path


def check(name, count):
    source, inputs_at = NETWORKS[name]
    with tempfile.TemporaryDirectory() as folder:
        model, artifact = written(source, folder), pathlib.Path(folder) / "model.atn"
        attune_json("compile", model, "-o", artifact)
        session = onnxruntime_session(model)
        names = [output.name for output in session.get_outputs()]
        for _ in range(count):
            sizes = [int(RANDOM.choice(SIZES[:6] if i == 0 else SIZES)) for i in range(inputs_at.__code__.co_argcount)]
            inputs = inputs_at(*sizes)
            for output, values in zip(run_attune(artifact, inputs), session.run(names, inputs)):
                is_right, figures = compare(output[1], Expected(output[0], values, "float", tolerance=(1e-4, 1e-3)))
                assert is_right, f"{name} at {sizes}, {output[0]}: {figures}"
        print(f"{name}: right at {count} sets of sizes")


if __name__ == "__main__":
    end_to_end(lambda: check(sys.argv[1], 10))
