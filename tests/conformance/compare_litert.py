#!/usr/bin/env python3
"""compare_litert.py [TEXT ...]    LiteRT's test models give what LiteRT gives

Runs each of them, or those whose names contain a TEXT, with LiteRT's reference kernels and with this program, on the
inputs of litert_inputs.txt and otherwise on random ones. Prints a line for each and the counts, and exits with 1 if one
is wrong. A model that expected_litert.txt lists as contested cannot be wrong. LiteRT comes with the set-up of the
benchmarks: build/bench/python/bin/python tests/conformance/compare_litert.py
"""
import collections
import os
import pathlib
import sys
import tarfile
import tempfile

import numpy

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "end_to_end"))

from checks import MODELS, need  # noqa: E402
from comparing import compare_all  # noqa: E402
from litert import run_litert  # noqa: E402
from peers import Report, is_asked_for, random_input, run_attune  # noqa: E402

ARCHIVE = pathlib.Path(os.environ.get("ATTUNE_LITERT_ARCHIVE", MODELS / "conformance/litert-testdata.tar.gz"))
SECONDS = 60  # for one case


def lines_of(file):
    """The words of each line that is not a comment."""
    for line in file.read_text().splitlines():
        if line and not line.startswith("#"):
            yield line.split()


def read_values():
    """Input elements by case and input name."""
    values = collections.defaultdict(dict)
    for case, name, *numbers in lines_of(FOLDER / "litert_inputs.txt"):
        values[case][name] = [float(number) for number in numbers]
    return values


def read_contested():
    """For each contested case, why runtimes disagree about it."""
    return {case: " ".join(reason) for case, status, *reason in lines_of(FOLDER / "expected_litert.txt")
            if status == "contested"}


def find_cases(folder):
    """The model files by name, as the conformance program finds them."""
    files = [path for path in sorted(folder.rglob("*")) if path.suffix in (".tflite", ".bin")]
    return {path.relative_to(folder).as_posix(): path for path in files if path.name != "weights.bin"}


def make_input(values, generator, detail):
    """The given values for the input, or random ones. `detail` is what LiteRT says about the input."""
    shape = tuple(int(size) for size in detail["shape"])
    if detail["name"] in values:
        return numpy.array(values[detail["name"]]).reshape(shape).astype(detail["dtype"])
    return random_input(generator, shape, detail["dtype"])


def check(report, name, path, values, contested):
    generator = numpy.random.default_rng(0)
    with report.model(name, path):
        inputs, expected = run_litert(path, lambda detail: make_input(values, generator, detail), SECONDS)
        good, text = compare_all(run_attune(path, inputs), expected)
        if good or contested is None:
            report.add("pass" if good else "wrong", name, text)
        else:
            report.add("contested", name, f"{contested}; {text}")


def main():
    values, contested, report = read_values(), read_contested(), Report("LiteRT")
    with tempfile.TemporaryDirectory() as scratch:
        with tarfile.open(need(ARCHIVE)) as archive:
            archive.extractall(scratch)
        for name, path in find_cases(pathlib.Path(scratch)).items():
            if is_asked_for(name):
                check(report, name, path, values[name], contested.get(name))
    report.finish()


if __name__ == "__main__":
    main()
