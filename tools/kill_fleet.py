#!/usr/bin/env python3
"""Kills a fleet's server, agents and clients at random moments, and checks that no record is lost or doubled.

kill_fleet.py                starts a server, agents with mock devices, and `attune tune --on`, and kills one of them at
                             a time, again and again, 100 times; stops agents for longer than a lease, too; each time
                             the client's records are all there and none is there twice; then lets the run finish

The devices answer after --seconds without measuring; all else is the real program. Prints a line and exits with 0, or
says what is wrong and exits with 1.
"""
import argparse
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import time

import kill_tuning
import program
from kill_tuning import Database, Violation
from program import Failed, attune, attune_json

AGENTS = 2
KEY = "mocks"
READY_S = 60  # how long a server may take until it answers


class Member:
    """A process of the fleet, started anew when it was killed. Its log is kept."""

    def __init__(self, command, log):
        self._command, self.log, self._process = [str(part) for part in command], log, None
        self.start()

    def start(self):
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log, start_new_session=True)

    def ended(self):
        """Its exit code; None while it runs."""
        return self._process.poll()

    def kill(self):
        """Kills it, and waits until it is gone."""
        self._process.kill()
        self._process.wait()

    def stop_for(self, seconds):
        """Lets it stand still for so long."""
        self._process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self._process.send_signal(signal.SIGCONT)

    def interrupt(self):
        """Asks it to end, and waits until it has."""
        self._process.send_signal(signal.SIGINT)
        self._process.wait()


class Fleet:
    """A server, agents, and a tuner that uses them."""

    def __init__(self, options, folder):
        self._options, self._folder = options, folder
        os.environ["ATTUNE_SERVER"] = str(folder / "server")
        os.environ["ATTUNE_FLEET"] = str(folder / "nobody")
        program.ENVIRONMENT.update({name: os.environ[name] for name in ("ATTUNE_SERVER", "ATTUNE_FLEET")})
        self.members = {"server": self._start_server("127.0.0.1:0", "127.0.0.1:0")}
        # From now on it has the same ports.
        text = self._await_server()
        self.members["server"].interrupt()
        self.members["server"] = self._start_server(*text)
        self._await_server()
        for number in range(AGENTS):
            self.members[f"agent {number}"] = Member(
                [options.mocks, folder / "server", folder / f"agents{number}", KEY, 1, options.seconds],
                folder / f"agent{number}.log")
        while len(self._devices()) < AGENTS:
            time.sleep(0.05)
        self.database = Database(folder / "records.db", options.program)
        self.members["client"] = Member(
            [options.program, "tune", options.model, "--on", KEY, "--records", self.database.path, "--trials",
             options.trials, "--seed", options.seed, *kill_tuning.QUICK], folder / "client.log")

    def _start_server(self, listen, enrolment):
        return Member([self._options.program, "server", "--listen", listen, "--enrolment", enrolment,
                       "--lease-seconds", self._options.lease_seconds], self._folder / "server.log")

    def _await_server(self):
        """Waits until the server answers; returns the addresses that it has said."""
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline:
            try:
                self._devices()
            except Failed:
                time.sleep(0.05)
                continue
            log = self.members["server"].log.read_text()
            return re.findall(r"serving at (\S+), enrolment at ([^;]+);", log)[-1]
        raise Violation(f"the server does not answer within {READY_S} s")

    def _devices(self):
        return [device for device in attune_json("fleet", "list", program=self._options.program)["devices"]
                if device["is_there"]]

    def refused(self):
        """How many results the server has refused."""
        return self.members["server"].log.read_text().count("result under a stale token is refused")

    def check_members(self):
        """Members end only when they are killed."""
        for name, member in self.members.items():
            if name != "client" and member.ended() is not None:
                raise Violation(f"the {name} has ended by itself; see its log: {member.log.read_text()[-500:]}")

    def end(self):
        for member in self.members.values():
            if member.ended() is None:
                member.kill()


def runs_finished(database):
    return sum(run["state"] == "finished" for run in database.runs())


def kill_again_and_again(options, folder):
    """Kills members of a fleet again and again. Returns a line that says what was done."""
    numbers, kills, stops = random.Random(options.seed), {}, 0
    fleet = Fleet(options, folder)
    client, agents = fleet.members["client"], [f"agent {number}" for number in range(AGENTS)]
    try:
        while sum(kills.values()) < options.kills:
            time.sleep(numbers.uniform(0, options.longest))
            fleet.check_members()
            if client.ended() is not None:
                if client.ended() != 0:
                    raise Violation(f"the client fails: {client.log.read_text()[-500:]}")
                client.start()  # another run
            if numbers.random() < options.stops:
                fleet.members[numbers.choice(agents)].stop_for(1.5 * options.lease_seconds)
                stops += 1
                continue
            name = numbers.choice(list(fleet.members))
            fleet.members[name].kill()
            fleet.members[name].start()
            kind = name.split()[0]
            kills[kind] = kills.get(kind, 0) + 1
            fleet.database.look()
            if sys.stderr.isatty():
                print(f"\r{kills}, {fleet.database.records.total()} records", end="", file=sys.stderr, flush=True)
        while client.ended() is None:
            time.sleep(0.1)
        if client.ended() != 0:
            raise Violation(f"the client fails: {client.log.read_text()[-500:]}")
        fleet.database.look()
        unfinished = [run["run"] for run in fleet.database.runs() if run["state"] != "finished"]
        if unfinished:
            raise Violation(f"the runs {unfinished} are not finished in the end")
        if any(device["held_by"] for device in attune_json("fleet", "list", program=options.program)["devices"]):
            raise Violation("a device is held in the end")
    finally:
        fleet.end()
    counts = ", ".join(f"{count} of {kind}s" for kind, count in sorted(kills.items()))
    return (f"{sum(kills.values())} kills ({counts}), {stops} agents stopped past their lease, "
            f"{runs_finished(fleet.database)} runs, {fleet.database.records.total()} records, {fleet.refused()} stale "
            "results refused")


def parse():
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, help="how often (default: 100)")
    parser.add_argument("--stops", type=float, default=0.05,
                        help="of so large a share of turns an agent stands still instead (default: 0.05)")
    parser.add_argument("--trials", type=int, default=400, help="of a run (default: 400)")
    parser.add_argument("--longest", type=float, default=3, help="seconds between two kills at the longest (default: 3)")
    parser.add_argument("--lease-seconds", type=float, default=1, help="of the server (default: 1)")
    parser.add_argument("--seconds", type=float, default=0.01, help="that a device takes for an item (default: 0.01)")
    parser.add_argument("--mocks", type=pathlib.Path, default=program.PROGRAM.parent / "mock_agents",
                        help="the program of agents with mock devices")
    kill_tuning.add_options(parser)
    parser.add_argument("--seed", type=int, default=0, help="of the moments, and of the search (default: 0)")
    return parser.parse_args()


def main():
    return kill_tuning.run(parse(), kill_again_and_again)


if __name__ == "__main__":
    sys.exit(main())
