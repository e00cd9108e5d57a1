"""python -m study; ./do study runs it."""
import shlex
import sys

from common.options import BAD_USAGE, INTERRUPTED
from common.program import ROOT, print_missing, print_table
from common.progress import interrupt_on_terminate, progress
from common.report.pages import write_page
from common.results import load, write
from study import page, plots, power
from study import results as ask
from study.lab import Lab
from study.options import INCOMPLETE, parse

DOCS = ROOT / "docs"


class Unsuitable(Exception):
    """There are results that this run cannot continue; the message is a sentence for the user."""


def command_of(args):
    """The command line that repeats the whole measurement, even if this run does only a part of it."""
    peers = ["--peers", ",".join(args.peers)] if args.peers else []
    return shlex.join(["./do", "study", "--rounds", str(args.rounds), "--seconds", f"{args.seconds:g}", *peers])


def begin(args, path):
    """The document of this run: one to continue, or a new one. Raises Unsuitable."""
    fresh = ask.document(args.rounds, args.seconds, args.peers, command_of(args))
    if args.anew or not path.exists():
        return fresh
    try:
        found = load(path)
    except ValueError as error:
        raise Unsuitable(f"{error}; --anew discards it") from None
    different = ask.difference(found, fresh)
    if different:
        raise Unsuitable(f"{path} is of other {' and '.join(different)} than this run; --anew discards it, --output "
                         "names another folder, and --from reports it")
    return found


def measure(args):
    """Measures and returns the document of results. It is written after each step, so that nothing is lost. Raises
    Unsuitable."""
    path = args.output / "results.json"
    results = begin(args, path)
    zones = power.packages() if results["power"]["status"] == "ran" else None
    lab = Lab(results, zones, lambda: write(path, results), progress)
    for network in args.networks:
        lab.complete(network)
    return results


def show(results, output, write_docs):
    """Prints the tables and writes the page. Returns the exit code."""
    charts = plots.figures(results)
    for folder in [output, *([DOCS] if write_docs else [])]:
        write_page(folder / "study.md", page.page(results, charts), folder / page.FIGURES, charts)
    for network, own in ask.measured(results):
        print(f"{network.title}\n")
        print_table(page.rows(results, network, own))
    lacking = ask.missing(results)
    print_missing((f"{what} of {title}", reason) for what, title, reason in lacking)
    return INCOMPLETE if lacking else 0


def main():
    args = parse(sys.argv[1:])
    interrupt_on_terminate()
    try:
        return show(args.results or measure(args), args.output, args.write_docs)
    except Unsuitable as error:
        print(f"study: {error}", file=sys.stderr)
        return BAD_USAGE
    except KeyboardInterrupt:
        print("\nstudy: interrupted; the same command resumes", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
