"""Runs a case."""
import contextlib
import datetime
import os
import shutil
import sqlite3
import time

from common import machine
from common.models import zoo
from common.program import PROGRAM, Failed, attune, attune_json
from common.stats import part_seconds
from common.timing import Artifact
from tuning import pretrain
from tuning.cases import DeployCase, RecallCase, TuneCase, described, needs_pretraining
from tuning.turns import CLOSER, MOST_ROUNDS, NARROW, Rooflines, compare_in_turns, compare_sooner, comparison, gaps


def copy_database(source, target):
    """Copies the records in one step, in their current state. An SQLite database may consist of several files."""
    unfinished = target.with_suffix(".unfinished")
    remove_database(unfinished)
    with contextlib.closing(sqlite3.connect(source)) as old, contextlib.closing(sqlite3.connect(unfinished)) as new:
        old.backup(new)
    os.replace(unfinished, target)


def remove_database(path):
    for suffix in ("", "-wal", "-shm", "-runs"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


# The parts of a run that the pages show, and the tuner's stages that belong to each, by their names or the beginnings
# of their names.
PARTS = {"prepare": ("prepare", "calibrate"), "select": ("select",), "build": ("build",), "measure": ("check", "time"),
         "update": ("learn",), "finalize": ("confirm_", "compare_", "layout_", "network_", "finish")}


def summary(report):
    """The part of the tuner's report that is kept."""
    tasks = report["tasks"]
    return {
        "trials": report["trials"],
        "failed": sum(task["failed"] for task in tasks),
        "seconds": report["seconds"],
        "tasks": len(tasks),
        "known_tasks": sum(task["transferred"] > 0 for task in tasks),
        "kernels_untuned_ms": sum(task["uses"] * task["untuned_ms"] for task in tasks),
        "untuned_ms": report["untuned_ms"],
        "tuned_ms": report["tuned_ms"],
        "curve": [[point["seconds"], point["trials"], point["ms"]] for point in report["curve"]],
        "ranks": [[point["trials"], point["correlation"]] for point in report["rank_correlation"]],
        "stage_seconds": part_seconds(report["stage_seconds"], PARTS),
    }


def compile_network(case, program, artifact, *flags):
    attune("compile", zoo.model(case.network), "--threads", case.threads, *flags, "-o", artifact, program=program)


class Lab:
    """`folder`: where databases, artifacts and models are kept; `records`: the measurements of pretraining; `baseline`:
    another attune program or None; `baseline_cpu`: the processor for which the baseline compiles networks that it
    cannot compile for this one, or None; `most_rounds`: the most turns of each artifact."""

    def __init__(self, folder, records, baseline, baseline_cpu=None, most_rounds=MOST_ROUNDS):
        self._folder, self._records, self._most_rounds = folder, records, most_rounds
        self._baseline, self._baseline_cpu = baseline, baseline_cpu
        # Described now, just after the build: the sources may change while cases run.
        self._program = machine.program()

    def run(self, case):
        """The case's entry in the results, see results.py. Raises Failed."""
        make = {TuneCase: self._tune, DeployCase: self._deploy, RecallCase: self._recall}[type(case)]
        entry = make(case)
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        return {"case": described(case), "date": now, "attune": self._program, **entry}

    def forget(self, case):
        """Removes what the case has left behind."""
        remove_database(self._path("records", f"{case.key}.db"))

    def _path(self, kind, name):
        path = self._folder / kind / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _tune(self, case, *flags):
        # The database has another name until it is complete, so that a half-filled one is not taken for the first
        # network's records.
        records, running = self._path("records", f"{case.key}.db"), self._path("records", "running.db")
        remove_database(running)
        if case.after:
            first = self._path("records", f"{case.first.key}.db")
            if not first.exists():
                self._tune(case.first)
            copy_database(first, running)
        report = attune_json("tune", zoo.model(case.network), *case.flags, *self._model_flags(case), *flags,
                             "--records", running)
        if report["stopped"]:
            raise Failed(f"the tuning of {case.title} was told to end before its time")
        copy_database(running, records)
        remove_database(running)
        return summary(report) | ({"lesson": pretrain.lesson(self._records)} if needs_pretraining(case) else {})

    def _model_flags(self, case):
        if case.cost_model == "shipped":
            return []
        if case.cost_model == "none":
            return ["--cost-model", "none"]
        path = self._path("models", f"without-{case.network}.txt")
        if not path.exists() or path.stat().st_mtime < self._records.stat().st_mtime:
            pretrain.learn(self._records, path, zoo.all_models(case.network, zoo.zoo_names()))
        return ["--cost-model", path]

    def _deploy(self, case):
        """Compiles and tunes the network, and lets the artifacts take turns."""
        programs, artifacts, compiled = self._compile_untuned(case)
        entry = {**self._tune(case.tune, "-o", artifacts["tuned"]), **compiled}
        rooflines = {"rooflines": Rooflines(artifacts["untuned"], case.threads)}
        rounds, counts = self._take_turns(case, artifacts, programs, rooflines)
        bounds = rounds.pop("rooflines")
        return {**entry, **counts, **gaps(rounds, bounds), **comparison(rounds)}

    def _compile_untuned(self, case):
        """Returns {name: program} and {name: artifact} for all that take turns, though the tuned artifact is not made
        yet, and the fields about them for the entry."""
        programs = {"untuned": PROGRAM, "tuned": PROGRAM}
        if case.baseline:
            programs["baseline"] = self._baseline
        artifacts = {name: self._path("artifacts", f"{name}.atn") for name in programs}
        compile_network(case, PROGRAM, artifacts["untuned"])
        return programs, artifacts, self._compile_baseline(case, artifacts["baseline"]) if case.baseline else {}

    def _compile_baseline(self, case, artifact):
        """Compiles the baseline. Returns the processor as a field for the entry if it is not this one."""
        try:
            compile_network(case, self._baseline, artifact)
        except Failed:
            if not self._baseline_cpu:
                raise
            compile_network(case, self._baseline, artifact, "--cpu", self._baseline_cpu)
            return {"baseline_cpu": self._baseline_cpu}
        return {}

    def _recall(self, case):
        """Compiles the network with the records of each run, and lets the artifacts take turns."""
        programs, artifacts, compiled = self._compile_untuned(case)
        seconds = self._compile_recalled(case.tune, artifacts["tuned"])
        for run in case.sooner:
            programs[run.key], artifacts[run.key] = PROGRAM, self._path("artifacts", f"{run.key}.atn")
            self._compile_recalled(run, artifacts[run.key])
        rounds, counts = self._take_turns(case, artifacts, programs, {}, CLOSER)
        sooner = {run.key: rounds.pop(run.key) for run in case.sooner}
        return {"compile_seconds": seconds, **compiled, **counts, **comparison(rounds),
                "sooner": {key: compare_sooner(rounds, lists) for key, lists in sooner.items()}}

    def _compile_recalled(self, run, artifact):
        """Compiles with the records of the run. Returns the seconds that it took."""
        records = self._path("records", f"{run.key}.db")
        if not records.exists():
            self._tune(run)
        start = time.monotonic()
        compile_network(run, PROGRAM, artifact, "--records", records)
        return time.monotonic() - start

    def _take_turns(self, case, artifacts, programs, others, closer=1):
        """Lets artifacts, which are then removed, and others take turns until the speedups are known or the turns are
        used up; `closer` multiplies the turns and the precision. Returns {name: latencies in ms, one list per round
        that counts}, and the fields about the rounds for the entry."""
        own = {name: Artifact(artifacts[name], case.threads, programs[name]) for name in programs}
        gauge = Artifact(artifacts["untuned"], case.threads, programs["untuned"])
        rounds, count = compare_in_turns(own | others, list(own), gauge, closer * self._most_rounds, NARROW / closer)
        shutil.rmtree(self._folder / "artifacts")
        return rounds, {"rounds": count, "rounds_counted": len(rounds["tuned"])}
