"""python -m accuracy; ./do accuracy runs it."""
import sys

from accuracy import options, page
from accuracy import results as ask
from accuracy.lab import Lab
from common.options import BAD_USAGE, INTERRUPTED
from common.program import ROOT, Failed, print_table
from common.progress import interrupt_on_terminate, progress
from common.report.words import duration
from common.results import RESULTS, write

DOCS = ROOT / "docs"
PUBLISHED = RESULTS / page.NUMBERS


def run_entries(pairs, results, path, lab, again=False):
    """Measures each (network, tool) that the results lack, and writes the results after each. Returns {what failed: the
    reason}."""
    pending = [pair for pair in pairs if again or ask.key(*pair) not in results["entries"]]
    progress(f"{len(pairs)} measurements, {len(pairs) - len(pending)} of them complete")
    failures = {}
    for number, (network, tool) in enumerate(pending, len(pairs) - len(pending) + 1):
        progress(f"{number} of {len(pairs)}: {network}, {tool}")
        try:
            entry = lab.run(network, tool)
        except Failed as error:
            failures[f"{network}, {tool}"] = str(error)
            progress(f"fails: {error}")
            continue
        results["entries"][ask.key(network, tool)] = entry
        write(path, results)
        progress(f"{page.score(entry)} after {duration(entry['wall_s'])}")
    return failures


def report(results, output, write_docs):
    """Writes the page into the folder and, if asked, into docs/. The page in docs/ also has the published networks that
    these results lack."""
    own = ask.split(results)
    (output / "quantization.md").write_text(page.page(own))
    if write_docs:
        ask.publish(own, PUBLISHED)
        (DOCS / "quantization.md").write_text(page.page(ask.published(PUBLISHED)))
    print_table(page.score_rows(own))


def measure(args):
    """Runs the measurement. Returns the exit code."""
    path = args.output / "results.json"
    samples = {"calibration": args.calibration, "judging": args.judging}
    try:
        results = ask.read(path, samples)
    except ValueError as error:
        print(f"accuracy: {error}", file=sys.stderr)
        return BAD_USAGE
    pairs = [(network, tool) for network in args.networks for tool in args.tools]
    lab = Lab(args.output, {**samples, "threads": args.threads})
    failures = run_entries(pairs, results, path, lab, args.again)
    write(path, results)
    report(results, args.output, args.write_docs)
    for what, reason in failures.items():
        print(f"failed: {what}: {reason}", file=sys.stderr)
    return 1 if failures else 0


def main():
    args = options.parse(sys.argv[1:])
    interrupt_on_terminate()
    try:
        return measure(args)
    except KeyboardInterrupt:
        print("\naccuracy: interrupted; the same command resumes", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
