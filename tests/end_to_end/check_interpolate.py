#!/usr/bin/env python3
"""check_interpolate.py [--modules N] [--seed N]    torch.nn.functional.interpolate gives what PyTorch gives

Each module interpolates several inputs by random factors or sizes, in all modes, with recompute_scale_factor or
without. It comes as a program of torch.export, as it is and after run_decompositions(), and as ONNX models of both
exporters. Of these the sizes are compared alone: ONNX has other coordinates, and check_resize.py judges those. PyTorch
comes with the set-up of the benchmarks: build/bench/python/bin/python tests/end_to_end/check_interpolate.py
"""
import argparse
import pathlib
import tempfile
import warnings

import numpy
import torch

from checks import end_to_end
from common.program import Failed
from peers import run_attune

FACTORS = [0.1, 0.25, 0.3, 1 / 3, 0.5, 0.6, 2 / 3, 0.7, 1.1, 1.4, 1.5, 1.7, 2.0, 2.3, 3.3, 4.0]
SIZES = [5, 7, 10, 12, 20, 23, 30, 40]
MODES = {3: ["nearest", "nearest-exact", "linear"], 4: ["nearest", "nearest-exact", "bilinear", "bicubic"],
         5: ["nearest", "nearest-exact", "trilinear"]}
CALLS = 12  # in one module
TOLERANCE = 2e-4  # PyTorch computes coordinates in f32
OPSETS = {False: 17, True: 20}  # of the older exporter, and of the one by dynamo


class Interpolations(torch.nn.Module):
    def __init__(self, calls):
        super().__init__()
        self.calls = calls

    def forward(self, *inputs):
        return tuple(torch.nn.functional.interpolate(x, **call) for x, call in zip(inputs, self.calls))


def draw(random, exact):
    """An input and the arguments with which it is interpolated. exact: the mode nearest-exact, too."""
    rank = int(random.choice(list(MODES)))
    sides = [int(random.choice(SIZES)) for _ in range(rank - 2)]
    call = {"mode": str(random.choice([mode for mode in MODES[rank] if exact or mode != "nearest-exact"]))}
    if random.random() < 0.8:
        factors = [float(random.choice(FACTORS) if random.random() < 0.7 else random.uniform(0.1, 4)) for _ in sides]
        factors = [factor if int(side * factor) > 0 else 1.7 for side, factor in zip(sides, factors)]
        call["scale_factor"] = factors if random.random() < 0.5 else max(factors)
        call["recompute_scale_factor"] = [None, False, True][int(random.integers(3))]
    else:
        call["size"] = [int(random.integers(1, 3 * side)) for side in sides]
    if "linear" in call["mode"] or "cubic" in call["mode"]:
        call["align_corners"] = bool(random.integers(2))
    return random.standard_normal([1, 2, *sides]).astype(numpy.float32), call


def is_certain(call, shape, out):
    """For each element of the output, whether its nearest one does not depend on how the coordinate is rounded."""
    certain = numpy.ones(out, dtype=bool)
    if not call["mode"].startswith("nearest"):
        return certain
    half = 0.5 if call["mode"] == "nearest-exact" else 0
    factors = call.get("scale_factor")
    factors = factors if isinstance(factors, list) else [factors] * (len(shape) - 2)
    for axis, factor in enumerate(factors, start=2):
        by_sizes = factor is None or call["recompute_scale_factor"]
        step = shape[axis] / out[axis] if by_sizes else 1 / factor
        place = (numpy.arange(out[axis]) + half) * step
        same = numpy.floor(place * (1 + 1e-6)) == numpy.floor(place * (1 - 1e-6))
        same |= (place == 0)
        certain &= same.reshape([-1 if i == axis else 1 for i in range(len(out))])
    return certain


def write_programs(module, inputs, folder):
    program = torch.export.export(module, inputs)
    torch.export.save(program, folder / "exported.pt2")
    torch.export.save(program.run_decompositions(), folder / "decomposed.pt2")


def write_onnx(module, inputs, folder):
    for dynamo, opset in OPSETS.items():
        torch.onnx.export(module, inputs, str(folder / f"dynamo_{dynamo}.onnx"), dynamo=dynamo, opset_version=opset,
                          verbose=False)


def check_module(random, folder, onnx):
    """Returns the faults of one module, as programs or as ONNX models."""
    drawn = [draw(random, exact=not onnx) for _ in range(CALLS)]
    module = Interpolations([call for _, call in drawn]).eval()
    inputs = tuple(torch.from_numpy(x) for x, _ in drawn)
    expected = [y.numpy() for y in module(*inputs)]
    faults = []
    (write_onnx if onnx else write_programs)(module, inputs, folder)
    for path in sorted([*folder.glob("*.pt2"), *folder.glob("*.onnx")]):
        names = input_names(path)
        try:
            actual = run_attune(path, dict(zip(names, [x for x, _ in drawn])))
        except Failed as error:
            faults.append(f"{path.name}: {error}")
            continue
        for (x, call), (_, values), right in zip(drawn, actual, expected):
            if values.shape != right.shape:
                faults.append(f"{path.name}: {x.shape} by {call}: {values.shape}, PyTorch {right.shape}")
            elif not onnx:
                near = numpy.abs(values - right) <= TOLERANCE * (1 + numpy.abs(right))
                wrong = is_certain(call, x.shape, right.shape) & ~near
                if wrong.any():
                    faults.append(f"{path.name}: {x.shape} by {call}: {wrong.sum()} of {wrong.size} values")
    return faults


def input_names(path):
    if path.suffix == ".onnx":
        import onnx

        return [value.name for value in onnx.load(path).graph.input]
    return [spec.arg.name for spec in torch.export.load(path).graph_signature.input_specs]


def check():
    parser = argparse.ArgumentParser()
    parser.add_argument("--modules", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    faults = []
    for seed in range(arguments.seed, arguments.seed + arguments.modules):
        for onnx in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                found = check_module(numpy.random.default_rng(seed), pathlib.Path(folder), onnx)
            faults += [f"seed {seed}: {fault}" for fault in found]
    print(f"{2 * arguments.modules * CALLS} calls, {len(faults)} wrong")
    assert not faults, "\n".join(faults)


end_to_end(check)
