"""Whether a change of the compiler changes any artifact.

    python3 -m compiler.artifact_digests list --models FOLDER [--cpu CPU]... [NETWORK...] [> LIST]
        a line an artifact: network, precision, processor, SHA-256 of the file
    python3 -m compiler.artifact_digests compare BEFORE AFTER
        what two such lists differ in

NETWORK is a name of the zoo; by default, all of it. Each is compiled in fp32, bf16 (where the processor has it) and
int8, for x86-64-v3 and sapphirerapids unless --cpu names others. The compiler is $ATTUNE, or the one of the release
build.

FOLDER keeps the model files, which are made where they are missing: the network with its seeded weights, and its
integer version, quantized by random samples of a fixed seed. Two compilers are compared on the same files, so give both
lists the same folder:

    ATTUNE=/tmp/attune_before python3 -m compiler.artifact_digests list --models /tmp/models > BEFORE
    python3 -m compiler.artifact_digests list --models /tmp/models > AFTER
    python3 -m compiler.artifact_digests compare BEFORE AFTER

compare prints a line for each artifact that is other code, new or gone, then a summary, and ends with exit code 1 where
there is one."""
import array
import hashlib
import math
import os
import pathlib
import random
import re
import tempfile

from common.program import Failed, attune, attune_json
from compiler.digest_lists import main

CPUS = ["x86-64-v3", "sapphirerapids"]
SAMPLES, SEED = 4, 1

# By type of input: array's type code, and a function that draws an element. Integers are indices; 0 and 1 are always
# valid.
DRAWS = {"f32": ("f", lambda draw: draw.uniform(-1, 1)), "i64": ("q", lambda draw: draw.randrange(2)),
         "i32": ("i", lambda draw: draw.randrange(2))}


def make_model(path, make):
    """Calls make(unfinished) unless the file exists. A file that exists is complete."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"{path.stem}.unfinished.onnx")
        make(unfinished)
        os.replace(unfinished, path)
    return path


def zoo_inputs(network):
    """(name, type, number of elements) for each input."""
    entry = next((entry for entry in attune_json("zoo")["networks"] if entry["name"] == network), None)
    if entry is None:
        raise Failed(f"{network}: the zoo has no such network")
    for text in entry["inputs"]:
        name, dtype, shape = re.fullmatch(r"(\S+) (\w+)\[(.*)\]", text).groups()
        yield name, dtype, math.prod(map(int, shape.split(",")))


def write_samples(network, folder):
    """Random samples as `attune quantize --data` reads them: raw bytes; for several inputs, one folder per sample."""
    draw, inputs = random.Random(SEED), list(zoo_inputs(network))
    for sample in range(SAMPLES):
        for name, dtype, elements in inputs:
            code, value = DRAWS[dtype]
            path = folder / f"{sample}.raw" if len(inputs) == 1 else folder / f"{sample}" / f"{name}.raw"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(array.array(code, (value(draw) for _ in range(elements))).tobytes())


def quantize(network, model, target):
    with tempfile.TemporaryDirectory() as samples:
        write_samples(network, pathlib.Path(samples))
        attune("quantize", model, "--data", samples, "-o", target)


def artifact_digest(model, cpu, *options):
    with tempfile.TemporaryDirectory() as place:
        artifact = pathlib.Path(place) / "network.atn"
        attune("compile", model, "-o", artifact, "--cpu", cpu, *options)
        return hashlib.sha256(artifact.read_bytes()).hexdigest()


def artifacts(network, arguments):
    """(precision, processor, digest) for each artifact of a network."""
    folder = pathlib.Path(arguments.models)
    model = make_model(folder / f"{network}.onnx", lambda path: attune("zoo", network, "-o", path))
    integers = make_model(folder / f"{network}_int8.onnx", lambda path: quantize(network, model, path))
    for cpu in arguments.cpu or CPUS:
        yield "fp32", cpu, artifact_digest(model, cpu)
        try:
            yield "bf16", cpu, artifact_digest(model, cpu, "--precision", "bf16")
        except Failed as error:
            if "has no avx512_bf16" not in str(error):
                raise
        yield "int8", cpu, artifact_digest(integers, cpu)


def add_list_arguments(parser):
    parser.add_argument("--models", required=True, metavar="FOLDER")
    parser.add_argument("--cpu", action="append", help=f"repeatable (default: {' and '.join(CPUS)})")


if __name__ == "__main__":
    main("artifact_digests", __doc__, ("network", "precision", "processor", "digest"), "artifacts", add_list_arguments,
         artifacts)
