"""Compares scheduling strategies on real tuning jobs, as in the thesis that they stem from.

    python3 tools/scheduling [--trials N] [--networks NAME,…] [--counts 1,2,4] [--work FOLDER] [--write FILE]

Each network (a name of the zoo or a model file) is tuned once, and that run is recorded. Then the recorded runs are
replayed, for real but with the same candidates: each alone, and 1, 2 and 4 of them side by side with each strategy, on
processors that build and one that measures. From the stage times of those that ran alone follow the bound for any
schedule, and simulations of what was run and of more jobs and devices. Prints the figures and with --write keeps them
as JSON for docs/scheduling.md. What is done is kept in the work folder, so that an interrupted experiment goes on.
Leave the machine alone meanwhile.
"""
import argparse
import datetime
import json
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from program import Failed, cpu_name  # noqa: E402
from scheduling.lab import Lab, bench, folder_of  # noqa: E402

REAL = ("sequential", "uncoordinated", "lockstep", "first_come", "predictive")
NETWORKS = "resnet18,mobilenet_v2,efficientnet_b0,ssd_mobilenet_v2"
COMPARED = 50  # candidates whose ratios are compared
DEVICES = (1, 2, 4, 8, 16)
JOBS = (8, 16, 32, 64)


def alone(lab, network):
    """The name of the network's run alone."""
    name = f"alone-{network}"
    lab.schedule(name, [network], "first_come")
    return name


def distortion(lab, name, networks):
    """How the ratios of candidates to their baselines differ between this run and those alone: the median and the 90 %
    quantile of the relative differences, over the first COMPARED of each network."""
    differences = []
    for network in networks:
        quiet, loud = (lab.ratios(run, network) for run in (alone(lab, network), name))
        both = [key for key in quiet if key in loud][:COMPARED]
        differences += [abs(loud[key] / quiet[key] - 1) for key in both]
    differences.sort()
    return {"candidates": len(differences), "median": statistics.median(differences),
            "p90": differences[len(differences) * 9 // 10]}


def stage_seconds(schedule):
    """{stage: seconds} over all jobs."""
    seconds = {}
    for stage in schedule["stages"]:
        seconds[stage["name"]] = seconds.get(stage["name"], 0) + stage["end"] - stage["start"]
    return seconds


def run(lab, networks, strategy):
    """One schedule, for real, beside what follows from the jobs alone."""
    traces = [lab.trace(alone(lab, network)) for network in networks]
    simulated = lab.simulate(traces, "--devices", 1)
    name = f"{strategy}-{len(networks)}"
    schedule = lab.schedule(name, networks, strategy, "none" if strategy == "uncoordinated" else "core")
    own = lab.simulate([lab.trace(name)])[strategy]
    artifacts = {network: bench(lab.work / "runs" / name / f"{network}.atn") for network in networks}
    return {"strategy": strategy, "jobs": len(networks), "makespan": schedule["makespan_seconds"],
            "bound": simulated[strategy]["lower_bound_seconds"], "simulated": simulated[strategy]["makespan_seconds"],
            "simulated_from_own": own["makespan_seconds"], "idle_device": schedule["idle_share_of_devices"],
            "idle_processors": schedule["idle_share_of_processors"], "waiting": schedule["waiting_seconds"],
            "predictions": schedule["predictions"], "stage_seconds": stage_seconds(schedule),
            "completion": {job["id"]: job["ended_at_seconds"] for job in schedule["jobs"]},
            "latency_ms": artifacts, "distortion": distortion(lab, name, networks)}


def dedicated(lab, networks):
    """The same with a machine for each job: what the jobs alone took."""
    simulated = lab.simulate([lab.trace(alone(lab, network)) for network in networks])["dedicated"]
    return {"strategy": "dedicated", "jobs": len(networks), "makespan": simulated["makespan_seconds"],
            "hosts": simulated["hosts"]}


def simulate_more(lab, networks):
    """More jobs and devices than there are, of one kind and of all."""
    traces = [lab.trace(alone(lab, network)) for network in networks]
    rows = []
    for mix in ("like", "unlike"):
        for jobs in JOBS:
            for devices in DEVICES:
                found = lab.simulate(traces, "--jobs", jobs, "--devices", devices, "--mix", mix)
                rows.append({"mix": mix, "jobs": jobs, "devices": devices,
                             "bound": found["predictive"]["lower_bound_seconds"],
                             "makespan": {name: row["makespan_seconds"] for name, row in found.items()}})
    return rows


def line(row):
    """What one schedule took, for people."""
    if "bound" not in row:
        return f"{row['jobs']} jobs, {row['strategy']}: {row['makespan']:.1f} s on {row['hosts']} machines"
    return (f"{row['jobs']} jobs, {row['strategy']}: {row['makespan']:.1f} s, {row['bound'] / row['makespan']:.1%} of the "
            f"bound, simulated {row['simulated']:.1f} s (its own trace {row['simulated_from_own']:.1f} s), device idle "
            f"{row['idle_device']:.1%}, ratios differ by {row['distortion']['median']:.2%}")


def parse():
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=200, help="of each job (default: 200)")
    parser.add_argument("--networks", default=NETWORKS, help=f"default: {NETWORKS}")
    parser.add_argument("--counts", default="1,2,4", help="jobs side by side (default: 1,2,4)")
    parser.add_argument("--building", type=int, default=1, help="processors that build (default: 1)")
    parser.add_argument("--strategies", default=",".join(REAL), help=f"for real (default: {','.join(REAL)})")
    parser.add_argument("--work", type=folder_of, default=folder_of("build/scheduling"), help="default: build/scheduling")
    parser.add_argument("--write", type=pathlib.Path, help="a file for the figures (JSON)")
    return parser.parse_args()


def main():
    options = parse()
    networks = options.networks.split(",")
    lab = Lab(options.work, options.trials, options.building)
    rows = []
    try:
        for count in (int(count) for count in options.counts.split(",")):
            for strategy in options.strategies.split(","):
                rows.append(run(lab, networks[:count], strategy))
                print(line(rows[-1]), flush=True)
            rows.append(dedicated(lab, networks[:count]))
            print(line(rows[-1]), flush=True)
        more = simulate_more(lab, networks)
    except Failed as error:
        print(error, file=sys.stderr)
        return 1
    if options.write:
        figures = {"date": datetime.date.today().isoformat(), "machine": cpu_name(), "trials": options.trials,
                   "networks": networks, "schedules": rows, "simulated": more}
        options.write.write_text(json.dumps(figures, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
