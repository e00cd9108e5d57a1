#!/usr/bin/env python3
"""bench.py [--threads N] [--rounds N] [NETWORK ...]: networks of the zoo in attune and in onnxruntime.

The two take turns, so that a drift of the machine's speed hits both. Random weights are as fast as trained ones.
"""
import argparse
import statistics

import numpy

from program import ROOT, attune, attune_json, measure, onnxruntime_session, print_table

FOLDER = ROOT / "build/bench"
NETWORKS = ["resnet18", "resnet50", "mobilenet_v2", "squeezenet1_1", "bert_base"]
TYPES = {"tensor(float)": numpy.float32, "tensor(int64)": numpy.int64, "tensor(int32)": numpy.int32}


def random_value(declared):
    shape = [d if isinstance(d, int) else 1 for d in declared.shape]
    random = numpy.random.default_rng(0)
    dtype = TYPES[declared.type]
    if numpy.issubdtype(dtype, numpy.integer):
        return random.integers(0, 100, shape).astype(dtype)
    return random.standard_normal(shape).astype(dtype)


def compare(name, gflop, threads, rounds):
    """A row of the table."""
    model, artifact = FOLDER / f"{name}.onnx", FOLDER / f"{name}.atn"
    attune("zoo", name, "-o", model)
    compiled = attune_json("compile", model, "-o", artifact)
    session = onnxruntime_session(model, threads)
    inputs = {declared.name: random_value(declared) for declared in session.get_inputs()}
    ours, theirs = [], []
    for _ in range(rounds):
        ours += attune_json("bench", artifact, "--threads", threads, "--seconds", 1)["latency_ms"]
        theirs += measure(session, inputs, 1)
    latency, other = statistics.median(ours), statistics.median(theirs)
    return [name, f"{compiled['seconds']['total']:.2f} s", f"{latency:.2f} ms", f"{1e3 * gflop / latency:.1f}",
            f"{other:.2f} ms", f"{latency / other:.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    gflop = {entry["name"]: 2e-9 * entry["macs"] for entry in attune_json("zoo")["networks"]}
    rows = [["network", "to compile", "attune", "GFLOP/s", "onnxruntime", "ratio"]]
    rows += [compare(name, gflop[name], args.threads, args.rounds) for name in args.networks]
    print_table(rows)


main()
