"""./do pretrain: the cost model that tuning starts with.

Each network is tuned with random candidates, which show a model more of a space than the candidates of a search. The
measurements stay in a database; the model is learned from all of them.
"""
import argparse
import pathlib
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

from common.models import zoo
from common.options import INTERRUPTED, Parser
from common.program import PROGRAM, ROOT, Failed, attune, attune_json
from common.progress import interrupt_on_terminate, progress
from common.report.words import duration


@dataclass(frozen=True)
class Collection:
    """The runs to measure."""
    networks: tuple[str, ...]  # of the zoo
    threads: tuple[int, ...]
    trials: int  # per task


FULL = Collection(("resnet18", "resnet50", "resnet50_v2", "mobilenet_v1", "mobilenet_v2", "inception_v3",
                   "squeezenet1_1", "efficientnet_b0", "vgg16", "bert_base"), (1, 2), 16)
SHORT = Collection(("resnet18", "mobilenet_v1", "squeezenet1_1"), (1,), 8)
RECORDS = ROOT / "build/tuning/pretrain.db"
OUTPUT = ROOT / "src/tune/pretrained_model.txt"

INTERRUPTS = {signal.SIGINT, signal.SIGTERM}
SECONDS_OF_TRIAL = 0.45  # the guess before any run is complete

DESCRIPTION = """Measures random candidates of many networks' kernels on this machine, and learns from them the cost
model that tuning starts with. Complete measurements are not repeated, and an interrupted run resumes."""


@dataclass(frozen=True)
class Run:
    """A network on a number of threads."""
    network: str
    threads: int
    trials: int  # per task
    tasks: int

    @property
    def most_trials(self):
        return self.tasks * self.trials

    @property
    def flags(self):
        return ["--threads", self.threads, "--strategy", "random", "--trials-per-task", self.trials,
                "--cost-model", "none", "--no-transfer-runs", "--no-transfer-tasks", "--no-layouts"]

    def is_same_work(self, record):
        """Whether a run in the database did the same work."""
        options = record["options"]
        return (record["model"] == f"{self.network}.onnx" and record["threads"] == self.threads
                and options["search"] == "random" and options["trials_per_task"] == self.trials
                and options["trials"] == 0 and options["seconds"] == 0 and options["cost_model"] == "none"
                and not options["transfer_from_runs"] and not options["transfer_from_tasks"])


def count_tasks(space):
    """The number of tasks in the output of `attune tune --space`."""
    return len(re.findall(r", used \d+×, \d+ configs$", space, re.MULTILINE))


def finished_runs(records):
    """The finished runs of this machine in the database."""
    if not records.exists():
        return []
    runs = attune_json("records", "list", "--runs", "--device", "host", "--records", records)["runs"]
    return [run for run in runs if run["state"] == "finished"]


def seconds_of_trial(runs, finished):
    """The time of one trial in the finished ones of `runs`; a guess if there are none."""
    seconds = trials = 0
    for run in runs:
        for record in (record for record in finished if run.is_same_work(record)):
            seconds += 1e-3 * (record["end_ms"] - record["start_ms"])
            trials += run.most_trials
    return seconds / trials if trials else SECONDS_OF_TRIAL


def tune(run, records):
    """Runs the tuner. If this program is interrupted, the tuner is killed: asked to end, it would record its run as
    finished, but a killed run continues when the same command is repeated. Raises Failed."""
    command = [PROGRAM, "tune", zoo.zoo_model(run.network), *run.flags, "--records", records]
    # An interrupt waits until the process is known.
    before, process = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS), None
    try:
        # In a session of its own, so that Ctrl-C reaches only this program.
        process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, start_new_session=True,
                                   preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, before))
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if process.wait() != 0:
            raise Failed(f"attune tune of {run.network} ends with code {process.returncode}")
    except KeyboardInterrupt:
        process.kill()
        process.wait()
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def collect(collection, records):
    """Makes all runs of the collection that the database lacks. Raises Failed."""
    records.parent.mkdir(parents=True, exist_ok=True)
    runs = []
    for network in collection.networks:
        tasks = count_tasks(attune("tune", zoo.zoo_model(network), "--space"))
        runs += [Run(network, threads, collection.trials, tasks) for threads in collection.threads]
    finished = finished_runs(records)
    pending = [run for run in runs if not any(run.is_same_work(record) for record in finished)]
    left = sum(run.most_trials for run in pending)
    trial_s = seconds_of_trial(runs, finished)
    progress(f"{len(runs)} runs, {len(runs) - len(pending)} of them complete; at most {left} trials, about "
             f"{duration(left * trial_s)}")
    measured = measured_s = 0
    for number, run in enumerate(pending, len(runs) - len(pending) + 1):
        progress(f"run {number} of {len(runs)}: {run.network}, threads: {run.threads}, tasks: {run.tasks}; about "
                 f"{duration(left * trial_s)} left")
        start = time.monotonic()
        tune(run, records)
        measured, measured_s = measured + run.most_trials, measured_s + time.monotonic() - start
        left, trial_s = left - run.most_trials, measured_s / measured


def learn(records, output, without):
    """Writes the model learned from the records, except those for tasks of the models `without` (files). Returns the
    program's output. Raises Failed."""
    flags = [flag for model in without for flag in ("--without", model)]
    return attune("records", "learn", "--records", records, "-o", output, *flags).strip()


def lesson(records):
    """This machine's share of the records that models learn from, for the results; None if it has none."""
    runs = [run for run in finished_runs(records)
            if run["options"]["search"] == "random" and run["options"]["trials_per_task"]]
    if not runs:
        return None
    return {"networks": len({run["model"] for run in runs}), "threads": sorted({run["threads"] for run in runs}),
            "trials_per_task": min(run["options"]["trials_per_task"] for run in runs)}


def names(text):
    known = zoo.zoo_names()
    for name in text.split(","):
        if name not in known:
            raise argparse.ArgumentTypeError(f"the zoo has no network {name}; it has {', '.join(known)}")
    return tuple(dict.fromkeys(text.split(",")))


def number(text):
    if not text.isdecimal() or not 1 <= int(text) <= 1024:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 1 to 1024")
    return int(text)


def numbers(text):
    return tuple(sorted({number(part) for part in text.split(",")}))


def parse(arguments):
    p = Parser("pretrain", description=DESCRIPTION)
    p.add_argument("--networks", type=names, metavar="NAME,NAME", default=FULL.networks,
                   help=f"of the zoo; default: {','.join(FULL.networks)}")
    p.add_argument("--trials-per-task", type=number, metavar="N", default=FULL.trials,
                   help=f"candidates of each kernel; default: {FULL.trials}")
    p.add_argument("--threads", type=numbers, metavar="N,N", default=FULL.threads,
                   help=f"default: {','.join(map(str, FULL.threads))}")
    p.add_argument("--records", type=pathlib.Path, metavar="DB", default=RECORDS,
                   help=f"the database; default: {RECORDS.relative_to(ROOT)}. After a change of a strategy, which "
                        "makes its records worth little, begin another one")
    p.add_argument("-o", "--output", type=pathlib.Path, metavar="FILE",
                   help=f"the model; default: {OUTPUT.relative_to(ROOT)}, which the build puts into the program")
    p.add_argument("--without", type=pathlib.Path, metavar="MODEL", action="append", default=[],
                   help="a model file whose tasks teach nothing, so that the result can be tried on it; repeatable")
    p.add_argument("--learn-only", action="store_true", help="measure nothing")
    if not PROGRAM.is_file():
        p.error(f"{PROGRAM} is missing; ./do build makes it")
    args = p.parse_args(arguments)
    if args.without and not args.output:
        p.error("--without makes a model for an experiment: say with -o where it goes")
    if args.learn_only and not args.records.exists():
        p.error(f"there is no database {args.records}")
    return args


def main():
    args = parse(sys.argv[1:])
    interrupt_on_terminate()
    try:
        if not args.learn_only:
            collect(Collection(args.networks, args.threads, args.trials_per_task), args.records)
        print(learn(args.records, args.output or OUTPUT, args.without))
    except Failed as error:
        print(f"pretrain: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\npretrain: interrupted; the same command resumes", file=sys.stderr)
        return INTERRUPTED
    return 0


if __name__ == "__main__":
    sys.exit(main())
