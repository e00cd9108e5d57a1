"""Lists of digests, one per line: a network, a part of it, and the digest. One compiler makes a list, which is compared
with another compiler's. The tools that make such lists share their command line: `list`, and `compare BEFORE AFTER`."""
import argparse
import pathlib
import sys

from common.program import Failed, attune_json


def zoo_names():
    return [entry["name"] for entry in attune_json("zoo")["networks"]]


def read_list(path, columns):
    """{(network, …): digest}. `columns` names the columns of a line; the digest is the last."""
    rows = [tuple(line.split()) for line in path.read_text().splitlines()]
    bad = next((number for number, row in enumerate(rows, 1) if len(row) != len(columns)), None)
    if bad is not None:
        raise Failed(f"{path}, line {bad}: not {', '.join(columns)}; `list` writes such lines")
    return {row[:-1]: row[-1] for row in rows}


def differences(before, after):
    """(network, …, what is different) for each key whose digest differs, in the networks that are in both lists."""
    common = {key[0] for key in before} & {key[0] for key in after}
    for key in sorted(before.keys() | after.keys()):
        if key[0] in common and before.get(key) != after.get(key):
            yield *key, "new" if key not in before else "gone" if key not in after else "other code"


def print_differences(before, after, noun):
    """Prints the differences. Returns the exit code: 1 if there are any."""
    found = list(differences(before, after))
    for row in found:
        print(*row)
    networks = sorted({row[0] for row in found})
    print(f"{len(found)} of {len(before.keys() | after.keys())} {noun} differ"
          + (f", in {', '.join(networks)}" if networks else ""))
    return 1 if found else 0


def main(tool, description, columns, noun, add_list_arguments, list_rows):
    """The command line of a tool: `list` prints `list_rows(network, arguments)` for each network, where rows have all
    columns except the network; `compare` tells which `noun` differ between two lists. Ends the program."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list")
    add_list_arguments(listing)
    listing.add_argument("networks", nargs="*", metavar="NETWORK", help="(default: all of the zoo)")
    comparing = commands.add_parser("compare")
    comparing.add_argument("lists", nargs=2, type=pathlib.Path, metavar="LIST")
    arguments = parser.parse_args()
    try:
        if arguments.command == "compare":
            sys.exit(print_differences(*(read_list(path, columns) for path in arguments.lists), noun))
        for network in arguments.networks or zoo_names():
            for row in list_rows(network, arguments):
                print(network, *row, flush=True)
    except (Failed, OSError) as error:
        print(f"{tool}: {error}", file=sys.stderr)
        sys.exit(2)
