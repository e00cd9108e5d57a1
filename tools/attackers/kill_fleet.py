"""Kills a fleet's server, agents and clients at random moments, and checks that no record is lost or doubled.

kill_fleet.py                starts a server, agents with mock devices, and `attune tune --on`, and kills one of them at
                             a time, again and again, 100 times; stops agents for longer than a lease, too; each time
                             the client's records are all there and none is there twice; then lets the run finish

The devices answer after --seconds without measuring; all else is the real program. Prints a line and exits with 0, or
says what is wrong and exits with 1.
"""
import argparse
import collections
import pathlib
import random
import sys
import time

from attackers import kill_tuning
from attackers.kill_tuning import Database, Violation
from common import program
from common.fleet_members import KEY, Fleet, Member
from common.waiting import await_true

AGENTS = 2


def start_agents(options, folder, flags=()):
    """A fleet with agents. `flags`: more of the server's."""
    fleet = Fleet(folder, options.program, options.lease_seconds, flags)
    for number in range(AGENTS):
        fleet.add_mocks(f"agent {number}", options.mocks, options.seconds)
    return fleet


def start(options, folder):
    """A fleet with agents, and a client among its members."""
    fleet = start_agents(options, folder)
    fleet.members["client"] = Client(
        [options.program, "tune", options.model, "--on", KEY, "--records", folder / "records.db", "--trials",
         options.trials, "--seed", options.seed, *kill_tuning.QUICK], folder / "client.log", folder / "events.jsonl")
    return fleet


class Client(Member):
    """A process that finds no server does not start; one that has started continues without it for a while."""

    def __init__(self, command, log, events):
        self._events = events
        super().__init__([*command, "--events", events], log)

    def start(self):
        """Starts it, and waits until it has begun."""
        before = self._told()
        super().start()
        while self.ended() is None and self._told() == before:
            time.sleep(0.02)

    def _told(self):
        """How much it has told of what happens."""
        return self._events.stat().st_size if self._events.exists() else 0


def check_members(fleet):
    """Members end only when they are killed."""
    for name, member in fleet.members.items():
        if member.ended() is not None and (name != "client" or member.ended() != 0):
            raise Violation(f"the {name} has ended by itself: {member.log.read_text()[-500:]}")


def kill_members(options, fleet, database, numbers):
    """Kills members, one at a time. Returns {kind of member: kills}, and how many agents were stopped."""
    kills, stops = collections.Counter(), 0
    client, agents = fleet.members["client"], [f"agent {number}" for number in range(AGENTS)]
    while kills.total() < options.kills:
        time.sleep(numbers.uniform(0, options.longest))
        check_members(fleet)
        if client.ended() is not None:
            fleet.await_server()
            client.start()  # another run
        if numbers.random() < options.stops:
            fleet.members[numbers.choice(agents)].stop_for(1.5 * options.lease_seconds)
            stops += 1
            continue
        name = numbers.choice(list(fleet.members))
        fleet.members[name].kill()
        if name == "client":
            fleet.await_server()
        fleet.members[name].start()
        kills[name.split()[0]] += 1
        database.look()
        if sys.stderr.isatty():
            print(f"\r{kills.total()} kills, {database.records.total()} records", end="", file=sys.stderr, flush=True)
    return kills, stops


def kill_again_and_again(options, folder):
    """Kills members of a fleet again and again. Returns a line that says what was done."""
    database = Database(folder / "records.db", options.program)
    with start(options, folder) as fleet:
        kills, stops = kill_members(options, fleet, database, random.Random(options.seed))
        while fleet.members["client"].ended() is None:
            time.sleep(0.1)
        check_members(fleet)
        database.look()
        refused = check_end(fleet)
    check_runs(database)
    counts = ", ".join(f"{count} of {kind}s" for kind, count in sorted(kills.items()))
    return (f"{kills.total()} kills ({counts}), {stops} agents stopped past their lease, {len(database.runs())} runs, "
            f"{database.records.total()} records, {refused} stale results refused")


def check_end(fleet):
    """Waits until no device is held. Returns how many results the server has refused."""
    await_true("all devices are given back", lambda: not any(device["held_by"] for device in fleet.devices()))
    return fleet.refused()


def check_runs(database):
    """Checks that all runs have ended well."""
    if unfinished := [run["run"] for run in database.runs() if run["state"] != "finished"]:
        raise Violation(f"the runs {unfinished} of {database.path.name} are not finished in the end")


def add_options(parser):
    """The options of each script that kills members of a fleet."""
    parser.add_argument("--kills", type=int, default=100, help="how often (default: 100)")
    parser.add_argument("--longest", type=float, default=3, help="seconds between two kills at the longest (default: 3)")
    parser.add_argument("--lease-seconds", type=float, default=1, help="of the server (default: 1)")
    parser.add_argument("--seconds", type=float, default=0.01, help="that a device takes for an item (default: 0.01)")
    parser.add_argument("--mocks", type=pathlib.Path, default=program.PROGRAM.parent / "mock_agents",
                        help="the program of agents with mock devices")
    kill_tuning.add_options(parser)


def parse():
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument("--stops", type=float, default=0.05,
                        help="of so large a share of turns an agent stands still instead (default: 0.05)")
    parser.add_argument("--trials", type=int, default=400, help="of a run (default: 400)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments, and of the search (default: 0)")
    return parser.parse_args()


def main():
    return kill_tuning.run(parse(), kill_again_and_again)


if __name__ == "__main__":
    sys.exit(main())
