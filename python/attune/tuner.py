"""Tuning studies as a chain: a context that names the device, and a tuner that saves all results by run.

    context = attune.BenchmarkingContext(device_key="desk")
    tuner = attune.Tuner(context).from_model("resnet18").autotune(trials=100).build()
    print(tuner.evaluate(), tuner.save())
    again = attune.Tuner(context).load(context.run_id)
"""
from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import statistics
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy

from . import _core
from ._options import Arrays
from ._paths import user_folder, written_whole
from ._values import Unpicklable
from .device import Device
from .errors import InvalidError, NotFoundError
from .network import Network, load, zoo

Path = str | os.PathLike[str]


class BenchmarkingContext:
    """The device of a study, and the time of its steps so far. For one Tuner, in one thread.

    target: the kind of device; "cpu" is the only one. device_key: the key of a device of the fleet, or "" for this
    machine. cpu_arch: the processor to compile for, or "" for the device's. workspace: a folder for all runs:

        all.db, best.db         records of all jobs, and the fastest of each task
        runs/ID/records.db      those of one job
        runs/ID/context.json    this context
        runs/ID/log.jsonl       what happened while it was tuned
        modules/ID.atn          the network that was built
    """

    def __init__(self, target: str = "cpu", device_key: str = "", cpu_arch: str = "", workspace: Path = "") -> None:
        for name, text in (("target", target), ("device_key", device_key), ("cpu_arch", cpu_arch)):
            if not isinstance(text, str):
                raise InvalidError(f"{name}: must be a str, and is a {type(text).__name__}")
        if target != "cpu":
            raise InvalidError(f"target: \"{target}\" is not a kind of device; the only one is \"cpu\"")
        self.target, self.device_key, self.cpu_arch = target, device_key, cpu_arch
        self.workspace = (pathlib.Path(workspace) if workspace else
                          user_folder("XDG_DATA_HOME", ".local/share", "workspace"))
        self.run_id = uuid.uuid4().hex
        self.steps: list[tuple[str, float]] = []  # (name, seconds), in their order
        self.facts: dict[str, Any] = {}  # about the device, the model, the tuning and the evaluation

    def __repr__(self) -> str:
        where = f"device {self.device_key!r}" if self.device_key else "this machine"
        return f"<attune.BenchmarkingContext(run {self.run_id}, {where}, workspace {str(self.workspace)!r})>"

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Takes the time of a step."""
        begin = time.monotonic()
        yield
        self.steps.append((name, time.monotonic() - begin))

    @property
    def folder(self) -> pathlib.Path:
        """The folder of this run, made if it is missing."""
        folder = self.workspace / "runs" / self.run_id
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def module_path(self, run_id: str) -> pathlib.Path:
        """Returns the path of the network that a run has built."""
        return self.workspace / "modules" / f"{run_id}.atn"

    def save(self) -> pathlib.Path:
        """Writes context.json, completely or not at all, and returns its path."""
        path = self.folder / "context.json"
        content = {"run_id": self.run_id, "target": self.target, "device_key": self.device_key, "cpu_arch": self.cpu_arch,
                   "attune": {"version": _core.version(), "build_id": _core.build_id()},
                   "steps": [{"name": name, "seconds": seconds} for name, seconds in self.steps], **self.facts}
        with written_whole(path) as file:
            file.write_text(json.dumps(content, indent=2) + "\n")
        return path

    def saved(self, run_id: str) -> dict[str, Any]:
        """Returns the saved context of another run of this workspace."""
        if not isinstance(run_id, str) or not re.fullmatch("[0-9a-f]{32}", run_id):
            raise InvalidError(f"{run_id!r} is not a run's id, which has 32 hexadecimal digits")
        path = self.workspace / "runs" / run_id / "context.json"
        try:
            content = json.loads(path.read_text())
        except FileNotFoundError:
            raise NotFoundError(f"{path}: no run of this workspace has the id \"{run_id}\"") from None
        except ValueError as error:
            raise InvalidError(f"{path}: is damaged: {error}") from None
        if not isinstance(content, dict) or not isinstance(content.get("device"), dict):
            raise InvalidError(f"{path}: is damaged: it names no device")
        return content


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """The latency of one inference in milliseconds, over `rounds` runs with random data."""

    mean_ms: float
    median_ms: float
    stdev_ms: float
    runs: int


def _threads_of(saved: Mapping[str, Any]) -> int | None:
    """Returns the threads that a saved run is for, if it says so."""
    threads = saved.get("threads", saved.get("tuning", {}).get("threads"))
    return threads if isinstance(threads, int) else None


class Tuner(Unpicklable):
    """A network on its way from the model to a tuned module: from_model(), then autotune() if you like, then build().

    context: the device to measure on. server: the address of the server of the fleet that the context's device belongs
    to; by default, it is the fleet that you have joined. Not thread safe.
    """

    _instead = "save() returns the id of its run, which attune.Tuner(context).load(id) takes in the other process"

    def __init__(self, context: BenchmarkingContext, server: str | None = None) -> None:
        if server and not context.device_key:
            raise InvalidError("server: a context for this machine needs none; give the context a device_key")
        self.context = context
        self._device = Device.in_fleet(context.device_key, server or "") if context.device_key else Device.here()
        self._network: Network | None = None
        self._built: Network | None = None
        self._output_name, self._output_size = "", 0
        self._threads: int | None = None  # threads of one inference, if autotune() or build() was given any
        context.facts["device"] = {"fingerprint": self._device.fingerprint, "cpu": self._device.cpu,
                                   "processors": self._device.processors, "server": server or ""}

    def __repr__(self) -> str:
        model = self.context.facts.get("model", {}).get("source", "") or ("a model" if self._network or self._built else "no model")
        steps = [step for step, is_done in (("tuned", "tuning" in self.context.facts), ("built", self._built)) if is_done]
        return f"<attune.Tuner({model}, {self._device!r}){''.join(', ' + step for step in steps)}>"

    def from_model(self, model: Any, output_name: str = "", output_size: int = 0,
                   shapes: Mapping[str, Sequence[int]] | None = None, values: Arrays | None = None) -> Tuner:
        """Takes a model: anything that attune.load() takes, such as a file or the folder of a SavedModel, or a name of
        the zoo.

        output_name: the output that run() returns, by default the first. output_size: the number of its elements, for a
        check. shapes, values: see attune.load(); a network of the zoo takes none.
        """
        if self._network is not None or self._built is not None:
            raise InvalidError("from_model(): this tuner has a model already; make another Tuner for another model")
        with self.context.step("from_model"):
            is_name = isinstance(model, str) and model.isidentifier() and not os.path.exists(model)
            if is_name and (shapes or values):
                raise InvalidError(f"from_model(): there is no file \"{model}\", and networks of the zoo take no shapes and "
                                   "no values")
            self._network = (zoo(model).on(self._device) if is_name else
                             load(model, shapes=shapes, values=values, device=self._device))
        self._output_name, self._output_size = output_name, output_size
        self.context.facts["model"] = {"source": str(model) if isinstance(model, (str, os.PathLike)) else "",
                                       "output_name": output_name, "output_size": output_size}
        return self

    def autotune(self, trials: int = 0, timeout: float = 0.0, batch: int = 32, transfer: bool = True,
                 minutes: float = 0.0, threads: int = 1, seed: int = 0) -> Tuner:
        """Searches for faster kernels.

        trials: for each task; 0: until no more gain is expected. timeout: the seconds that one execution of a candidate
        may take; 0: one, which rises while more than a tenth of the candidates take longer. batch: candidates that are
        built, and then measured, together. transfer: whether earlier jobs of this workspace count; tasks of one job
        always learn from each other. minutes: a limit for the whole job. threads: of one inference; build() and
        evaluate() use as many.
        """
        network = self._before_building("autotune")
        if self.context.cpu_arch not in ("", self._device.cpu):
            raise InvalidError(f"autotune(): the context's cpu_arch is {self.context.cpu_arch}, and its device is a "
                               f"{self._device.cpu}; tune on a device of the kind that you compile for")
        folder = self.context.folder
        with self.context.step("autotune"):
            self._network = network.tune(minutes=minutes, trials_per_task=trials, threads=threads, batch=batch, seed=seed,
                                         execution_seconds=timeout, transfer=transfer, records=self._all_records,
                                         events=folder / "log.jsonl")
        tuning = self._network.tuning
        self.context.facts["tuning"] = tuning
        self._threads = threads
        _core.copy_records(str(self._all_records), str(folder / "records.db"), tuning["run"], False)
        best = folder / "best.db"
        _core.copy_records(str(self._all_records), str(best), "", True)
        best.replace(self.context.workspace / "best.db")
        self.context.save()
        return self

    def build(self, from_job: str = "", threads: int = 0) -> Tuner:
        """Generates the code, by the records of all jobs of this workspace or, if from_job is its id, of one.

        threads: of one inference; records for this number are preferred. 0: as many as for autotune(), or for that job,
        or else 1.
        """
        network = self._before_building("build")
        records: Path = self._all_records if self._all_records.exists() else "none"
        if from_job:
            records = self.context.workspace / "runs" / from_job / "records.db"
            if not records.exists():
                raise NotFoundError(f"{records}: no job of this workspace has the id \"{from_job}\"")
            with contextlib.suppress(NotFoundError):  # a job from before tuning saved its context
                threads = threads or _threads_of(self.context.saved(from_job)) or 0
        self._threads = threads or self._threads
        cpus = [self.context.cpu_arch] if self.context.cpu_arch not in ("", self._device.cpu) else []
        with self.context.step("build"):
            self._built = network.compile(cpus=cpus, threads=self._threads or 0, records=records)
        return self

    def run(self, inputs: Any) -> numpy.ndarray[Any, Any]:
        """Returns the output for these inputs: {name: array}, a list of arrays in the order of the inputs, or one
        array."""
        network = self._built_network("run")
        if not isinstance(inputs, Mapping):
            arrays = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
            if len(arrays) != len(network.inputs):
                raise InvalidError(f"run(): the network has {len(network.inputs)} inputs, and {len(arrays)} are given")
            inputs = dict(zip(network.inputs, arrays))
        outputs = network.run(inputs)
        name = self._output_name or next(iter(outputs))
        if name not in outputs:
            raise InvalidError(f"output_name: there is no output \"{name}\"; the outputs are {', '.join(outputs)}")
        if self._output_size not in (0, outputs[name].size):
            raise InvalidError(f"output_size: output \"{name}\" has {outputs[name].size} elements, not "
                               f"{self._output_size}")
        return outputs[name]

    def evaluate(self, seconds: float = 1.0, threads: int | None = None, seed: int = 0) -> Evaluation:
        """Measures the whole network with random data, for `seconds` seconds and at least 3 runs.

        threads: by default as many as for autotune() or build(), also if load() brings their module, or else 1; 0: as
        many as processors.
        """
        network = self._built_network("evaluate")
        threads = (self._threads or 1) if threads is None else threads
        with self.context.step("evaluate"):
            times = network.bench(seconds, threads, seed=seed)
        evaluation = Evaluation(statistics.fmean(times), statistics.median(times), statistics.stdev(times), len(times))
        self.context.facts["evaluation"] = {**dataclasses.asdict(evaluation), "threads": threads}
        return evaluation

    def save(self) -> str:
        """Saves the module and the context in the workspace; returns the run's id, which load() takes."""
        network = self._built_network("save")
        path = self.context.module_path(self.context.run_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        network.save(path)
        self.context.facts["threads"] = self._threads or 1
        self.context.save()
        return self.context.run_id

    def load(self, run_id: str) -> Tuner:
        """Takes the module that a run of this workspace has saved, on a device of the same kind."""
        if self._network is not None or self._built is not None:
            raise InvalidError("load(): this tuner has a model already; make another Tuner")
        saved = self.context.saved(run_id)
        made_for, own = saved["device"].get("fingerprint"), self._device.fingerprint
        if made_for != own:
            raise InvalidError(f"load(): run {run_id} was made for the device \"{made_for}\", and this context's device is "
                               f"\"{own}\"; give the context a device_key of that kind, or build the model again")
        model = saved.get("model", {})
        self._output_name, self._output_size = model.get("output_name", ""), model.get("output_size", 0)
        self._threads = _threads_of(saved)
        with self.context.step("load"):
            self._built = load(self.context.module_path(run_id), device=self._device)
        return self

    @property
    def _all_records(self) -> pathlib.Path:
        return self.context.workspace / "all.db"

    def _before_building(self, step: str) -> Network:
        if self._built is not None:
            raise InvalidError(f"{step}(): the network is built already; make another Tuner for another build")
        if self._network is None:
            raise InvalidError(f"{step}(): there is no model yet; call from_model() first")
        return self._network

    def _built_network(self, step: str) -> Network:
        if self._built is None:
            first = "build()" if self._network is not None else "from_model() and build(), or load(),"
            raise InvalidError(f"{step}(): nothing is built yet; call {first} first")
        return self._built
