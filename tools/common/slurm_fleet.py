"""A fleet whose devices are pilots: a server, a Slurm cluster, and attune fleet slurm between them."""
import contextlib
import json
import os
import pathlib
import subprocess

from common import program
from common.fleet_members import Fleet, Member
from common.slurm_cluster import PARTITION, Cluster
from common.waiting import await_true

OWNER = "server"  # of the server's own operator, as whom everything here runs
QUICK = ("--threads", 1, "--batch", 4, "--candidate-seconds", 0.02, "--no-transfer-runs", "--no-layouts",
         "--no-model")
LEASE_SECONDS = 5


class Violation(Exception):
    """Something that must not happen; the message says what it was."""


class PilotFleet:
    """The fleet, from the beginning of the `with` block to its end, with at most `most` pilots."""

    def __init__(self, folder, most, idle_seconds):
        self.folder, self._most, self._idle_seconds = pathlib.Path(folder), most, idle_seconds
        self._stack = contextlib.ExitStack()
        self.cluster = self._server = self._controller = None
        self.most_seen = 0

    def __enter__(self):
        with contextlib.ExitStack() as stack:
            self.cluster = stack.enter_context(Cluster(self.folder))
            self._server = stack.enter_context(Fleet(self.folder, program.PROGRAM, LEASE_SECONDS)).members["server"]
            self._controller = Member(
                [program.PROGRAM, "fleet", "slurm", "--partition", PARTITION, "--max", self._most, "--cpus", 2,
                 "--idle-seconds", self._idle_seconds, "--poll-seconds", 0.5, "--spool", self.folder / "spool",
                 "--trust", OWNER], self.folder / "controller.log")
            stack.callback(self._controller.kill)
            await_true("the controller runs", lambda: "pilots are named" in self.events())
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self._stack.close()

    def events(self):
        """All that the controller has printed."""
        return self._controller.log.read_text(errors="replace")

    def tune(self, number, model, trials):
        """Begins to tune the model on pilots. Returns the process."""
        command = [program.PROGRAM, "tune", model, "--on", PARTITION, "--trials", trials, "--seed", number,
                   "--records", self.records(number), *QUICK]
        # As if it ran on a machine of its own.
        environment = {**os.environ, "ATTUNE_LEASES": str(self.folder / "leases")}
        with open(self.folder / f"tune{number}.log", "wb") as log:
            return subprocess.Popen([str(part) for part in command], stdout=log, stderr=log,
                                    stdin=subprocess.DEVNULL, env=environment)

    def records(self, number):
        """The database of the run with this number."""
        return self.folder / f"records{number}.db"

    def check_run(self, number, code, trials):
        """Checks that a run that has ended was successful and has all of its records."""
        if code != 0:
            raise Violation(f"run {number} ends with {code}: {self.last_lines(f'tune{number}.log')}")
        runs = program.attune_json("records", "list", "--runs", "--records", self.records(number))["runs"]
        lines = program.attune("records", "export", "-", "--records", self.records(number)).splitlines()
        records = sum(json.loads(line)["kind"] == "record" for line in lines)
        if [run["state"] for run in runs] != ["finished"] or records < trials:
            raise Violation(f"run {number} has {records} records of {trials} trials, its runs are {runs}")

    def look(self):
        """Checks that there are not too many pilots. Returns the names of those that Slurm knows of, or None."""
        there = [device["id"] for device in self.devices() if device["is_there"]]
        pilots = self.cluster.jobs()
        now = max(len(there), len(pilots or []))
        self.most_seen = max(self.most_seen, now)
        if now > self._most:
            raise Violation(f"{now} pilots where {self._most} are the most: {pilots}, {there}")
        for member in (self._server, self._controller):
            if member.ended() is not None:
                raise Violation(f"ended by itself: {self.last_lines(member.log.name)}")
        return pilots

    @staticmethod
    def devices():
        """All devices of the fleet."""
        return program.attune_json("fleet", "list")["devices"]

    def leases(self):
        """How many leases the server has given."""
        return self._server.log.read_text(errors="replace").count("lease begins")

    def await_end(self):
        """Waits until no pilot is left, in Slurm, in the fleet or in the spool."""
        await_true("no pilot is left",
                   lambda: self.cluster.jobs() == [] and not self.devices() and not self.pilot_folders())

    def pilot_folders(self):
        """The pilots that the spool has a folder for."""
        return list((self.folder / "spool").glob("attune-*"))

    def last_lines(self, name):
        """The end of what was printed into the file."""
        return " | ".join((self.folder / name).read_text(errors="replace").strip().splitlines()[-3:])
