#!/usr/bin/env python3
"""Which kernels of networks a change of the compiler changes.

    tools/kernel_digests.py list --cpu CPU [NETWORK...] [> LIST]    a line a kernel: network, kernel, digest of its code
    tools/kernel_digests.py compare BEFORE AFTER                    what two such lists differ in

NETWORK is a name of the zoo or a model file; by default, all of the zoo. The compiler is $ATTUNE, or the one of the
release build. A kernel is named after what it computes and for which processor, so that the same one has the same name
before and after. compare prints a line for each kernel that is other code, new or gone, then a summary, and ends with
exit code 1 where there is one."""
import argparse
import pathlib
import sys
import tempfile

from program import Failed, attune, attune_json, model_file


def kernels(network, cpu):
    """{name: digest} of the kernels that a network becomes."""
    with tempfile.TemporaryDirectory() as place:
        artifact = pathlib.Path(place) / "network.atn"
        attune("compile", model_file(network, place), "-o", artifact, "--cpu", cpu)
        return {kernel["name"]: kernel["digest"] for kernel in attune_json("inspect", artifact)["kernels"]}


def print_list(networks, cpu):
    for network in networks or [entry["name"] for entry in attune_json("zoo")["networks"]]:
        for name, digest in kernels(network, cpu).items():
            print(network, name, digest, flush=True)


def read_list(path):
    """{(network, kernel): digest}"""
    rows = [line.split() for line in path.read_text().splitlines()]
    bad = next((number for number, row in enumerate(rows, 1) if len(row) != 3), None)
    if bad is not None:
        raise Failed(f"{path}, line {bad}: not a network, a kernel and a digest; `list` writes such lines")
    return {(network, kernel): digest for network, kernel, digest in rows}


def differences(before, after):
    """(network, kernel, what is different) of each kernel that is not the same in both, and lies in networks that both
    have."""
    common = {network for network, _ in before} & {network for network, _ in after}
    for key in sorted(before.keys() | after.keys()):
        if key[0] in common and before.get(key) != after.get(key):
            yield *key, "new" if key not in before else "gone" if key not in after else "other code"


def print_differences(before, after):
    found = list(differences(before, after))
    for row in found:
        print(*row)
    networks = sorted({network for network, _, _ in found})
    print(f"{len(found)} of {len(before.keys() | after.keys())} kernels differ"
          + (f", in {', '.join(networks)}" if networks else ""))
    return 1 if found else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list")
    listing.add_argument("--cpu", required=True)
    listing.add_argument("networks", nargs="*")
    comparing = commands.add_parser("compare")
    comparing.add_argument("lists", nargs=2, type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        if arguments.command == "list":
            print_list(arguments.networks, arguments.cpu)
            return 0
        return print_differences(*map(read_list, arguments.lists))
    except (Failed, OSError) as error:
        print(f"kernel_digests: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
