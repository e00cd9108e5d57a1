"""./do scheduling: what interleaving tuning jobs gains, and that it distorts nothing."""
import datetime
import json
import pathlib
import shlex
import sys

from common import machine
from common.options import BAD_USAGE, INTERRUPTED, Parser, count
from common.program import ROOT, Failed
from common.progress import interrupt_on_terminate, progress
from common.report.pages import write_page
from common.results import RESULTS, load, rounded, write
from scheduling import figures, page, plots
from scheduling.lab import Lab

NETWORKS = "resnet18,mobilenet_v2,efficientnet_b0,ssd_mobilenet_v2"
PUBLISHED = RESULTS / "scheduling.json"
DEVICES, JOBS, MIXES = (1, 2, 4, 8, 16), (4, 8, 16, 32, 64), ("like", "unlike")

DESCRIPTION = """Each network (a name of the zoo or a model file) is tuned once, and that run is recorded. Then the
recorded runs are replayed, for real but with the same candidates: each alone, and several of them side by side with
each strategy, on processors that build and one that measures. From the stage times of those that ran alone follow the
bound for any schedule, and simulations of what was run and of more jobs and devices. At last the networks are tuned
once more side by side, without a recording, to see whether the strategy matters for what comes out. What is done is
kept in the work folder, so that the same command goes on where it was interrupted. Leave the machine alone
meanwhile."""


def parse(arguments):
    parser = Parser("scheduling", description=DESCRIPTION)
    parser.add_argument("--trials", type=count, default=200, help="of each job (default: 200)")
    parser.add_argument("--networks", default=NETWORKS, help=f"default: {NETWORKS}")
    parser.add_argument("--counts", default="1,2,4", help="jobs side by side (default: 1,2,4)")
    parser.add_argument("--building", type=count, default=1, help="processors that build (default: 1)")
    strategies = ",".join(figures.REAL)
    parser.add_argument("--strategies", default=strategies, help=f"for real (default: {strategies})")
    parser.add_argument("--live", default="predictive,uncoordinated", metavar="STRATEGIES",
                        help="tune without a recording, too (default: predictive,uncoordinated)")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/scheduling",
                        help="default: build/scheduling")
    parser.add_argument("--write-docs", action="store_true", help="also write results/ and docs/scheduling.md")
    parser.add_argument("--page-only", action="store_true", help="measure nothing: make the page of results/ again")
    return parser.parse_args(arguments)


def names(text):
    return [name for name in text.split(",") if name]


def command_of(options):
    """The command line that repeats the experiment."""
    given = {"--trials": options.trials, "--networks": options.networks, "--counts": options.counts,
             "--building": options.building}
    usual = vars(parse([]))
    changed = [str(part) for flag, value in given.items() if value != usual[flag.strip("-")] for part in (flag, value)]
    return shlex.join(["./do", "scheduling", *changed])


def simulate_more(lab, networks):
    """More jobs and devices than there are, of one network and of all."""
    traces, rows = [lab.trace(lab.alone(network)) for network in networks], []
    for mix in MIXES:
        for jobs in JOBS:
            for devices in DEVICES:
                found = lab.simulate(traces, "--jobs", jobs, "--devices", devices, "--mix", mix)
                rows.append({"mix": mix, "jobs": jobs, "devices": devices,
                             "bound": found["predictive"]["lower_bound_seconds"],
                             "makespan": {name: row["makespan_seconds"] for name, row in found.items()}})
    return rows


def measure(options):
    """The whole experiment's results. Raises Failed."""
    networks, lab = names(options.networks), Lab(options.work, options.trials, options.building)
    results = {"date": datetime.date.today().isoformat(), "machine": machine.describe(), "attune": machine.program(),
               "command": command_of(options), "trials": options.trials, "building": options.building,
               "networks": networks, "alone": {}, "schedules": [], "dedicated": [], "live": {}}
    for network in networks:
        results["alone"][network] = figures.of_alone(lab, network)
        progress(f"{network} alone: {results['alone'][network]['seconds']:.1f} s")
    counts = [int(text) for text in names(options.counts)]
    for number in counts:
        side_by_side = networks[:number]
        for strategy in names(options.strategies):
            if number == 1 and strategy != "uncoordinated":
                continue  # nothing to decide: the run alone is what they all do
            results["schedules"].append(figures.of_schedule(lab, side_by_side, strategy, number == max(counts)))
            progress(page.line(results["schedules"][-1]))
        results["dedicated"].append(figures.of_dedicated(lab, side_by_side))
    results["simulated"] = simulate_more(lab, networks)
    results["live"] = figures.of_live(lab, networks, names(options.live))
    return results


def report(results, folder):
    charts = plots.figures(results)
    write_page(folder / "scheduling.md", page.page(results, charts), folder / page.FIGURES, charts)


def main():
    options = parse(sys.argv[1:])
    interrupt_on_terminate()
    try:
        if options.page_only:
            report(load(PUBLISHED), ROOT / "docs")
            return 0
        # As they will be read from the published file.
        results = json.loads(json.dumps(rounded(measure(options))))
    except (Failed, ValueError, OSError) as error:
        print(f"scheduling: {error}", file=sys.stderr)
        return BAD_USAGE if isinstance(error, ValueError) else 1
    except KeyboardInterrupt:
        print("\nscheduling: interrupted; the same command resumes", file=sys.stderr)
        return INTERRUPTED
    write(options.work / "results.json", results)
    report(results, options.work)
    if options.write_docs:
        write(PUBLISHED, results)
        report(results, ROOT / "docs")
    print(f"the report is {options.work / 'scheduling.md'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
