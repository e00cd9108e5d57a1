"""python -m bench; ./do bench runs it."""
import dataclasses
import shlex
import sys

from bench import compare, page, pages, report
from bench import results as ask
from bench.measure import Lab, document
from bench.options import ENGINES_MISSING, SLOWER, parse
from bench.wide import page as wide_page
from bench.wide import results as wide_results
from bench.wide.table import NETWORKS
from common.options import BAD_USAGE
from common.program import PROGRAM, ROOT, Failed, print_missing, print_table
from common.progress import progress
from common.report.pages import write_page, write_text
from common.report.words import plural
from common.results import RESULTS, load, write

DOCS, LISTED = ROOT / "docs", RESULTS / "performance/pages.json"


def write_all(folder, texts):
    for name, text in texts.items():
        write_text(folder / name, text)


def command_of(arguments):
    """The command line that repeats a measurement: everything except where its results went."""
    kept = [argument for index, argument in enumerate(arguments)
            if not argument.startswith("--output") and arguments[index - 1:index] != ["--output"]]
    return shlex.join(["./do", "bench", *kept])


def measure(args, lab):
    """Measures, and returns the document of results. It is written after each case, so that nothing is lost."""
    results = args.results or document(lab, args.threads, command_of(sys.argv[1:]))
    cases = {case["name"]: case for case in results["cases"]}
    for case in args.cases:
        cases[case.name] = lab.measure(case, args.threads, progress)
        results["cases"] = list(cases.values())
        write(args.output / "results.json", results)
    return results


def measure_wide(args, lab):
    """Measures the networks of the wide set that the old document lacks. Returns the document. Raises ValueError."""
    path = args.output / "results.json"
    old = load(path) if path.exists() and not args.again else None
    command = command_of([argument for argument in sys.argv[1:] if argument not in args.networks])
    results = wide_results.begun(old, lab, args.threads, command, {network.name for network in NETWORKS})
    wide_results.measure(lab, args.cases, bool(args.networks), results, lambda each: write(path, each), progress)
    return results


def show_wide(results, output, write_docs):
    """Prints the table and writes the page. Returns the exit code."""
    write_text(output / "table.md", wide_page.page(results))
    if write_docs:
        name = pages.name_of(results)
        write_text(DOCS / "performance" / f"{name}.md", wide_page.page(results))
        summarize(results, name, lambda threads: wide_page.mean_ratio(results, threads))
    for threads in results["settings"]["threads"]:
        print(f"least latency in ms on {plural(threads, 'thread')}\n")
        print_table(wide_page.rows(results, threads))
    lacking = ask.missing(results)
    print_missing((f"{engine} on {case}", reason) for case, engine, reason in lacking)
    return ENGINES_MISSING if lacking else 0


def summarize(results, name, mean_ratio):
    means = [(threads, mean_ratio(threads)) for threads in results["settings"]["threads"]]
    pages.write_summary(DOCS, LISTED, name, pages.entry(results, means))


def show(results, output, write_docs):
    """Prints the tables and writes the reports. Returns the exit code."""
    charts = report.figures(results)
    write_text(output / "table.md", report.table_file(results))
    write_all(output, charts)
    if write_docs:
        name, folder = pages.name_of(results), DOCS / "performance"
        write_page(folder / f"{name}.md", page.page(results, charts, name), folder / name, charts)
        cases = ask.standard_and_variants(results)[0]
        summarize(results, name, lambda threads: ask.mean_ratio(cases, threads))
    for cases in filter(None, ask.standard_and_variants(results)):
        for threads in results["settings"]["threads"]:
            print(f"least latency in ms on {plural(threads, 'thread')}\n")
            print_table(report.latency_rows(results, cases, threads))
    lacking = ask.missing(results)
    print_missing((f"{engine} on {case}", reason) for case, engine, reason in lacking)
    return ENGINES_MISSING if lacking else 0


def against(args, lab):
    """Compares two programs. Returns the exit code."""
    try:
        programs = {"old": args.against_program or compare.build(compare.resolve(args.against)), "new": PROGRAM}
    except Failed as error:
        print(f"bench: {error}", file=sys.stderr)
        return BAD_USAGE
    comparisons, broken = [], False
    for case in args.cases:
        progress(f"{case.name}: comparing")
        more, failures = compare.compare_case(case, args.threads, programs, lab)
        comparisons += more
        for side, reason in failures.items():
            print(f"{case.name}: the {side} program fails: {reason}", file=sys.stderr)
        broken = broken or "new" in failures
    write(args.output / "against.json",
               [{**dataclasses.asdict(c), "verdict": c.verdict} for c in comparisons])
    print_table(compare.rows(comparisons))
    return SLOWER if broken or any(c.verdict == "slower" for c in comparisons) else 0


def main():
    args = parse(sys.argv[1:])
    if args.list:
        print("\n".join(case.name for case in args.cases))
        return 0
    if args.results and args.wide:
        return show_wide(args.results, args.output, args.write_docs)
    if args.results and not args.networks:
        return show(args.results, args.output, args.write_docs)
    lab = Lab(args.peers, args.rounds, args.seconds, args.bf16, args.int8)
    if args.against or args.against_program:
        return against(args, lab)
    if args.wide:
        try:
            return show_wide(measure_wide(args, lab), args.output, args.write_docs)
        except ValueError as error:
            print(f"bench: {error}", file=sys.stderr)
            return BAD_USAGE
    return show(measure(args, lab), args.output, args.write_docs)


if __name__ == "__main__":
    sys.exit(main())
