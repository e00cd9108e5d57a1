"""Jobs on a server: it tunes models on devices that need not be at hand.

    client = attune.Client()                      # the server and the token that attune login has kept
    job = client.submit("resnet50.onnx", on="desk", latency="5ms", deadline="30m")
    network = job.wait().result()                 # an attune.Network, to run
"""
from __future__ import annotations

import contextlib
import dataclasses
import datetime
import hashlib
import json
import os
import pathlib
import re
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._paths import written_whole
from ._rest import Rest, part
from ._servers import find_server, server_url
from ._uploads import input_files, send
from .errors import InternalError, InvalidError, JobFailedError, NotFoundError, WaitTimeoutError

if TYPE_CHECKING:
    from .network import Network

Path = str | os.PathLike[str]
Duration = float | str | datetime.timedelta  # seconds, or "90s", "5m", "1h30m"

_PAGE = 500
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_SIZES = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_KINDS_WITH_PROMISES = ("tuning", "quantization")
_INPUTS = ("cost_model", "replay", "data", "files")  # settings that name files, besides the model


@dataclasses.dataclass(frozen=True)
class Promise:
    """A limit of an agreement, and its state. Numbers are in the unit of the name: milliseconds, a share, bytes.

    state: unknown, expected, at_risk, impossible, met or broken. low, median and high: the 10, 50 and 90 % quantiles of
    the prediction, or the measured value between the ends of its interval.
    """

    name: str
    state: str
    limit: float | None = None
    probability: float | None = None
    low: float | None = None
    median: float | None = None
    high: float | None = None
    evidence: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Prediction:
    """A server's forecast for a job. verdict: known, accepted, renegotiated or refused. answer: the whole answer."""

    verdict: str
    promises: tuple[Promise, ...]
    answer: Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class RemoteDevice:
    """A device of the server's fleet. keys: the keys that `on` may name. state: free, held, drained or away."""

    id: str
    keys: tuple[str, ...]
    fingerprint: str
    target: str
    processors: int
    state: str
    load: float


@dataclasses.dataclass(frozen=True)
class JobFile:
    """A file of a job. Inputs are below in/, results for people below out/."""

    name: str
    sha256: str
    bytes: int


class Job:
    """A job on a server. Its facts are those of the last answer; refresh(), wait() and events() bring newer ones."""

    def __init__(self, rest: Rest, shown: Mapping[str, Any]) -> None:
        self._rest, self._shown = rest, dict(shown)
        self.id: str = _field(shown, "id", str)

    def __repr__(self) -> str:
        return f"<attune.Job {self.id}: {self.status}>"

    @property
    def status(self) -> str:
        """The state: waiting, running, done, failed or cancelled."""
        return str(_field(self._shown, "state", str))

    @property
    def is_over(self) -> bool:
        """Whether it has ended, in whatever way."""
        return self.status not in ("waiting", "running")

    @property
    def error(self) -> str:
        """The reason why it has failed; empty if it has not."""
        return str(_field(self._shown, "error", str))

    @property
    def progress(self) -> str:
        """The progress, for people."""
        return str(_field(self._shown, "progress", str))

    @property
    def promises(self) -> tuple[Promise, ...]:
        """The promises of its agreement."""
        return _promises(self._shown)

    @property
    def facts(self) -> Mapping[str, Any]:
        """The server's last answer about it, by the names of its OpenAPI document."""
        return dict(self._shown)

    @property
    def files(self) -> tuple[JobFile, ...]:
        """Its files, as they are now."""
        return tuple(JobFile(_field(file, "name", str), _field(file, "sha256", str), _field(file, "bytes", int))
                     for file in _field(self.refresh()._shown, "files", list))

    def refresh(self) -> Job:
        """Asks the server for the job with its stages, its files and its result."""
        self._shown = self._rest.ask("GET", self._path()).json()
        return self

    def events(self, timeout: float | None = None) -> Iterator[Mapping[str, Any]]:
        """Yields the job at once and after each change, until it is over; waits for a server that is away meanwhile.

        timeout: seconds, after which WaitTimeoutError is raised.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        for event in self._rest.events(self._path("/events"), deadline):
            if event is not None and event.kind == "job":
                self._shown = {**self._shown, **json.loads(event.data)}
                yield dict(self._shown)
                if self.is_over:
                    return
            if deadline is not None and time.monotonic() >= deadline:
                raise WaitTimeoutError(f"{self.id} is not over after {timeout:g} s; it continues on the server")

    def wait(self, timeout: float | None = None) -> Job:
        """Returns once the job is over, in whatever way. timeout: seconds, after which WaitTimeoutError is raised."""
        for _ in self.events(timeout):
            pass
        return self.refresh()

    def cancel(self) -> Job:
        """Cancels the job. One that is over stays as it is."""
        self._shown = {**self._shown, **self._rest.ask("POST", self._path("/cancel")).json()}
        return self

    def download(self, folder: Path) -> list[pathlib.Path]:
        """Downloads the job's results for people into the folder. Each file appears once it is whole and checked."""
        return [self._bring(file, pathlib.Path(folder) / _below_out(file.name)) for file in self.files
                if file.name.startswith("out/")]

    def result(self, path: Path | None = None, trusted_keys: Sequence[str] | None = None) -> Network:
        """Waits until the job is over, and returns the network that it has built. path: where its artifact is saved.
        trusted_keys: as for load(); GET /v1/signing-keys lists the tenant's.

        Raises JobFailedError if the job has failed or was cancelled, NotFoundError if its kind builds no artifact.
        """
        if not self.is_over:
            self.wait()
        if self.status != "done":
            raise JobFailedError(f"{self.id} is {self.status}" + (f": {self.error}" if self.error else ""))
        artifact = next((file for file in self.files if re.fullmatch(r"out/.*\.atn", file.name)), None)
        if artifact is None:
            raise NotFoundError(f"{self.id}: has built no artifact; download() fetches its results")
        from .network import load  # which needs the compiler
        if path is not None:
            return load(self._bring(artifact, pathlib.Path(path)), sha256=artifact.sha256, trusted_keys=trusted_keys)
        with tempfile.TemporaryDirectory() as folder:
            return load(self._bring(artifact, pathlib.Path(folder) / "result.atn").read_bytes(), sha256=artifact.sha256,
                        trusted_keys=trusted_keys)

    def _path(self, more: str = "") -> str:
        return f"/v1/jobs/{part(self.id)}{more}"

    def _bring(self, file: JobFile, path: pathlib.Path) -> pathlib.Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(path) as unfinished, unfinished.open("wb") as to:
            digest, position = hashlib.sha256(), 0

            def attempt() -> None:
                nonlocal position
                headers = {"Range": f"bytes={position}-"} if position else {}
                with self._rest.open(self._path(f"/files/{part(file.name)}"), headers) as answer:
                    known = position if answer.status == 200 else 0  # bytes that arrive a second time
                    while piece := answer.read(1 << 18):
                        known, piece = max(0, known - len(piece)), piece[known:]
                        digest.update(piece)
                        to.write(piece)
                        position += len(piece)
                if position < file.bytes:
                    raise ConnectionError(f"only {position} of {file.bytes} bytes have arrived")

            if file.bytes:
                self._rest.insist(attempt, lambda: position)
            if position != file.bytes or digest.hexdigest() != file.sha256:
                raise InternalError(f"{file.name}: the bytes are not those that the server has announced")
        return path


class Client:
    """A server that tunes models, by REST. Any number of threads may use it.

    server: its address, "https://host:9193". token: your token. Without them, those of $ATTUNE_URL and $ATTUNE_TOKEN
    count, and then those that `attune login` has saved; a token of a login at an identity provider is renewed in time.
    ca: a file of certificates that authenticate the server. retries: how often a call is sent while the server is away
    or busy, with pauses that grow or that it asks for.
    """

    def __init__(self, server: str | None = None, token: str | None = None, *, ca: Path | None = None,
                 retries: int = 8) -> None:
        known = find_server(server_url(server) if server else None, token)
        if ca is not None:
            known = dataclasses.replace(known, authorities=pathlib.Path(ca).read_text(encoding="utf-8"), pinned_key="")
        self._rest = Rest(known, retries)

    def __repr__(self) -> str:
        return f"<attune.Client of {self._rest.server.url}>"

    def submit(self, model: Path | None = None, on: str = "", *, name: str = "", kind: str = "",
               latency: Duration | None = None, p99: Duration | None = None, accuracy_loss: float | str | None = None,
               size: int | str | None = None, deadline: Duration | None = None, device_time: Duration | None = None,
               priority: int | str | None = None, samples: Path | None = None, key: str = "", **settings: Any) -> Job:
        """Submits a job, and sends the files that the server lacks.

        model: a model file, or a folder with one. on: the key of the device that it measures on. kind: "tuning"; with
        samples "quantization". latency, p99: the highest latency in the mean, and of 99 of 100 inferences: "5ms", or
        seconds. accuracy_loss: the highest loss, "1%" or 0.01. size: the largest artifact, "10MB" or bytes. deadline,
        device_time: "30m", or seconds. priority: a number, or a class of the server. samples: a folder, for calibration
        and judging. key: the same key returns the same job; by default each call submits another one. settings: of the
        kind, as in a file of jobs.
        """
        body = self._job(model, on, name, kind, samples, settings)
        _agree(body, latency=latency, p99=p99, accuracy_loss=accuracy_loss, size=size, deadline=deadline,
               device_time=device_time, priority=priority)
        answer = self._rest.ask("POST", "/v1/jobs", body=body, headers={"Idempotency-Key": key or uuid.uuid4().hex})
        return Job(self._rest, answer.json())

    def predict(self, model: Path | None = None, on: str = "", *, name: str = "", kind: str = "",
                latency: Duration | None = None, p99: Duration | None = None,
                accuracy_loss: float | str | None = None, size: int | str | None = None,
                deadline: Duration | None = None, device_time: Duration | None = None,
                priority: int | str | None = None, samples: Path | None = None, **settings: Any) -> Prediction:
        """Asks the server for its predictions for a job, without submitting it. The arguments are those of submit()."""
        body = self._job(model, on, name, kind, samples, settings)
        _agree(body, latency=latency, p99=p99, accuracy_loss=accuracy_loss, size=size, deadline=deadline,
               device_time=device_time, priority=priority)
        answer = self._rest.ask("POST", "/v1/predictions", body=body).json()
        return Prediction(str(answer.get("verdict", "")), _promises(answer), answer)

    def job(self, id: str) -> Job:
        """Returns the job with this id."""
        return Job(self._rest, self._rest.ask("GET", f"/v1/jobs/{part(id)}").json())

    def jobs(self, status: str = "") -> Iterator[Job]:
        """Returns your tenant's jobs, latest first. status: one state, or "unfinished"; by default all."""
        query: dict[str, Any] = {"most": _PAGE, **({"state": status} if status else {})}
        while True:
            page = self._rest.ask("GET", "/v1/jobs", query=query).json()
            yield from (Job(self._rest, shown) for shown in _field(page, "jobs", list))
            if not page.get("next_cursor"):
                return
            query["cursor"] = page["next_cursor"]

    def devices(self, key: str = "") -> list[RemoteDevice]:
        """Returns the devices that your jobs can measure on. key: only devices with this key."""
        answer = self._rest.ask("GET", "/v1/devices", query={"key": key} if key else None).json()
        return [RemoteDevice(id=_field(device, "id", str), keys=tuple(_field(device, "keys", list)),
                             fingerprint=_field(device, "fingerprint", str), target=_field(device, "target", str),
                             processors=_field(device, "processors", int), state=_field(device, "state", str),
                             load=float(_field(device, "load", (int, float))))
                for device in _field(answer, "devices", list) if device.get("is_usable", True)]

    def me(self) -> Mapping[str, Any]:
        """Returns the server's facts about the token: its name, tenant and role, and when it expires."""
        return self._rest.ask("GET", "/v1/me").json()

    def _job(self, model: Path | None, on: str, name: str, kind: str, samples: Path | None,
             settings: Mapping[str, Any]) -> dict[str, Any]:
        kind = kind or ("quantization" if samples is not None else "tuning")
        given = dict(settings)
        for setting, path in (("model", model), ("data", samples)):
            if path is not None:
                given[setting] = path
        files = []
        for setting in ("model", *_INPUTS):
            if setting not in given or given[setting] == "none":
                continue
            paths = given[setting] if isinstance(given[setting], (list, tuple)) else [given[setting]]
            names = []
            for path in paths:
                named, more = input_files(setting, pathlib.Path(path))
                names.append(named)
                files += more
            given[setting] = names if isinstance(given[setting], (list, tuple)) else names[0]
        for file in files:
            send(self._rest, file)
        stem = pathlib.Path(model).stem if model is not None else kind
        body: dict[str, Any] = {"name": name or re.sub(r"[^A-Za-z0-9._-]", "-", stem)[:64], "kind": kind,
                                "settings": given,
                                "inputs": [{"name": file.name, "sha256": file.sha256} for file in files]}
        if on:
            body["on"] = on
        return body


def _field(answer: Mapping[str, Any], name: str, kind: Any) -> Any:
    """Returns a field of an answer, which must be there and of this type."""
    value = answer.get(name)
    if not isinstance(value, kind):
        raise InternalError(f"the server's answer has no field \"{name}\" as this version knows it")
    return value


def _promises(answer: Mapping[str, Any]) -> tuple[Promise, ...]:
    names = [field.name for field in dataclasses.fields(Promise) if field.name != "evidence"]
    return tuple(Promise(**{name: promise.get(name) for name in names}, evidence=tuple(promise.get("evidence", ())))
                 for promise in answer.get("promises", ()))


def _below_out(name: str) -> pathlib.PurePosixPath:
    """Returns the path of a result below the folder for results; refuses any other name from the server."""
    path = pathlib.PurePosixPath(name.removeprefix("out/"))
    if path.is_absolute() or not path.parts or any(each in ("..", ".") for each in path.parts):
        raise InternalError(f"{name}: is not a name of a file of a job")
    return path


def _seconds(name: str, value: Duration) -> float:
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, str):
        parts = re.findall(r"([0-9.]+)\s*(us|ms|s|m|h)", value)
        if parts and re.fullmatch(r"(\s*[0-9.]+\s*(us|ms|s|m|h))+\s*", value):
            with contextlib.suppress(ValueError):
                return sum(float(number) * _UNITS[unit] for number, unit in parts)
        raise InvalidError(f"{name}: \"{value}\" is not a time like 5ms, 90s or 1h30m")
    return float(value)


def _share(value: float | str) -> float:
    text = str(value)
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError as error:
        raise InvalidError(f"accuracy_loss: \"{value}\" is not a share like 1% or 0.01") from error


def _bytes(value: int | str) -> int:
    found = re.fullmatch(r"\s*([0-9.]+)\s*([KMG]?i?B|)\s*", str(value))
    if found is None or found[2] not in _SIZES:
        raise InvalidError(f"size: \"{value}\" is not a size like 10MB or 512KiB")
    return int(float(found[1]) * _SIZES[found[2]])


def _agree(body: dict[str, Any], *, latency: Duration | None, p99: Duration | None, accuracy_loss: float | str | None,
           size: int | str | None, deadline: Duration | None, device_time: Duration | None,
           priority: int | str | None) -> None:
    """Adds an agreement to the body, or, without any promise that its kind can have, the deadline and the priority of the
    job alone."""
    agreement: dict[str, Any] = {}
    if latency is not None:
        agreement["latency_ms"] = {"mean": 1e3 * _seconds("latency", latency)}
    if p99 is not None:
        agreement.setdefault("latency_ms", {})["p99"] = 1e3 * _seconds("p99", p99)
    if accuracy_loss is not None:
        agreement["accuracy_loss"] = _share(accuracy_loss)
    if size is not None:
        agreement["size_bytes"] = _bytes(size)
    if device_time is not None:
        agreement["device_seconds"] = _seconds("device_time", device_time)
    if isinstance(priority, str):
        agreement["priority"] = priority
    elif priority is not None:
        body["priority"] = priority
    if deadline is not None:
        is_promised = agreement or body["kind"] in _KINDS_WITH_PROMISES
        (agreement if is_promised else body)["deadline_seconds"] = _seconds("deadline", deadline)
    if agreement:
        body["agreement"] = agreement
