"""Agents run as Slurm jobs while work waits for devices, and no longer, though slurmctld is killed.

slurm_test.py MODEL    four runs tune the model at once, on at most three pilots; slurmctld is killed right after it has
                       acknowledged these, and again while they measure
"""
import os
import sys
import tempfile
import time

from common import slurm_cluster
from common.slurm_fleet import PilotFleet, Violation
from common.waiting import await_true

RUNS, TRIALS, MOST = 4, 24, 3
SKIPPED = 77


def check_that_all_is_done(fleet, model):
    """Tunes, and kills slurmctld meanwhile."""
    runs = {number: fleet.tune(number, model, TRIALS) for number in range(RUNS)}
    await_true("as many pilots as allowed are submitted",
               lambda: fleet.events().count("pilot is submitted") == MOST and len(fleet.look()) == MOST)
    fleet.cluster.kill_controller()  # which has saved nothing yet
    time.sleep(1)
    fleet.cluster.start_controller()

    await_true("pilots work", lambda: fleet.look() is not None and fleet.leases() > RUNS)
    fleet.cluster.kill_controller()
    leases = fleet.leases()
    await_true("they continue without slurmctld", lambda: fleet.look() is None and fleet.leases() > leases)
    fleet.cluster.start_controller()

    def all_have_ended():
        fleet.look()
        return all(run.poll() is not None for run in runs.values())
    await_true("all runs end", all_have_ended)
    for number, run in runs.items():
        fleet.check_run(number, run.poll(), TRIALS)


def main():
    if reason := slurm_cluster.why_not():
        print(f"skipped: {reason}", file=sys.stderr)
        return 1 if os.environ.get("CI") == "true" and reason.startswith("not installed") else SKIPPED
    slurm_cluster.enter_namespaces()
    with tempfile.TemporaryDirectory() as folder, PilotFleet(folder, MOST, idle_seconds=8) as fleet:
        try:
            check_that_all_is_done(fleet, sys.argv[1])
            fleet.await_end()
        except Violation as error:
            print(f"{error}\n{fleet.events()}", file=sys.stderr)
            return 1
        print(f"{RUNS} runs by {fleet.leases()} leases of at most {fleet.most_seen} pilots, two kills of slurmctld")
    return 0


if __name__ == "__main__":
    sys.exit(main())
