"""The command line of ./do bench."""
import argparse
import pathlib
import sys

from bench import compare
from bench.wide import table
from bench.wide import networks as wide
from common import machine
from common.engines import PEERS
from common.models import files
from common.models.cases import NETWORKS, SCALES, select
from common.options import BAD_USAGE, Parser, count, duration, readers_of_integers, results_file
from common.program import PROGRAM, ROOT

OUTPUT, INT8_OUTPUT = ROOT / "build/bench/results", ROOT / "build/bench/results-int8"
WIDE_OUTPUT = ROOT / "build/bench/results-wide"
ROUNDS, SECONDS = 5, 1.0
ROUNDS_AGAINST, SECONDS_AGAINST = 15, 0.3
SLOWER, ENGINES_MISSING = 1, 3  # exit codes, in addition to those of all tools

DESCRIPTION = """Measures latency: of Attune beside the engines that people would pick instead, or with --against of
this program beside another commit's. All take turns, so that a drift of the machine's speed hits all."""

EPILOG = f"""Networks: {', '.join(network.name for network in NETWORKS)}. A variant's name says what it differs in:
resnet50-192px, mobilenet_v2-w0.75, resnet50-b8. Exit codes: {SLOWER} where --against found a network slower,
{BAD_USAGE} for bad usage, {ENGINES_MISSING} where an engine was supposed to run and did not, else 0."""


def counts(text):
    return sorted({count(part) for part in text.split(",")})


def peers(text):
    names = [] if text == "none" else text.split(",")
    for name in names:
        if name not in PEERS:
            raise argparse.ArgumentTypeError(f"there is no peer {name}; there are {', '.join(PEERS)}, and none")
    return [name for name in PEERS if name in names]


def parser():
    p = Parser("bench", description=DESCRIPTION, epilog=EPILOG)
    p.add_argument("networks", nargs="*", metavar="NETWORK", help="default: all, in their standard form")
    p.add_argument("--threads", type=counts, metavar="N,N", help="default: 1 and as many as there are processors")
    p.add_argument("--rounds", type=count, metavar="N",
                   help=f"turns that each engine gets; default: {ROUNDS}, with --against {ROUNDS_AGAINST}")
    p.add_argument("--seconds", type=duration, metavar="S",
                   help=f"length of a turn; default: {SECONDS:g}, with --against {SECONDS_AGAINST:g}")
    p.add_argument("--only", type=peers, metavar="PEERS", dest="peers",
                   help=f"peers that are meant, of {','.join(PEERS)}; none measures Attune alone; default: all, with "
                        f"--int8 {','.join(readers_of_integers())}, with --wide {','.join(wide.PEERS)}")
    p.add_argument("--bf16", action="store_true", help="let engines compute in bfloat16 that can")
    p.add_argument("--int8", action="store_true",
                   help="measure networks of 8-bit integers: " +
                        ", ".join(network.name for network in NETWORKS if "int8" in network.precisions))
    p.add_argument("--wide", action="store_true",
                   help=f"measure {len(table.NETWORKS)} other networks, outside the tuned suite, beside "
                        f"{' and '.join(wide.PEERS)}; on 1 thread, where --threads says nothing else. A run resumes where "
                        "the last one ended; networks that are named are measured again")
    p.add_argument("--list", action="store_true", help="name the networks of --wide, and end")
    p.add_argument("--again", action="store_true", help="with --wide, begin anew")
    p.add_argument("--batch", type=count, metavar="N", default=1, help="inputs in one inference; default: 1")
    p.add_argument("--scale", choices=SCALES, default="standard", help="width of all layers, or side of the image")
    p.add_argument("--variants", action="store_true", help="measure the networks' variants too")
    p.add_argument("--output", type=pathlib.Path, metavar="DIR",
                   help=f"for results.json, table.md and figures; default: {OUTPUT.relative_to(ROOT)}, with --int8 "
                        f"{INT8_OUTPUT.relative_to(ROOT)}, with --wide {WIDE_OUTPUT.relative_to(ROOT)}")
    p.add_argument("--from", type=results_file, metavar="FILE", dest="results",
                   help="report this results.json again, with the networks that are named measured anew: where "
                        "something else ran on the machine")
    p.add_argument("--write-docs", action="store_true",
                   help="write the page of this kind of machine in docs/performance too, and their summary")
    p.add_argument("--against", metavar="COMMIT", help="compare with this commit's program, which is built for it")
    p.add_argument("--against-program", type=pathlib.Path, metavar="PATH", help="compare with this program")
    return p


def contradiction(args):
    """Describes options that do not go together, or None."""
    compares = args.against or args.against_program
    if args.against and args.against_program:
        return "--against and --against-program exclude each other"
    if compares and (args.results or args.write_docs):
        return "--against compares two programs and makes no report; leave out --from and --write-docs"
    if args.int8 and args.bf16:
        return "--int8 and --bf16 exclude each other"
    if args.wide and (args.int8 or args.bf16 or args.variants or args.batch != 1 or args.scale != "standard"):
        return "--wide has its networks in one form alone; leave out --int8, --bf16, --variants, --batch and --scale"
    if args.wide and not set(args.peers) <= set(wide.PEERS):
        return f"--wide compares with {', '.join(wide.PEERS)}"
    if args.wide and args.results and args.networks:
        return "--wide resumes with the results of its folder; with --from it reports alone"
    if (args.list or args.again) and not args.wide:
        return "--list and --again are options of --wide"
    if args.int8 and args.variants:
        return "--int8 has no variants"
    if args.results and args.networks and machine.program() != args.results["attune"]:
        return "--from measures networks anew with the program that measured the others, which is not this one"
    if compares and args.rounds < compare.FEWEST_ROUNDS:
        return f"--against needs --rounds {compare.FEWEST_ROUNDS} or more to tell a change from noise"
    if args.against_program and not args.against_program.is_file():
        return f"there is no program {args.against_program}"
    if (args.networks or not args.results) and not PROGRAM.is_file():
        return f"{PROGRAM} is missing; ./do build makes it"
    return None


def parse(arguments):
    """The options, with `cases` to measure and all defaults filled in. Ends the program if they are wrong."""
    p = parser()
    args = p.parse_args(arguments)
    compares = args.against or args.against_program
    args.threads = args.threads or ([1] if args.wide else sorted({1, machine.processors()}))
    args.rounds = args.rounds or (ROUNDS_AGAINST if compares else ROUNDS)
    args.seconds = args.seconds or (SECONDS_AGAINST if compares else SECONDS)
    if args.results:  # new measurements use the settings of the old ones
        vars(args).update({"int8": False, "wide": False, **args.results["settings"]})
    if args.peers is None:
        args.peers = list(wide.PEERS) if args.wide else readers_of_integers() if args.int8 else list(PEERS)
    args.output = args.output or (WIDE_OUTPUT if args.wide else INT8_OUTPUT if args.int8 else OUTPUT)
    wrong = contradiction(args)
    if wrong:
        p.error(wrong)
    try:
        args.cases = chosen(args)
    except ValueError as error:
        p.error(str(error))
    if not args.wide and (args.networks or not args.results):
        args.cases = those_at_hand(args.cases)
        if not args.cases:
            p.error("there is nothing left to measure")
    return args


def chosen(args):
    """The cases that the options select. Raises ValueError."""
    if args.wide:
        return wide.select(args.networks, table.NETWORKS)
    return select(args.networks, args.scale, args.batch, args.variants, "int8" if args.int8 else "fp32")


def those_at_hand(cases):
    """The cases whose models exist or can be made. Prints which others are left out."""
    for case in cases:
        if files.lacking(case):
            print(f"{case.name} is left out: there is no {files.lacking(case)}", file=sys.stderr)
    return [case for case in cases if not files.lacking(case)]
