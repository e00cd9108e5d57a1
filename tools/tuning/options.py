"""The command line of ./do experiments."""
import argparse
import hashlib
import pathlib

from common.models import zoo
from common.options import Parser, count
from common.program import PROGRAM, ROOT
from tuning import cases, pretrain
from tuning.cases import EXPERIMENTS, Plan

OUTPUT, SHORT_OUTPUT = ROOT / "build/tuning/experiments", ROOT / "build/tuning/experiments-short"
DIGITS = 12  # of a program's digest, which distinguishes it from others

DESCRIPTION = """Measures the gain of the tuner, and the share of each of its parts in it. Complete results are kept and
not measured again, so the same command resumes where it was interrupted."""

EPILOG = "Experiments: " + "; ".join(f"{number} {experiment.title}" for number, experiment in EXPERIMENTS.items()) + "."


def experiments(text):
    for part in text.split(","):
        if part not in map(str, EXPERIMENTS):
            raise argparse.ArgumentTypeError(f"there is no experiment {part}; there are 1 to {len(EXPERIMENTS)}")
    return sorted({int(part) for part in text.split(",")})


def networks(text):
    return tuple(dict.fromkeys(text.split(",")))


def pairs(text):
    found = [tuple(part.split(":")) for part in text.split(",")]
    if any(len(pair) != 2 or pair[0] == pair[1] for pair in found):
        raise argparse.ArgumentTypeError(f"{text} is not a list of two networks each, such as resnet50:resnet18")
    return tuple(found)


def parser():
    p = Parser("experiments", description=DESCRIPTION, epilog=EPILOG)
    p.add_argument("--only", type=experiments, metavar="N,N", default=sorted(EXPERIMENTS),
                   help="these experiments; default: all")
    p.add_argument("--short", action="store_true",
                   help=f"{' and '.join(cases.SHORT_NETWORKS)} alone, {cases.SHORT_TRIALS} trials, one seed: within an "
                        "hour")
    p.add_argument("--trials", type=count, metavar="N",
                   help=f"of a run; default: {cases.TRIALS}, of experiment 6 {cases.DEPLOYED_TRIALS}")
    p.add_argument("--seeds", type=count, metavar="N",
                   help=f"runs of each kind; default: {cases.SEEDS}, of {' and '.join(cases.COMPARED)}, which are "
                        f"compared, {cases.COMPARED_SEEDS}")
    p.add_argument("--networks", type=networks, metavar="NAME,NAME", help="for all experiments but 2 and 7; default: "
                   f"{', '.join(cases.NETWORKS)}, and of experiment 6 {', '.join(cases.DEPLOYED)}")
    p.add_argument("--pairs", type=pairs, metavar="FIRST:SECOND,...",
                   help=f"for experiment 2; default: {','.join(map(':'.join, cases.PAIRS))}")
    p.add_argument("--baseline", type=pathlib.Path, metavar="PROGRAM",
                   help="an attune program whose artifacts take turns too, in experiments 6 and 7")
    p.add_argument("--baseline-cpu", metavar="CPU",
                   help="the processor for which the baseline compiles a network that it fails to compile for this one")
    p.add_argument("--records", type=pathlib.Path, metavar="DB",
                   help="what ./do pretrain has measured, for experiments 3, 4 and 7; by default that is measured "
                        f"first, in {pretrain.RECORDS.relative_to(ROOT)} or, less of it, beside the results of "
                        "the short form")
    p.add_argument("--output", type=pathlib.Path, metavar="DIR",
                   help=f"for results.json, the report and databases; default: {OUTPUT.relative_to(ROOT)}, with "
                        f"--short {SHORT_OUTPUT.relative_to(ROOT)}")
    p.add_argument("--anew", action="store_true",
                   help="measure complete results once more; to resume an interrupted run, leave this option out")
    p.add_argument("--write-docs", action="store_true",
                   help="write docs/tuning.md too, with what was measured of these experiments")
    return p


def plan(args):
    """The size of the experiments that the options ask for."""
    fields = {"networks": args.networks, "deployed": args.networks, "pairs": args.pairs,
              "seeds": args.seeds, "compared_seeds": args.seeds or cases.COMPARED_SEEDS,
              "trials": args.trials, "deployed_trials": args.trials}
    if args.short:
        short = {"networks": cases.SHORT_NETWORKS, "deployed": cases.SHORT_NETWORKS, "pairs": (cases.SHORT_NETWORKS,),
                 "seeds": 1, "trials": cases.SHORT_TRIALS, "deployed_trials": cases.SHORT_TRIALS,
                 "long_network": cases.SHORT_NETWORKS[0], "long_time": cases.SHORT_TIME,
                 "cold_time": cases.SHORT_SOON_TIME, "taught_time": cases.SHORT_SOON_TIME}
        fields = {name: fields.get(name) or value for name, value in short.items()}
        fields["compared_seeds"] = fields["seeds"]
    given = {name: value for name, value in fields.items() if value}
    baseline = hashlib.sha256(args.baseline.read_bytes()).hexdigest()[:DIGITS] if args.baseline else ""
    return Plan(**given, time=cases.SHORT_TIME if args.short else "", baseline=baseline)


def contradiction(args):
    """Describes what is wrong, or None."""
    if args.baseline_cpu and not args.baseline:
        return "--baseline-cpu is for a program that --baseline names"
    if args.records and not args.records.exists():
        return f"there is no database {args.records}; without --records it is made"
    known = zoo.zoo_names()
    wanted = {network: None for case in cases.all_cases(args.only, args.plan)[1] for network in cases.networks_of(case)}
    unknown = [network for network in wanted if not zoo.is_known(network, known)]
    if unknown:
        return f"there is no network {unknown[0]}; the zoo has {', '.join(known)}, and ./do bench makes others"
    return None


def parse(arguments):
    """The options, with the plan, the database of pretraining, and what must be collected in it first, or None. Ends
    the program if they are wrong."""
    p = parser()
    args = p.parse_args(arguments)
    if not PROGRAM.is_file():
        p.error(f"{PROGRAM} is missing; ./do build makes it")
    args.output = args.output or (SHORT_OUTPUT if args.short else OUTPUT)
    if args.baseline and not args.baseline.is_file():
        p.error(f"there is no program {args.baseline}")
    args.plan = plan(args)
    wrong = contradiction(args)
    if wrong:
        p.error(wrong)
    args.collection = None if args.records else pretrain.SHORT if args.short else pretrain.FULL
    args.database = args.records or (args.output / "pretrain.db" if args.short else pretrain.RECORDS)
    return args
