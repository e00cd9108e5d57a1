"""./do experiments: measures what the tuner gains, and writes docs/tuning.md."""
import json
import shlex
import sys
import time

from common.options import BAD_USAGE, INTERRUPTED
from common.program import ROOT, Failed
from common.progress import interrupt_on_terminate, progress
from common.report.pages import write_page
from common.report.words import duration
from common.results import RESULTS, write
from tuning import page, plots, pretrain
from tuning import results as ask
from tuning.cases import all_cases, needs_pretraining, tuning_of
from tuning.lab import Lab
from tuning.options import parse
from tuning.turns import MOST_ROUNDS, ROUNDS

DOCS = ROOT / "docs"
PUBLISHED = RESULTS / "tuning"
REPLAYED = RESULTS / "replay.json"
SECONDS_OF_TRIAL, SECONDS_OF_CASE = 0.45, 60  # the guess before any case is complete


def command_of(args, number):
    """The command line that repeats an experiment: the options that matter to it, except where results went. The
    baseline appears only by its file name, which best tells its commit, and so do records, whose folder differs from
    machine to machine."""
    options = {"--trials": None if number == 7 else args.trials, "--seeds": None if number in (6, 7) else args.seeds,
               "--networks": None if number in (2, 7) else args.networks and ",".join(args.networks),
               "--pairs": ",".join(map(":".join, args.pairs)) if number == 2 and args.pairs else None,
               "--baseline": args.baseline.name if number in (6, 7) and args.baseline else None,
               "--records": args.records.name if number in (3, 4, 7) and args.records else None,
               "--baseline-cpu": args.baseline_cpu if number in (6, 7) else None}
    given = [str(part) for option in options.items() if option[1] for part in option]
    return shlex.join(["./do", "experiments", "--only", str(number), *(["--short"] if args.short else []), *given])


def seconds_of(case, results):
    """An estimate of the case's seconds: from cases of the same network on as many threads, otherwise from all,
    otherwise a guess."""
    longest = tuning_of(case).longest
    ran = [entry for entry in results["cases"].values() if "wall_s" in entry and "trials" in entry]
    alike = ask.of(ran, network=case.network, threads=case.threads)
    known = alike or ran
    if not known:
        return min(longest, SECONDS_OF_CASE + SECONDS_OF_TRIAL * case.trials)
    return min(longest, case.trials * sum(entry["wall_s"] for entry in known) / sum(entry["trials"] for entry in known))


def run_cases(cases, results, path, lab):
    """Runs the cases that the results lack, and writes the results after each. Returns {title: reason} for those that
    failed."""
    pending, failures = [case for case in cases if not ask.is_complete(results, case.key)], {}
    progress(f"{len(cases)} runs, {len(cases) - len(pending)} of them complete")
    for index, case in enumerate(pending):
        left = sum(seconds_of(later, results) for later in pending[index:])
        number = len(cases) - len(pending) + index + 1
        progress(f"run {number} of {len(cases)}: {case.title}; about {duration(left)} left")
        start = time.monotonic()
        try:
            entry = lab.run(case)
        except Failed as error:
            failures[case.title] = str(error)
            progress(f"fails: {error}")
            continue
        results["cases"][case.key] = {**entry, "wall_s": time.monotonic() - start}
        write(path, results)
    return failures


def forget(cases, results, lab):
    """Removes all traces of the cases, as if they had never run."""
    for case in cases:
        results["cases"].pop(case.key, None)
        lab.forget(case)


def collect_records(args, cases, results):
    """Collects records for pretrained cost models, if cases that need them are still to be run. Returns {title: reason}
    if that failed."""
    if not args.collection or not any(needs_pretraining(case) for case in cases
                                      if not ask.is_complete(results, case.key)):
        return {}
    try:
        pretrain.collect(args.collection, args.database)
    except Failed as error:
        return {"records of other networks": str(error)}
    return {}


def report(results, output, publishes=()):
    """Writes the page and its figures into the folder. If there are experiments to publish, also writes them into
    docs/, with those published before."""
    own = ask.split(results)
    write_report(own, output)
    if publishes:
        ask.publish({number: own[number] for number in publishes if number in own}, PUBLISHED)
        write_report(ask.published(PUBLISHED), DOCS)


def write_report(documents, folder):
    charts = plots.figures(documents)
    replayed = json.loads(REPLAYED.read_text()) if REPLAYED.exists() else None
    write_page(folder / "tuning.md", page.page(documents, charts, replayed), folder / page.FIGURES, charts)


def measure(args):
    """Runs the experiments. Returns the exit code."""
    path = args.output / "results.json"
    try:
        results = ask.read(path, PUBLISHED)
    except ValueError as error:
        print(f"experiments: {error}", file=sys.stderr)
        return BAD_USAGE
    chosen, cases = all_cases(args.only, args.plan)
    for number, own in chosen.items():
        results["experiments"][str(number)] = {"command": command_of(args, number),
                                               "cases": list({case.key: None for case in own})}
    most_rounds = ROUNDS if args.short else MOST_ROUNDS
    lab = Lab(args.output, args.database, args.baseline, args.baseline_cpu, most_rounds)
    if args.anew:
        forget(cases, results, lab)
        write(path, results)
    failures = collect_records(args, cases, results)
    if failures:
        cases = [case for case in cases if not needs_pretraining(case)]
    failures |= run_cases(cases, results, path, lab)
    write(path, results)
    report(results, args.output, args.only if args.write_docs else ())
    print(f"the report is {args.output / 'tuning.md'}")
    for title, reason in failures.items():
        print(f"failed: {title}: {reason}", file=sys.stderr)
    return 1 if failures else 0


def main():
    args = parse(sys.argv[1:])
    interrupt_on_terminate()
    try:
        return measure(args)
    except KeyboardInterrupt:
        print("\nexperiments: interrupted; the same command resumes", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
