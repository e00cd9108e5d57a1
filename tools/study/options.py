"""The command line of ./do study."""
import argparse
import pathlib

from common.options import BAD_USAGE, Parser, count, duration, readers_of_integers, results_file
from common.program import PROGRAM, ROOT
from study.networks import NETWORKS

OUTPUT = ROOT / "build/study/results"
ROUNDS, SECONDS = 5, 2.0
INCOMPLETE = 3  # exit code, in addition to those of all tools

DESCRIPTION = """Measures what networks gain and lose in versions of fewer bits: throughput, latency, power, energy,
size and agreement with the float version. Complete results are kept and not measured again, so the same command resumes
where it was interrupted."""

EPILOG = f"""Networks: {', '.join(network.name for network in NETWORKS)}. Exit codes: {BAD_USAGE} for bad usage,
{INCOMPLETE} where something was supposed to work and did not, else 0."""


def peers(text):
    known, names = readers_of_integers(), [] if text == "none" else text.split(",")
    for name in names:
        if name not in known:
            raise argparse.ArgumentTypeError(f"there is no peer {name}; there are {', '.join(known)}, and none")
    return [name for name in known if name in names]


def network(text):
    found = next((network for network in NETWORKS if network.name == text), None)
    if found is None:
        raise argparse.ArgumentTypeError(f"there is no network {text}; there are "
                                         f"{', '.join(network.name for network in NETWORKS)}")
    return found


def parser():
    p = Parser("study", description=DESCRIPTION, epilog=EPILOG)
    p.add_argument("networks", nargs="*", type=network, metavar="NETWORK", help="default: all")
    p.add_argument("--rounds", type=count, metavar="N", default=ROUNDS,
                   help=f"turns that each version gets in each setup; default: {ROUNDS}")
    p.add_argument("--seconds", type=duration, metavar="S", default=SECONDS,
                   help=f"length of a turn; default: {SECONDS:g}")
    p.add_argument("--peers", type=peers, metavar="PEERS", default=[],
                   help=f"engines that run the float and the int8 version too, of {','.join(readers_of_integers())}; "
                        "default: none")
    p.add_argument("--output", type=pathlib.Path, metavar="DIR", default=OUTPUT,
                   help=f"for results.json, the page and its figures; default: {OUTPUT.relative_to(ROOT)}")
    p.add_argument("--anew", action="store_true", help="discard what is measured already")
    p.add_argument("--from", type=results_file, metavar="FILE", dest="results",
                   help="measure nothing, and report this results.json again")
    p.add_argument("--write-docs", action="store_true", help="write docs/study.md too")
    return p


def parse(arguments):
    """The options. Ends the program if they are wrong."""
    p = parser()
    args = p.parse_args(arguments)
    if args.results and (args.networks or args.anew):
        p.error("--from measures nothing; leave out networks and --anew")
    if not args.results and not PROGRAM.is_file():
        p.error(f"{PROGRAM} is missing; ./do build makes it")
    args.networks = args.networks or list(NETWORKS)
    return args
