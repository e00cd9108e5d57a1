#!/usr/bin/env python3
"""check_found.py    small networks that once gave wrong results, compiled for this machine and for every processor
whose code runs here, against the correct results"""
import pathlib
import re
import tempfile

import numpy

from checks import MODELS, end_to_end, need
from common.program import Failed, attune
from comparing import Expected, compare

EXPECTED = "expected_"
OTHER_PROCESSOR = "needs a processor with"


def processors():
    """The names that --cpu takes."""
    return re.search(r"--cpu TEXT .*: ((?:[\w-]+, )+[\w-]+) \(", attune("compile", "--help"))[1].split(", ")


def run(folder, options):
    """The outputs of the network in `folder`, or None if its code is for another processor."""
    inputs = [path for path in sorted(folder.glob("*.npy")) if not path.name.startswith(EXPECTED)]
    with tempfile.TemporaryDirectory() as place:
        artifact, outputs = pathlib.Path(place) / "network.atn", pathlib.Path(place) / "outputs"
        attune("compile", folder / "model.onnx", "-o", artifact, *options)
        given = [argument for path in inputs for argument in ("--input", f"{path.stem}={path}")]
        try:
            attune("run", artifact, *given, "--output", outputs)
        except Failed as error:
            if OTHER_PROCESSOR in str(error):
                return None
            raise
        return {path.stem: numpy.load(path) for path in outputs.glob("*.npy")}


def faults(folder, outputs):
    """Yields one line for each wrong output."""
    for path in sorted(folder.glob(f"{EXPECTED}*.npy")):
        name, values = path.stem.removeprefix(EXPECTED), numpy.load(path)
        # If all values are zero, there is no size to which an error could be small.
        rule = "float" if values.dtype.kind == "f" and values.any() else "equal"
        good, figures = compare(outputs[name], Expected(name, values, rule))
        if not good:
            yield f"{name}: {figures}"


def check():
    folders = sorted(path.parent for path in need(MODELS / "found").glob("*/model.onnx"))
    assert folders, "no network to check"
    lines, ran = [], 0
    for options in [()] + [("--cpu", name) for name in processors()]:
        for folder in folders:
            try:
                outputs = run(folder, options)
            except Failed as error:
                lines.append(str(error))
                continue
            if outputs is None:
                continue
            ran += 1
            lines += [f"{' '.join([folder.name, *options])}: {line}" for line in faults(folder, outputs)]
    print(f"{len(folders)} networks, {ran} runs")
    assert not lines, "\n".join(lines)


end_to_end(check)
