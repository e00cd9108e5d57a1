"""Sends damaged models to a server, has them imported, and checks that it lives on.

fuzz_uploads.py              starts a server, damages the models of tests/fuzz/corpus and of the zoo 1,000 times, sends
                             each, and says what came of them; exits with 1 at the first answer that is a 5xx, at a
                             model that is neither ready nor refused with a sentence, and when the server has ended

The same --seed damages them in the same way.
"""
import argparse
import collections
import concurrent.futures
import pathlib
import random
import re
import sys
import tempfile

from common.fleet_members import Fleet
from common.program import PROGRAM, ROOT, attune
from common.rest_client import first_client

CORPUS = ("onnx_import", "tflite", "tensorflow")
ZOO = ("squeezenet1_1",)
INTERESTING = (0, 1, 0x7F, 0x80, 0xFF)
AT_ONCE = 4


class Violation(Exception):
    """The server has not done as it should."""


def models(folder, zoo=ZOO):
    """The models that are damaged, by their names."""
    files = [file for kind in CORPUS for file in sorted((ROOT / "tests/fuzz/corpus" / kind).iterdir())]
    for network in zoo:
        file = pathlib.Path(folder) / f"{network}.onnx"
        attune("zoo", network, "-o", file)
        files.append(file)
    return {file.name: file.read_bytes() for file in files}


def damaged(content, chance):
    """The content with some bytes changed, cut out, doubled or moved, as fuzzers do."""
    damage = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        if not damage:
            break
        begin = chance.randrange(len(damage))
        end = min(len(damage), begin + chance.choice((1, 2, 4, 8, 64, 1024)))
        kind = chance.randrange(6)
        if kind == 0:
            damage[begin] ^= 1 << chance.randrange(8)
        elif kind == 1:
            damage[begin:end] = bytes(chance.choice(INTERESTING) for _ in range(end - begin))
        elif kind == 2:
            del damage[begin:end]
        elif kind == 3:
            damage[begin:begin] = damage[begin:end]
        elif kind == 4:
            damage[begin:end] = chance.randbytes(end - begin)
        else:
            del damage[begin:]
    return bytes(damage)


def send(client, name, content):
    """Has one model imported; returns its state."""
    model = client.imported(name, client.upload(content))
    if model["state"] == "refused" and not model["error"]:
        raise Violation(f"{name} is refused without a sentence")
    return model


def fuzz(client, originals, count, seed):
    """Sends this many damaged models; returns how many came to which end, and the sentences that tell of crashes."""
    chance = random.Random(seed)
    named = [(name, damaged(originals[name], chance))
             for name in (chance.choice(list(originals)) for _ in range(count))]
    ends, crashes = collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for model in pool.map(lambda one: send(client, *one), named):
            ends[model["state"]] += 1
            if re.search("the importer (crashes|fails) on it", model["error"]):
                crashes.append(model["name"])
    return ends, crashes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        with Fleet(folder, PROGRAM, 2, ["--http", "127.0.0.1:0"]) as fleet:
            client = first_client(fleet).token("fuzz", "member")
            try:
                ends, crashes = fuzz(client, models(folder), options.models, options.seed)
            except (AssertionError, Violation) as error:
                print(f"violated: {error}", file=sys.stderr)
                return 1
            if fleet.members["server"].ended() is not None:
                print("violated: the server has ended", file=sys.stderr)
                return 1
    print(f"{options.models} damaged models: {ends['ready']} ready, {ends['refused']} refused, of which the importer "
          f"crashed on {len(crashes)} {sorted(set(crashes))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
