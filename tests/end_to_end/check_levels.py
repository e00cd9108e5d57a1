#!/usr/bin/env python3
"""check_levels.py NETWORK    a network of the zoo compiles for every level of instructions, at reduced width if it is
large; every verifier runs, whatever this machine has. The last level differs from the one before only in products, and
a few networks have every kind of them, so the others skip it."""
import pathlib
import sys
import tempfile

from checks import end_to_end
from compiler.compile_zoo import LEVELS, compile_network, write_network

WITH_LAST_LEVEL = ["resnet50", "resnext50_32x4d", "mobilenet_v2", "bert_base"]


def check(network):
    with tempfile.TemporaryDirectory() as folder:
        model = write_network(network, pathlib.Path(folder), small=True)
        for cpu in LEVELS if network in WITH_LAST_LEVEL else LEVELS[:-1]:
            for line in compile_network(model, cpu):
                print(line)


end_to_end(lambda: check(sys.argv[1]))
