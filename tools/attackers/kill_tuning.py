"""Kills tuning runs at random moments, and checks that nothing of them is lost.

kill_tuning.py               starts `attune tune` again and again, and kills it, 100 times; each time the database opens,
                             has every record that it had and none twice, at most one run is open, and no process of
                             the killed one stays; then lets the run finish
kill_tuning.py --together    two tuners on one database, and beside them a third process that imports the same records
                             again and again

Prints a line and exits with 0, or says what is wrong and exits with 1.
"""
import argparse
import collections
import contextlib
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

from common import program
from common.program import Failed, attune, attune_json
from common.waiting import await_true

IMPORTED_TRIALS = 24  # of the run whose records are imported
QUICK = ("--threads", 1, "--batch", 8, "--candidate-seconds", 0.05)


class Violation(Exception):
    """Something that must not happen; the message says what it was."""


class Processes:
    """A command in a process of its own, which ends with the `with` block, and the processes that it starts."""

    def __init__(self, command):
        self._name = command[1]
        self._errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL,
                                        stderr=self._errors, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self._errors.close()

    def end_within(self, seconds):
        """Whether it ended by itself within this time; then it must have succeeded."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        self._errors.seek(0)
        errors = self._errors.read().decode(errors="replace").strip().splitlines()
        if code != 0:
            raise Violation(f"attune {self._name} ends with {code}: {errors[-1] if errors else 'without a word'}")
        return True

    def interrupt(self):
        """Asks it to end properly."""
        self.process.send_signal(signal.SIGINT)

    def kill(self):
        """Kills only it, by SIGKILL, and waits until nothing of it is left."""
        self.process.kill()
        self.process.wait()
        await_true(f"the processes of attune {self._name} end after it", lambda: not self.processes(), 0.01)

    def processes(self):
        """The ids of the processes that it has started; they all belong to its session."""
        found = []
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                # After the name, which may have spaces: state, parent, group, session.
                status = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            if int(status[3]) == self.process.pid and status[0] != "Z":  # a zombie has ended
                found.append(int(folder.name))
        return found


class Tuner(Processes):
    """`attune tune`. `arguments`: in addition to the model and the database."""

    def __init__(self, options, database, *arguments):
        super().__init__([options.program, "tune", options.model, "--records", database, *QUICK, *arguments])


class Database:
    """A database, and its records at the last look."""

    def __init__(self, path, executable):
        self.path, self.records, self._program = path, collections.Counter(), executable

    def look(self):
        """Checks that it opens, that nothing was lost and that nothing is there twice."""
        if not self.path.exists():
            return
        try:
            attune("records", "list", "--records", self.path, program=self._program)
            lines = attune("records", "export", "-", "--records", self.path, program=self._program).splitlines()
        except Failed as error:
            raise Violation(f"the database cannot be read: {error}") from None
        now = collections.Counter(line for line in lines if json.loads(line)["kind"] == "record")
        if lost := self.records - now:
            raise Violation(f"{lost.total()} records are lost, such as {next(iter(lost))}")
        trials = collections.Counter()
        for line, count in now.items():
            record = json.loads(line)
            trials[record["run"], record["trial"], record["task"], json.dumps(record["config"])] += count
        if twice := [key for key, count in trials.items() if count > 1]:
            raise Violation(f"{len(twice)} trials are there twice, such as number {twice[0][1]} of run {twice[0][0]}")
        self.records = now

    def runs(self):
        """The runs, newest first."""
        if not self.path.exists():
            return []
        return attune_json("records", "list", "--runs", "--records", self.path, program=self._program)["runs"]

    def count(self, run):
        """How many records a run has."""
        return sum(count for line, count in self.records.items() if json.loads(line)["run"] == run)


def kill_again_and_again(options, folder):
    """Kills tuners again and again. Returns a line that says what was done."""
    database, numbers = Database(folder / "records.db", options.program), random.Random(options.seed)
    tune = ("--trials", options.trials, "--seed", options.seed)
    kills, ended = 0, 0
    while kills < options.kills:
        with Tuner(options, database.path, *tune) as tuner:
            if tuner.end_within(numbers.uniform(0, options.longest)):
                ended += 1
            else:
                tuner.kill()
                kills += 1
        database.look()
        states = collections.Counter(run["state"] for run in database.runs())
        if states["running"] > 1 or states["interrupted"] or states["finished"] < ended:
            raise Violation(f"after {kills} kills and {ended} runs that ended, runs are {dict(states)}")
        ended = states["finished"]  # a killed one may have ended at the last moment
        if sys.stderr.isatty():
            print(f"\r{kills} kills, {database.records.total()} records", end="", file=sys.stderr, flush=True)
    with Tuner(options, database.path, *tune) as tuner:
        tuner.end_within(None)
    database.look()
    for run in database.runs():
        if run["state"] != "finished":
            raise Violation(f"run {run['run']} is {run['state']} in the end")
        if (count := database.count(run["run"])) < options.trials:
            raise Violation(f"run {run['run']} has finished with {count} records of {options.trials} trials")
    return f"{kills} kills, {len(database.runs())} runs, {database.records.total()} records"


def trials_of(events):
    """The number of trials that a tuner has reported and that must be records; the last line may be cut."""
    lines = events.read_text().splitlines(keepends=True)
    told = [json.loads(line) for line in lines if line.endswith("\n")]
    return sum(event["event"] == "trial" and event["outcome"] != "other" for event in told)


def tune_together(options, folder):
    """Runs two tuners together. Returns a line that says what was done."""
    exported, source = folder / "exported.jsonl", Database(folder / "source.db", options.program)
    with Tuner(options, source.path, "--seed", options.seed, "--trials", IMPORTED_TRIALS) as tuner:
        tuner.end_within(None)
    source.look()
    attune("records", "export", exported, "--records", source.path, program=options.program)

    database = Database(folder / "records.db", options.program)
    events = [folder / f"events{i}.jsonl" for i in range(2)]
    imports, end = 0, time.monotonic() + options.longest
    with contextlib.ExitStack() as stack:
        tuners = [stack.enter_context(Tuner(options, database.path, "--seed", options.seed, "--events", path))
                  for path in events]
        while time.monotonic() < end or imports < 3:
            attune("records", "import", exported, "--records", database.path, program=options.program)
            imports += 1
            database.look()
        for tuner in tuners:
            if tuner.process.poll() is None:
                tuner.interrupt()
        for tuner in tuners:
            tuner.end_within(None)
    database.look()
    if lost := source.records - database.records:
        raise Violation(f"{lost.total()} imported records are lost")
    own = [run["run"] for run in database.runs() if not source.count(run["run"])]
    counts = sorted(database.count(run) for run in own)
    told = sorted(trials_of(path) for path in events)
    if counts != told:
        raise Violation(f"runs have {counts} records of {told} trials")
    return f"{imports} imports of {source.records.total()} records beside runs of {told[0]} and {told[1]} trials"


def add_options(parser):
    """The options that each script that kills has."""
    parser.add_argument("--model", type=pathlib.Path, help="what is tuned (default: squeezenet1_1 of the zoo)")
    parser.add_argument("--program", type=pathlib.Path, default=program.PROGRAM, help="attune")


def run(options, check):
    """Calls check(options, folder) with a model and an empty folder, prints what it says, and returns the exit code."""
    options.program = options.program.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if options.model is None:
            options.model = folder / "squeezenet1_1.onnx"
            attune("zoo", "squeezenet1_1", "-o", options.model, program=options.program)
        options.model = options.model.resolve()
        try:
            done = check(options, folder)
        except (Violation, Failed) as error:
            print(error, file=sys.stderr)
            return 1
    print(f"{done}: nothing is lost, nothing doubled, no process left")
    return 0


def parse():
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, help="how often (default: 100)")
    parser.add_argument("--trials", type=int, default=400, help="of a run (default: 400)")
    parser.add_argument("--longest", type=float, default=6,
                        help="seconds until a kill at the longest, or of tuning together (default: 6)")
    parser.add_argument("--together", action="store_true", help="two tuners and an import beside each other")
    add_options(parser)
    parser.add_argument("--seed", type=int, default=0, help="of the moments, and of the search (default: 0)")
    return parser.parse_args()


def main():
    options = parse()
    return run(options, tune_together if options.together else kill_again_and_again)


if __name__ == "__main__":
    sys.exit(main())
