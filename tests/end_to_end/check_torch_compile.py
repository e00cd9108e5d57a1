#!/usr/bin/env python3
"""check_torch_compile.py [NAME ...]    torch.compile(model, backend="attune") gives what PyTorch gives

Compiles the networks of check_pytorch.py, and BERT with all its layers, with random weights. Prints a line for each: the
graphs that Attune runs, those that PyTorch runs, the largest error in units of the output's root mean square, the
milliseconds of both on one thread, and the seconds of the first call. Below are the reasons why PyTorch runs a graph. Exits
with 1 if a network's outputs are wrong. Needs the set-up of the benchmarks and the package:

    build/bench/python/bin/pip install --no-deps build/dist/attune_compiler-*.whl
    build/bench/python/bin/python tests/end_to_end/check_torch_compile.py
"""
import statistics
import sys
import time
import warnings

import numpy

from check_pytorch import NETWORKS, SECONDS, build_bert, build_torchvision
from common.program import print_table
from comparing import Expected, compare_all
from peers import PeerFailed, is_asked_for, isolated

BERT_LAYERS = {"bert of 2 layers": 2, "bert_base": 12}
OPTIONS = {"threads": 1, "records": "none"}
MEASURED_SECONDS, FEWEST_RUNS = 1.0, 5


def milliseconds(function):
    """The median of the runs that fit into a while."""
    times = []
    while sum(times) < MEASURED_SECONDS or len(times) < FEWEST_RUNS:
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times)


def measure(name):
    """Returns a network's row of the table, and its outputs with and without Attune."""
    import attune.torch
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    warnings.simplefilter("ignore")  # the counts say the same
    with torch.no_grad():
        module, inputs = build_bert(BERT_LAYERS[name]) if name in BERT_LAYERS else build_torchvision(name)
    arguments = [torch.from_numpy(values) for values in inputs]
    compiled = torch.compile(module, backend="attune", options=OPTIONS)
    with torch.inference_mode():
        start = time.perf_counter()
        actual = compiled(*arguments)
        figures = {"seconds": time.perf_counter() - start, **attune.torch.counts(),
                   "eager": milliseconds(lambda: module(*arguments)), "fast": milliseconds(lambda: compiled(*arguments))}
        # In doubles, so that PyTorch's rounding errors do not count against us.
        expected = module.double()(*(values.double() if values.is_floating_point() else values for values in arguments))
    return figures, as_arrays(actual), as_arrays(expected)


def as_arrays(outputs):
    return [output.float().numpy() for output in (outputs if isinstance(outputs, tuple) else (outputs,))]


def largest_error(actual, expected):
    """In units of the output's root mean square."""
    return max(abs(values - wanted).max() / numpy.sqrt((wanted * wanted).mean())
               for values, wanted in zip(actual, expected, strict=True))


def check(name):
    """The row of a network in the table, and what there is to say below it."""
    try:
        figures, actual, expected = isolated(measure, name, seconds=SECONDS)
    except PeerFailed as error:
        return (name, "", "", "wrong", "", "", "", ""), [str(error)]
    good, text = compare_all([("", values) for values in actual],
                             [Expected(f"output {index}", wanted, "float") for index, wanted in enumerate(expected)])
    row = (name, str(figures["compiled"]), str(figures["fell_back"]), "right" if good else "wrong",
           f"{largest_error(actual, expected):.1e}", f"{figures['eager']:.2f}", f"{figures['fast']:.2f}",
           f"{figures['seconds']:.1f}")
    return row, ([] if good else [text]) + [f"PyTorch runs {graphs} of its graphs: {reason}"
                                            for reason, graphs in figures["reasons"].items()]


def main():
    rows = [("network", "graphs", "fell back", "verdict", "error", "PyTorch ms", "Attune ms", "first call s")]
    remarks = []
    for name in filter(is_asked_for, (*NETWORKS, *BERT_LAYERS)):
        print(name, file=sys.stderr)
        row, said = check(name)
        rows.append(row)
        remarks += [f"{name}: {text}" for text in said]
    print_table(rows)
    print("\n".join(remarks))
    sys.exit(any("wrong" in row for row in rows))


if __name__ == "__main__":
    main()
