"""Runs a job undivided and in parts, on a fleet of mock devices, and prints how much sooner the latter ends.

split_jobs.py                starts a server, and a runner and an agent with a mock device for each part, and submits one
                             job after the other, undivided and in --parts parts, whose stages take as long as those of
                             resnet18 with 2,400 trials (results/scheduling.json), times --scale
split_jobs.py --model NET    tunes a network instead: devices answer after --seconds without measuring, all else is real;
                             checks that no part has measured a candidate, baselines aside, that another one has

Exits with 0, or says what is wrong and exits with 1.
"""
import argparse
import json
import pathlib
import sys
import tempfile
import time

from common.fleet_members import KEY, Fleet
from common.program import PROGRAM, Failed, attune, attune_json, model_file

MOCKS = PROGRAM.parent / "mock_agents"


def recorded(scale):
    """The settings of a mock job with the durations of a tuning job that was recorded."""
    def stage(name, seconds, device=False):
        return {"name": name, "seconds": round(scale * seconds, 4), **({"device": True} if device else {})}
    return {"kind": "mock", "repeat": 75,
            "begin": [stage("prepare", 1.50), stage("calibrate", 0.26, True)],
            "stages": [stage("build", 2.51), stage("time", 5.76, True)],
            "end": [stage("confirm_build", 1.08), stage("confirm_time", 4.48, True), stage("compare_build", 1.70),
                    stage("compare_time", 8.94, True), stage("network_build", 1.70), stage("network_time", 13.05, True),
                    stage("write", 0.77)]}


def run_job(options, model, parts):
    """Runs a job. Returns its id, and the seconds from its submission to its end."""
    settings = recorded(options.scale) if model is None else {
        "model": str(model), "trials": options.trials, "batch": options.batch, "candidate_seconds": 0.05,
        "layouts": False, "seed": 1, "judge_seconds": 0, "use_model": False}
    jobs = pathlib.Path(options.folder) / f"jobs{parts}.yaml"
    # JSON is YAML.
    jobs.write_text(json.dumps({"jobs": [{"id": f"net{parts}", "parts": parts, **settings}]}))
    begin = time.monotonic()
    job = attune("jobs", "submit", jobs, "--on", KEY, program=options.program).strip()
    while (shown := attune_json("jobs", "show", job, program=options.program))["state"] in ("waiting", "running"):
        time.sleep(0.2)
    seconds = time.monotonic() - begin
    if shown["state"] != "done":
        raise Failed(f"{job} is {shown['state']}: {shown['error']}")
    return job, seconds


def count(options, job):
    """Returns how many candidates the parts of the job have measured, and how many of these more than one part."""
    folder = pathlib.Path(options.folder) / job
    attune("jobs", "result", job, "-o", folder, program=options.program)
    database = next(folder.rglob("*.db"))
    exported = folder / "records.jsonl"
    attune("records", "export", exported, "--records", database, program=options.program)
    records = [json.loads(line) for line in exported.read_text().splitlines()]
    records = [record for record in records if "task" in record]
    whole = {record["run"] for record in records if record["search"] == "confirm"}
    runs, first = {}, {}
    for record in records:
        if record["run"] in whole:
            continue
        key = (record["task"], record["strategy"], json.dumps(record["config"], sort_keys=True))
        runs.setdefault(key, set()).add(record["run"])
        # Each part begins with the baseline.
        first.setdefault((record["task"], record["run"]), key)
    baselines = set(first.values())
    return len(runs), sum(len(found) > 1 for key, found in runs.items() if key not in baselines)


def parse():
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a model file, or a name of the zoo (default: none is tuned)")
    parser.add_argument("--scale", type=float, default=0.05, help="of recorded durations (default: 0.05)")
    parser.add_argument("--parts", type=int, default=2, help="(default: 2)")
    parser.add_argument("--trials", type=int, default=160, help="(default: 160)")
    parser.add_argument("--batch", type=int, default=16, help="(default: 16)")
    parser.add_argument("--seconds", type=float, default=0.5, help="of each measurement (default: 0.5)")
    parser.add_argument("--program", default=PROGRAM)
    parser.add_argument("--mocks", default=MOCKS)
    return parser.parse_args()


def main():
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        options.folder = folder
        model = options.model and model_file(options.model, folder)
        with Fleet(pathlib.Path(folder), options.program, 15, ["--http", "127.0.0.1:0"]) as fleet:
            fleet.log_in()
            for number in range(options.parts):
                fleet.add_mocks(f"agent {number}", options.mocks, options.seconds)
                fleet.add_runner(f"runner {number}")
            try:
                _, alone = run_job(options, model, 1)
                job, split = run_job(options, model, options.parts)
                candidates, twice = count(options, job) if model else (0, 0)
                if twice:
                    raise Failed(f"{twice} of {candidates} candidates were measured by more than one part")
            except Failed as failure:
                print(failure, file=sys.stderr)
                return 1
    once = f"; each of {candidates} candidates was measured by one part" if model else ""
    print(f"undivided {alone:.1f} s, in {options.parts} parts {split:.1f} s: {alone / split:.2f} times sooner{once}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
