#!/usr/bin/env python3
"""check_zoo.py NETWORK    compiles a network of the zoo and verifies it against the reference
check_zoo.py --names    the tests name every network of the zoo"""
import pathlib
import re
import sys
import tempfile

from checks import end_to_end
from common.program import attune, attune_json

# Networks that do not pass yet, each with the reason that the program gives.
PENDING = {}


def verify(network):
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / f"{network}.onnx"
        attune("zoo", network, "-o", model)
        report = attune_json("verify", model)
    for output in report["outputs"]:
        print(f"{output['name']}: largest error {output['max_absolute_error']:.2e}, {output['criterion']}")
    assert report["ok"] and report["outputs"], "the outputs are wrong"


def check_names():
    tests = pathlib.Path(__file__).with_name("CMakeLists.txt").read_text()
    tested = set(re.search(r"foreach\(network (.*?)\)", tests, re.DOTALL)[1].split())
    networks = {entry["name"] for entry in attune_json("zoo")["networks"]}
    assert networks == tested, f"of one kind only: {sorted(networks ^ tested)}"


if sys.argv[1] == "--names":
    end_to_end(check_names)
else:
    end_to_end(lambda: verify(sys.argv[1]), PENDING.get(sys.argv[1]))
