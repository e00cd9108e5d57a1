#!/usr/bin/env python3
"""check_integers.py [NAME ...]    integer networks give what LiteRT's reference kernels give, bit for bit

Runs the networks of integers.npz.xz, or those whose names contain a NAME, and exits with 1 if an output is another one.

With --seeds N it draws N new networks of each kind, of --count operators each, and runs LiteRT beside them, which comes
with the set-up of the benchmarks; --first is the first seed. With --write it makes integers.npz.xz of them:
build/bench/python/bin/python tests/end_to_end/check_integers.py --seeds 1 --count 3 --write
"""
import argparse
import collections
import io
import lzma
import pathlib
import sys
import tempfile

import numpy

from checks import Failed
from peers import PeerFailed, isolated, one_line, run_attune

STORED = pathlib.Path(__file__).resolve().parent / "integers.npz.xz"

# Where the reference kernel is not what its authors mean, or does not exist: SUM takes signed bytes for unsigned ones.
OPTIMIZED = ("sum.int8", "sum.int16", "elu.")


def run_litert(content, inputs, optimized):
    """The outputs of a model, computed by LiteRT's reference kernels or its optimized ones."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    kernels = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES if optimized else OpResolverType.BUILTIN_REF
    interpreter = Interpreter(model_content=content, num_threads=1, experimental_op_resolver_type=kernels)
    interpreter.allocate_tensors()
    for detail in interpreter.get_input_details():
        interpreter.set_tensor(detail["index"], inputs[detail["name"]])
    interpreter.invoke()
    return [numpy.array(interpreter.get_tensor(detail["index"])) for detail in interpreter.get_output_details()]


def drawn(options):
    """Yields the name of each network that is drawn, its file, inputs and expected outputs."""
    import integer_networks  # only the environment with LiteRT can write models

    for name in integer_networks.networks():
        if not is_asked_for(name, options):
            continue
        for seed in range(options.first, options.first + options.seeds):
            network = integer_networks.draw(name, seed, options.count)
            optimized = name.startswith(OPTIMIZED)
            outputs = isolated(run_litert, network.bytes(), network.inputs, optimized)
            network.set_shapes([output.shape for output in outputs])
            yield f"{name}/{seed}", network.bytes(), network.inputs, outputs


def stored(options):
    """Yields the same of the networks that are stored."""
    networks = collections.defaultdict(dict)
    with lzma.open(STORED) as file, numpy.load(io.BytesIO(file.read())) as arrays:
        for key in arrays.files:
            name, part = key.rsplit(":", 1)
            networks[name][part] = arrays[key]
    for name, parts in networks.items():
        if is_asked_for(name, options):
            inputs = {part: values for part, values in parts.items() if part.startswith("x")}
            outputs = [parts[f"y{i}"] for i in range(len(parts) - len(inputs) - 1)]
            yield name, parts["model"].tobytes(), inputs, outputs


def is_asked_for(name, options):
    return not options.names or any(text in name for text in options.names)


def differences(content, inputs, expected):
    """Returns the faults of this program's outputs; empty if there are none."""
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "network.tflite"
        model.write_bytes(content)
        actual = [values for _, values in run_attune(model, inputs)]
    found = []
    for index, (values, wanted) in enumerate(zip(actual, expected, strict=True)):
        if values.shape != wanted.shape or values.dtype != wanted.dtype:
            found.append(f"output {index}: {values.dtype}{list(values.shape)}, not {wanted.dtype}{list(wanted.shape)}")
        elif not numpy.array_equal(values, wanted):
            steps = numpy.abs(values.astype(numpy.float64) - wanted.astype(numpy.float64))
            found.append(f"output {index}: {int((steps != 0).sum())} of {steps.size} differ, by up to {steps.max():g}")
    return "; ".join(found)


def check(options):
    """Prints what is wrong and returns the number of wrong networks and of all."""
    wrong = total = 0
    kept = {}
    for name, content, inputs, expected in drawn(options) if options.seeds else stored(options):
        total += 1
        kept.update({f"{name}:model": numpy.frombuffer(content, dtype=numpy.uint8),
                     **{f"{name}:{part}": values for part, values in inputs.items()},
                     **{f"{name}:y{index}": values for index, values in enumerate(expected)}})
        try:
            text = differences(content, inputs, expected)
        except Failed as error:
            text = one_line(str(error))
        if text:
            wrong += 1
            print(f"wrong {name}: {text}", flush=True)
    if options.write:
        with lzma.open(STORED, "wb", preset=9) as file:  # smaller than each array by itself
            numpy.savez(file, **kept)
    return wrong, total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--seeds", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    try:
        wrong, total = check(options)
    except PeerFailed as error:
        sys.exit(f"LiteRT: {error}")
    print(f"{total - wrong} of {total} networks are equal")
    sys.exit(1 if wrong or not total else 0)


if __name__ == "__main__":
    main()
