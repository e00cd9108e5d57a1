"""Kills the runners of a schedule, and the process that schedules, at random moments, and checks that nothing is lost.

Starts `attune jobs run` with two tuning jobs, a mock job and a program of the examples, and kills 100
times, by SIGKILL, one of its runners or itself, and then starts the same command again. Each time the databases open,
have every record and every stage that they had, and none twice. In the end, all jobs are done.

Prints a line and exits with 0, or says what is wrong and exits with 1.
"""
import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import time

from attackers.kill_tuning import Database, Processes, Violation, add_options, run
from common import program

EXAMPLE = program.ROOT / "docs/examples/job_program.py"


def jobs_file(options, folder):
    """Writes the file of jobs. All of them last for about as long."""
    tuning = {"model": str(options.model), "trials": options.trials, "batch": 8, "candidate_seconds": 0.05,
              "records": "records.db", "transfer_runs": False, "layouts": False}
    stages = [{"name": "build", "seconds": [0.01, 0.02, 0.05]},
              {"name": "time", "seconds": [0.02, 0.04, 0.1], "device": True}]
    jobs = [{"id": "tuning", **tuning, "events": "events.jsonl"}, {"id": "other", **tuning, "seed": 1},
            {"id": "mock", "kind": "mock", "stages": stages, "repeat": options.trials},
            {"id": "program", "kind": "program", "command": [sys.executable, str(EXAMPLE)],
             "settings": {"repeat": 9}}]
    path = folder / "jobs.yaml"
    path.write_text(json.dumps({"strategy": "first_come", "jobs": jobs}))  # YAML contains JSON
    return path


class Scheduler(Processes):
    """`attune jobs run` in a process of its own, which ends with the `with` block."""

    def __init__(self, options, jobs):
        state, result = jobs.parent / "jobs.db", jobs.parent / "result.json"
        super().__init__([options.program, "jobs", "run", jobs, "--state", state, "--json", result,
                          "--isolation", "none"])

    def runners(self):
        """The ids of its runners."""
        return [pid for pid in self.processes() if self._is_runner(pid)]

    @staticmethod
    def _is_runner(pid):
        with contextlib.suppress(OSError):
            return b"\0runner\0" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
        return False


class Stages:
    """The stages in the database of jobs, at the last look."""

    def __init__(self, path):
        self.path, self.rows = path, []

    def look(self):
        """Checks that it is sound, that nothing was lost, and that no stage of the mock job is done twice."""
        if not self.path.exists():
            return
        with contextlib.closing(sqlite3.connect(self.path)) as database:
            if not database.execute("SELECT count(*) FROM sqlite_master WHERE name = 'stages'").fetchone()[0]:
                return  # its tables are not made yet
            sound = database.execute("PRAGMA integrity_check").fetchone()[0]
            rows = database.execute("SELECT * FROM stages ORDER BY id").fetchall()
            done = collections.Counter(database.execute(
                "SELECT schedule, job FROM stages WHERE outcome = 0 AND name != 'open'"))
            positions = database.execute("SELECT schedule, number, id, position FROM jobs").fetchall()
        if sound != "ok":
            raise Violation(f"{self.path.name}: {sound}")
        if rows[:len(self.rows)] != self.rows:
            raise Violation(f"{self.path.name} has lost stages")
        for schedule, number, job, position in positions:
            if done[schedule, number] != position:
                raise Violation(f"{job}: {done[schedule, number]} stages are done, its position is {position}")
        self.rows = rows


def kill_again_and_again(options, folder):
    """Kills again and again. Returns a line that says what was done."""
    jobs, numbers = jobs_file(options, folder), random.Random(options.seed)
    records, stages = Database(folder / "records.db", options.program), Stages(folder / "jobs.db")
    kills = collections.Counter()
    rounds = 0
    while kills.total() < options.kills:
        with Scheduler(options, jobs) as scheduler:
            while kills.total() < options.kills:
                if scheduler.end_within(numbers.uniform(0.1, options.longest)):
                    rounds += 1
                    break
                runners = scheduler.runners()
                if runners and numbers.random() < options.share_of_runners:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(numbers.choice(runners), signal.SIGKILL)
                    kills["runners"] += 1
                else:
                    scheduler.kill()
                    kills["schedulers"] += 1
                    break
                stages.look()
        records.look()
        stages.look()
        if sys.stderr.isatty():
            print(f"\r{kills.total()} kills, {records.records.total()} records", end="", file=sys.stderr, flush=True)
    with Scheduler(options, jobs) as scheduler:
        scheduler.end_within(None)
    records.look()
    stages.look()
    result = json.loads((folder / "result.json").read_text())
    if left := [job["id"] for job in result["jobs"] if job["state"] != "done"]:
        raise Violation(f"{', '.join(left)} did not end well")
    for entry in records.runs():
        if entry["state"] != "finished":
            raise Violation(f"run {entry['run']} is {entry['state']} in the end")
        if (count := records.count(entry["run"])) < options.trials:
            raise Violation(f"run {entry['run']} has finished with {count} records of {options.trials} trials")
    return (f"{kills['runners']} runners and {kills['schedulers']} schedulers killed, {rounds + 1} schedules, "
            f"{len(stages.rows)} stages, {records.records.total()} records")


def parse():
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, help="how often (default: 100)")
    parser.add_argument("--trials", type=int, default=100, help="of each tuning job (default: 100)")
    parser.add_argument("--longest", type=float, default=4, help="seconds until a kill at the longest (default: 4)")
    parser.add_argument("--share-of-runners", type=float, default=0.5,
                        help="of kills that hit a runner (default: 0.5)")
    add_options(parser)
    parser.add_argument("--seed", type=int, default=0, help="of the moments (default: 0)")
    return parser.parse_args()


def main():
    return run(parse(), kill_again_and_again)


if __name__ == "__main__":
    sys.exit(main())
