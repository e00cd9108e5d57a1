#!/usr/bin/env python3
"""Puts load on pilots in a Slurm cluster of its own, kills slurmctld again and again, and checks that nothing is lost.

Tunes a small network, several runs at a time, until the pilots have served this many leases (a stage of a run holds one
device or several, each by a lease), and kills slurmctld at random moments meanwhile. There are never more Slurm jobs or
devices than allowed, each run ends well with all of its records, and in the end no pilot is left. Needs to be root.

Prints a line and exits with 0, or says what is wrong and exits with 1.
"""
import argparse
import pathlib
import random
import sys
import tempfile
import time

import slurm_cluster
from slurm_fleet import PilotFleet, Violation


class Runs:
    """Runs that tune a model, `together` of them at a time."""

    def __init__(self, fleet, options):
        self._fleet, self._options = fleet, options
        self._running, self.started = {}, 0

    def look(self, wants_more):
        """Checks the runs that have ended, and starts others in their place if more are wanted. Whether any runs."""
        for number, run in list(self._running.items()):
            if run.poll() is not None:
                del self._running[number]
                self._fleet.check_run(number, run.returncode, self._options.trials)
        while wants_more and len(self._running) < self._options.together:
            self._running[self.started] = self._fleet.tune(self.started, self._options.model, self._options.trials)
            self.started += 1
        return bool(self._running)


def load(fleet, options):
    """Returns a line that says what was done."""
    numbers, runs, kills = random.Random(options.seed), Runs(fleet, options), 0
    next_kill = time.monotonic() + options.pause
    while runs.look(fleet.leases() < options.leases or kills < options.kills):
        fleet.look()
        if kills < options.kills and time.monotonic() > next_kill:
            fleet.cluster.kill_controller()
            time.sleep(numbers.uniform(0, options.pause / 4))
            fleet.cluster.start_controller()
            kills += 1
            next_kill = time.monotonic() + numbers.uniform(0, 2 * options.pause)
        if sys.stderr.isatty():
            print(f"\r{kills} kills, {fleet.leases()} leases, {runs.started} runs", end="", file=sys.stderr, flush=True)
        time.sleep(0.2)
    fleet.await_end()
    lost = fleet.events().count("pilot has never come")
    jobs = fleet.events().count("pilot is submitted")
    return (f"{fleet.leases()} leases of {runs.started} runs by {jobs} jobs, at most {fleet.most_seen} at a time; "
            f"{kills} kills of slurmctld, {lost} jobs lost by them")


def parse():
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path, help="a small network, such as that of write_convolutions")
    parser.add_argument("--leases", type=int, default=1000, help="leases until the end (default: 1000)")
    parser.add_argument("--kills", type=int, default=50, help="of slurmctld (default: 50)")
    parser.add_argument("--pause", type=float, default=4, help="mean seconds between kills (default: 4)")
    parser.add_argument("--most", type=int, default=10, help="pilots at a time (default: 10)")
    parser.add_argument("--together", type=int, default=12, help="runs at a time (default: 12)")
    parser.add_argument("--trials", type=int, default=24, help="of each run (default: 24)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (default: 0)")
    return parser.parse_args()


def main():
    options = parse()
    options.model = options.model.resolve()
    if reason := slurm_cluster.why_not():
        print(f"no cluster: {reason}", file=sys.stderr)
        return 1
    slurm_cluster.enter_namespaces()
    with tempfile.TemporaryDirectory() as folder, PilotFleet(folder, options.most, idle_seconds=8) as fleet:
        try:
            print(f"{load(fleet, options)}: nothing is lost, no job left")
        except Violation as error:
            print(f"{error}\n{fleet.events()}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
