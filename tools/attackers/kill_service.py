"""Kills a server, runners, jobs' processes and agents at random moments, and checks that no job loses anything.

kill_service.py              starts a server, runners and agents with mock devices, submits tuning jobs, others when they
                             have ended, and kills one of all these processes at a time, again and again, 100 times;
                             agents stand still for longer than a lease, too; each time every job has the stages that it
                             had; then lets the jobs end, and checks that no record of theirs is there twice

The devices answer after --seconds without measuring; all else is the real program. Prints a line and exits with 0, or
says what is wrong and exits with 1.
"""
import argparse
import collections
import contextlib
import os
import pathlib
import random
import signal
import sys
import time

from attackers import kill_fleet, kill_tuning
from attackers.kill_tuning import Database, Violation
from common.fleet_members import KEY
from common.program import attune, attune_json

RUNNERS = 2


def start(options, folder):
    """A fleet with agents and runners."""
    fleet = kill_fleet.start_agents(options, folder, ["--http", "127.0.0.1:0"])
    fleet.log_in()
    for number in range(RUNNERS):
        fleet.add_runner(f"runner {number}")
    return fleet


class Jobs:
    """The jobs that are submitted, and the stages that each had at the last look."""

    def __init__(self, options):
        self._options, self._program, self._stages, self._open = options, options.program, {}, set()
        self.submit()

    def submit(self):
        """Submits as many jobs as have ended."""
        settings = [f"--set={setting}" for setting in
                    (f"trials={self._options.trials}", "batch=8", "candidate_seconds=0.05", "layouts=false",
                     "transfer_runs=false")]
        while len(self._open) < self._options.jobs:
            seed = f"--set=seed={len(self._stages)}"
            job = attune("jobs", "submit", self._options.model, "--on", KEY, seed, *settings,
                         program=self._program).strip()
            self._stages[job] = []
            self._open.add(job)

    def look(self):
        """Checks that no stage that has ended is lost. Returns whether all jobs are over."""
        for job in list(self._open):
            before = self._stages[job]
            shown = attune_json("jobs", "show", job, program=self._program)
            stages = [(stage["name"], stage["outcome"], stage["ended"]) for stage in shown["stages"]]
            # A server shows the latest stages alone.
            known = stages.index(before[-1]) + 1 if before and before[-1] in stages else 0
            if before and (not known or stages[:known] != before[-known:]):
                raise Violation(f"{job} has lost stages: it had {len(before)}, and has {len(stages)} others")
            if shown["state"] in ("failed", "cancelled"):
                raise Violation(f"{job} is {shown['state']}: {shown['error']}")
            self._stages[job] = before + stages[known:]
            if shown["state"] == "done":
                self._open.remove(job)
        return not self._open

    def number(self):
        """How many jobs there are."""
        return len(self._stages)

    def count(self):
        """How many stages are done."""
        return sum(outcome == "done" for stages in self._stages.values() for _, outcome, _ in stages)

    def records(self, folder):
        """Checks the records of the jobs, which are done. Returns how many there are."""
        total = 0
        for job in self._stages:
            attune("jobs", "result", job, "-o", folder / job, program=self._program)
            for path in (folder / job).glob("*.db"):
                database = Database(path, self._program)
                database.look()
                kill_fleet.check_runs(database)
                total += database.records.total()
        return total


def processes_of_jobs():
    """The ids of processes that have jobs."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            environment = (path.parent / "environ").read_bytes()
            own = f"ATTUNE_SERVER={os.environ['ATTUNE_SERVER']}".encode()
            if b"\0--worker\0runner\0" in path.read_bytes() and own in environment.split(b"\0"):
                found.append(int(path.parent.name))
    return found


def kill_one(options, fleet, numbers):
    """Kills one process. Returns what it was."""
    kinds = ["server", "agent", "runner", "job"]
    kind = numbers.choice(kinds)
    if kind == "job":
        if not (jobs := processes_of_jobs()):
            return None
        with contextlib.suppress(ProcessLookupError):
            os.kill(numbers.choice(jobs), signal.SIGKILL)
        return kind
    name = kind if kind == "server" else f"{kind} {numbers.randrange(RUNNERS if kind == 'runner' else kill_fleet.AGENTS)}"
    if kind == "agent" and numbers.random() < options.stops:
        fleet.members[name].stop_for(1.5 * options.lease_seconds)
        return "stopped agent"
    fleet.members[name].kill()
    fleet.members[name].start()
    if kind == "server":
        fleet.await_server()
    return kind


def kill_again_and_again(options, folder):
    """Kills members of a fleet again and again. Returns a line that says what was done."""
    numbers, kills = random.Random(options.seed), collections.Counter()
    with start(options, folder) as fleet:
        jobs = Jobs(options)
        while kills.total() < options.kills:
            time.sleep(numbers.uniform(0, options.longest))
            if (killed := kill_one(options, fleet, numbers)) is not None:
                kills[killed] += 1
            jobs.look()
            jobs.submit()
            if sys.stderr.isatty():
                print(f"\r{kills.total()} kills, {jobs.count()} stages", end="", file=sys.stderr, flush=True)
        while not jobs.look():
            time.sleep(0.2)
        records = jobs.records(folder)
        refused = kill_fleet.check_end(fleet)
    counts = ", ".join(f"{kind}: {count}" for kind, count in sorted(kills.items()))
    return (f"{kills.total()} kills ({counts}), {jobs.number()} jobs, {jobs.count()} stages done, {records} records, "
            f"{refused} stale results refused")


def parse():
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kill_fleet.add_options(parser)
    parser.add_argument("--stops", type=float, default=0.1,
                        help="of so large a share of agents' turns one stands still instead (default: 0.1)")
    parser.add_argument("--jobs", type=int, default=2, help="that tune at a time (default: 2)")
    parser.add_argument("--trials", type=int, default=200, help="of each (default: 200)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (default: 0)")
    return parser.parse_args()


def main():
    return kill_tuning.run(parse(), kill_again_and_again)


if __name__ == "__main__":
    sys.exit(main())
