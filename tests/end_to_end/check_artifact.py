#!/usr/bin/env python3
"""check_artifact.py reproducible     compiling twice gives the same bytes
check_artifact.py alone EXAMPLE    the example program runs an artifact with the runtime alone"""
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile

from checks import end_to_end
from common.program import attune, attune_json

NETWORK = "resnet50"


def check_reproducible(folder):
    model = folder / "model.onnx"
    attune("zoo", NETWORK, "-o", model)
    files = [folder / "first.atn", folder / "second.atn"]
    for file, threads in zip(files, (1, 2)):
        attune("compile", model, "-o", file, "--threads", threads)
    first, second = (file.read_bytes() for file in files)
    assert first == second, f"{sum(a != b for a, b in zip(first, second))} bytes differ"


def check_alone(folder, example):
    model, artifact, image = folder / "model.onnx", folder / "model.atn", folder / "image.raw"
    attune("zoo", NETWORK, "-o", model)
    attune("compile", model, "-o", artifact)
    values = random.Random(0)
    count = 3 * 224 * 224
    image.write_bytes(struct.pack(f"<{count}f", *(values.gauss(0, 1) for _ in range(count))))
    printed = subprocess.run([example, artifact, "1", image], capture_output=True, text=True, check=True).stdout
    print(printed)
    top = [(int(index), float(value)) for index, value in re.findall(r"^ +(\d+)  (\S+)$", printed, re.MULTILINE)]
    expected = attune_json("run", artifact, "--input", image, "--threads", 1, "--top", 5)["outputs"][0]["top"]
    assert len(top) == 5
    for (index, value), entry in zip(top, expected):
        assert index == entry["index"] and abs(value - entry["value"]) <= 1e-5 * abs(value), f"expected {expected}"


with tempfile.TemporaryDirectory() as scratch:
    if sys.argv[1] == "reproducible":
        end_to_end(lambda: check_reproducible(pathlib.Path(scratch)))
    else:
        end_to_end(lambda: check_alone(pathlib.Path(scratch), sys.argv[2]))
