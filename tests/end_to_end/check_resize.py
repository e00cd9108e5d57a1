#!/usr/bin/env python3
"""check_resize.py [--models N] [--seed N]    Resize and Upsample of every opset give onnxruntime's sizes and values

Each model has many of them. A size is the floor of size * scale in f32; where the exact product has another floor,
which is what ONNX says, one line of warning names the first such node and counts the others."""
import argparse
import pathlib
import re
import tempfile
from dataclasses import dataclass, field

import numpy

from checks import end_to_end
from common.program import attune_with_warnings, onnxruntime_session
from onnx_writer import Model
from peers import input_flags

SCALES = [0.1, 0.25, 0.3, 1 / 3, 0.5, 0.6, 2 / 3, 0.7, 0.9, 1.1, 1.3, 1.4, 1.5, 1.7, 2.0, 2.3, 2.7, 3.3, 4.0]
SIZES = [5, 7, 10, 12, 20, 23, 30, 40]
COORDINATES = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize"]
NEAREST = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
OPSETS = [7, 9, 10, 11, 13, 18, 19, 20]
NODES = 24  # in one model
TOLERANCE = 2e-4  # onnxruntime computes coordinates in f32
WARNING = "a size is rounded as runtimes round it, not as ONNX says"


@dataclass
class Axis:
    """How an axis is resized, and where the elements of its output lie in the input."""
    size: int
    scale: numpy.float32
    out: int
    region: tuple = (0.0, 1.0)
    ratio: float = None  # of sizes, if the scale is one

    def coordinates(self, mode, real):
        """In arithmetic of the type `real`."""
        x, size, out = numpy.arange(self.out, dtype=real), real(self.size), real(self.out)
        scale = real(self.scale if self.ratio is None else self.ratio)
        half_pixel = (x + real(0.5)) / scale - real(0.5)
        if mode == "align_corners":
            return x * (size - real(1)) / max(out - real(1), real(1))
        if mode == "half_pixel_symmetric":
            return size / real(2) * (real(1) - out / real(numpy.float32(scale * size))) + half_pixel
        if mode == "tf_crop_and_resize":
            start, end = (real(border) for border in self.region)
            if self.out == 1:
                return numpy.array([(start + end) / real(2) * (size - real(1))])
            return start * (size - real(1)) + x * (end - start) * (size - real(1)) / (out - real(1))
        return {"asymmetric": x / scale, "tf_half_pixel_for_nn": (x + real(0.5)) / scale}.get(mode, half_pixel)

    def is_whole(self):
        """Whether size * scale is, so that ONNX and onnxruntime agree on where the last corner lies."""
        return numpy.float32(self.size) * self.scale == self.out

    def is_certain(self, case):
        """For each element of the output, whether rounding to f32 leaves it where it is: its coordinate is not near to
        where another element begins, or exactly there."""
        single, double = [self.coordinates(case.coordinates, real).astype(numpy.float64)
                          for real in (numpy.float32, numpy.float64)]
        borders = []
        if case.coordinates == "tf_crop_and_resize":
            borders += [0, self.size - 1]
        if case.mode == "nearest":
            half = 0.5 if case.nearest.startswith("round") else 0
            borders.append(numpy.rint(double - half) + half)
        certain = numpy.ones(self.out, dtype=bool)
        for border in borders:
            distance = numpy.abs(double - border)
            certain &= (distance > 2e-6 * numpy.maximum(numpy.abs(double), 1)) | ((distance == 0) & (single == double))
        return certain


@dataclass
class Case:
    opset: int
    mode: str
    coordinates: str
    nearest: str
    form: str  # scales, computed, or a policy of keep_aspect_ratio
    axes: list
    attributes: dict = field(default_factory=dict)

    def differs(self):
        """Whether ONNX's letter gives another size."""
        return self.form in ("scales", "computed") and any(
            int(float(axis.scale) * axis.size) != axis.out for axis in self.axes)

    def text(self):
        return (f"opset {self.opset} {self.mode} {self.coordinates} {self.nearest} {self.form} {self.attributes} "
                f"{[(axis.size, float(axis.scale), axis.out, axis.region) for axis in self.axes]}")


def scaled(size, scale):
    return int(numpy.floor(numpy.float32(size) * numpy.float32(scale)))


def draw_axis(random, largest, smallest_scale=0.1):
    while True:
        size = int(random.choice([size for size in SIZES if size <= largest]))
        scale = numpy.float32(random.choice(SCALES) if random.random() < 0.7 else random.uniform(0.1, 4))
        if scale >= smallest_scale and scaled(size, scale) > 0:
            return Axis(size, scale, scaled(size, scale))


def by_policy(axes, policy, random):
    """Gives the axes one scale, which the sizes that are asked for require. Returns these."""
    wanted = [int(random.integers(1, 3 * axis.size)) for axis in axes]
    ratios = [size / axis.size for size, axis in zip(wanted, axes)]
    ratio = min(ratios) if policy == "not_larger" else max(ratios)
    for axis in axes:
        axis.scale, axis.ratio = numpy.float32(ratio), ratio
        axis.out = int(numpy.floor(axis.scale * numpy.float32(axis.size) + numpy.float32(0.5)))
    return wanted


def draw(random, opset):
    """A node that onnxruntime can compute."""
    modes = ["nearest", "linear"] if opset < 11 else ["nearest", "linear", "cubic"]
    mode = str(random.choice(modes))
    spatial = [draw_axis(random, 40, 1.0 if opset < 10 else 0.1) for _ in range(2)]
    axes = [Axis(1, numpy.float32(1), 1), Axis(2, numpy.float32(1), 2), *spatial]
    if mode == "nearest" and opset >= 11 and random.random() < 0.3:
        axes = [draw_axis(random, 10) for _ in range(int(random.integers(1, 5)))]
    case = Case(opset, mode, "asymmetric", "floor" if opset != 10 else "simple", "scales", axes)
    if opset < 11:
        return case
    choices = COORDINATES + ["half_pixel_symmetric"] * (opset >= 19) + ["tf_half_pixel_for_nn"] * (opset < 13)
    case.coordinates, case.nearest = str(random.choice(choices)), str(random.choice(NEAREST))
    case.form = str(random.choice(["scales", "computed"] + ["not_larger", "not_smaller"] * (opset >= 18)))
    if case.coordinates == "tf_crop_and_resize":
        # onnxruntime ignores the region of an axis whose scale is 1.
        for axis in axes:
            if axis.scale != 1 and case.form in ("scales", "computed"):
                axis.region = (float(random.uniform(0, 0.3)), float(random.uniform(0.7, 1.2)))
        case.attributes["extrapolation_value"] = -2.5
    if mode == "cubic":
        case.attributes["cubic_coeff_a"] = float(random.choice([-0.75, -0.5]))
        case.attributes["exclude_outside"] = int(random.integers(2))
    return case


def add(model, case, random):
    """Adds the node. Returns its input and its output."""
    x = model.input(*[axis.size for axis in case.axes])
    chosen = [i for i, axis in enumerate(case.axes) if axis.scale != 1 or case.form.startswith("not")]
    if case.form.startswith("not"):
        chosen = [i for i in chosen if case.mode == "nearest" or i >= 2]
        sizes = by_policy([case.axes[i] for i in chosen], case.form, random)
    some = case.opset >= 18 and (case.form.startswith("not") or random.random() < 0.5)
    axes = chosen if some else list(range(len(case.axes)))
    attributes = {"mode": case.mode, **case.attributes}
    values = numpy.array([case.axes[i].scale for i in axes], dtype=numpy.float32)
    if case.opset < 9:
        return x, model.node("Upsample", x, scales=[float(value) for value in values], **attributes)
    if some:
        attributes["axes"] = axes
    if case.opset < 11:
        return x, model.node("Upsample" if case.opset == 9 else "Resize", x, model.constant(values), **attributes)
    attributes["coordinate_transformation_mode"] = case.coordinates
    attributes["nearest_mode"] = case.nearest
    region = None if case.opset >= 13 else model.constant(numpy.zeros(0, dtype=numpy.float32))
    if case.coordinates == "tf_crop_and_resize":
        borders = [[case.axes[i].region[end] for i in axes] for end in (0, 1)]
        region = model.constant(numpy.array(borders, dtype=numpy.float32).ravel())
    if case.form.startswith("not"):
        wanted = model.constant(numpy.array(sizes, dtype=numpy.int64))
        return x, model.node("Resize", x, region, None, wanted, keep_aspect_ratio_policy=case.form, **attributes)
    given = model.constant(values)
    if case.form == "computed":
        given = model.node("Div", model.constant(numpy.float32(1)), model.constant(numpy.float32(1) / values))
        for i, value in zip(axes, numpy.float32(1) / (numpy.float32(1) / values)):
            case.axes[i].scale, case.axes[i].out = value, scaled(case.axes[i].size, value)
    return x, model.node("Resize", x, region, given, **attributes)


def compare(case, actual, expected):
    """Returns why the node is wrong, or None; and whether values were compared."""
    if actual.shape != expected.shape:
        return f"its shape is {actual.shape}, onnxruntime's {expected.shape}", False
    shape = tuple(axis.out for axis in case.axes)
    if actual.shape != shape:
        return f"its shape is {actual.shape}, the rule gives {shape}", False
    if all(axis.size == axis.out for axis in case.axes):
        return None, False  # onnxruntime copies the input, whatever the scales
    if case.coordinates in ("align_corners", "tf_crop_and_resize"):
        if not all(axis.is_whole() for axis in case.axes):
            return None, False
    certain = numpy.ones(shape, dtype=bool)
    for i, axis in enumerate(case.axes):
        along = [1] * len(shape)
        along[i] = axis.out
        if axis.scale != 1:
            certain &= axis.is_certain(case).reshape(along)
    wrong = certain & ~(numpy.abs(actual - expected) <= TOLERANCE * (1 + numpy.abs(expected)))
    if wrong.any():
        where = tuple(int(i) for i in numpy.argwhere(wrong)[0])
        values = f"{actual[where]}, onnxruntime {expected[where]}"
        return f"{wrong.sum()} of {certain.sum()} values, at {where} {values}", True
    return None, True


def check_model(random, opset, folder):
    """Returns the faults of one model, and how many nodes were compared by their values."""
    cases = [draw(random, opset) for _ in range(NODES)]
    model = Model(opset)
    inputs, outputs = {}, []
    for case in cases:
        x, y = add(model, case, random)
        inputs[x] = random.standard_normal([axis.size for axis in case.axes]).astype(numpy.float32)
        outputs.append(y)
    path, results = folder / "resize.onnx", folder / "outputs"
    model.write(path, outputs)
    expected = onnxruntime_session(path).run(None, inputs)
    _, warnings = attune_with_warnings("run", path, *input_flags(folder, inputs), "--output", results)
    faults, compared = [], 0
    for case, name, values in zip(cases, outputs, expected):
        fault, by_values = compare(case, numpy.load(results / f"{name}.npy"), values)
        compared += by_values
        if fault:
            faults.append(f"{case.text()}: {fault}")
    differing = sum(case.differs() for case in cases)
    told = [int(re.search(r" others=(\d+) ", line)[1]) + 1 for line in warnings if WARNING in line]
    if told != [differing] * (differing > 0):
        faults.append(f"opset {opset}: {differing} sizes differ from ONNX's, the warnings are {warnings}")
    return faults, compared


def check():
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", type=int, default=len(OPSETS))
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    faults, compared = [], 0
    for index in range(arguments.models):
        seed = arguments.seed + index
        random, opset = numpy.random.default_rng(seed), OPSETS[seed % len(OPSETS)]
        with tempfile.TemporaryDirectory() as folder:
            found, by_values = check_model(random, opset, pathlib.Path(folder))
        faults += [f"seed {seed}: {fault}" for fault in found]
        compared += by_values
    print(f"{arguments.models * NODES} nodes, {compared} compared by their values, {len(faults)} wrong")
    assert not faults, "\n".join(faults)


end_to_end(check)
