"""The whole way from a model to a fast program, as a chain: load, optimize, quantize, tune, compile, run."""
from __future__ import annotations

import html
import os
import threading
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Self, overload

import numpy

from . import _core, _options
from ._callers import callers_level
from ._options import Arrays, Steps
from ._padding import PadTo
from ._progress import Line
from ._source import ModelSource
from ._values import Unpicklable, by_name, integer, number, samples, shape
from .compiled_cache import CacheLimits
from .device import Device, as_device
from .errors import InvalidError
from .session import Session


class Network(Steps, Unpicklable):
    """A network after some steps. Immutable: each step returns another one. Any number of threads may use it.

    A step that is left out runs with its defaults when a later one needs it: `attune.load(path).run({...})` optimizes
    and compiles.
    """

    _instead = "save(path) it, and attune.load(path) it in the other process"

    def __init__(self, core: _core.Network, progress: bool | None = None, device: Device | None = None) -> None:
        self._core = core
        self._progress = progress
        self._device = device or Device.here()
        self._lock = threading.RLock()
        self._compiled: _core.Network | None = None  # at the first need
        self._model: _core.Model | None = None
        self._idle: dict[int, list[Session]] = {}  # sessions that run() may use, by their threads
        self._owner = os.getpid()

    def _next(self, core: _core.Network) -> Self:
        return type(self)(core, self._progress, self._device)

    def on(self, device: str | Device) -> Network:
        """Returns the network for a device of the fleet that you have joined: its key, or a Device.

        From here on, it is optimized, tuned and compiled for that device, and run, verified, benched and profiled there.
        """
        target = as_device(device)
        return Network(self._core.on(target._core), self._progress, target)

    def _optimize(self, options: dict[str, Any]) -> Self:
        examples = by_name("examples", options.pop("examples"), list(self.inputs))
        with Line(self._progress) as line:
            return self._next(self._core.optimize(_options.optimize_options(**options), examples, line.step))

    def _quantize(self, options: dict[str, Any]) -> Self:
        given = [dict(sample) for sample in samples(options.pop("data"), list(self.inputs))]
        with Line(self._progress) as line:
            quantized = self._next(self._core.quantize(given, _options.quantize_options(**options), line.step))
        result = quantized.quantization
        _warn(result["verdict"] if result["is_slower"] else "")
        return quantized

    def _tune(self, options: dict[str, Any]) -> Self:
        given = _options.tune_options(**options)
        with Line(self._progress) as line:
            return self._next(self._core.tune(given, line.tuning))

    def _compile(self, options: dict[str, Any]) -> Self:
        with Line(self._progress) as line:
            return self._next(self._core.compile(_options.compile_options(**options), line.step))

    def save(self, path: str | os.PathLike[str]) -> Network:
        """Writes the artifact, which the runtime loads without a compiler. A name that ends in .onnx gets the quantized
        model instead. Returns the network."""
        path = os.fspath(path)
        if path.endswith(".onnx"):
            self._core.save_onnx(path)
        else:
            self._compiled_core().save(path)
        return self

    def _compiled_core(self) -> _core.Network:
        """Returns the network itself, or compiles it with the options of the latest compile() or tune()."""
        with self._lock:
            if self._compiled is None and self._core.is_compiled():
                self._compiled = self._core
            if self._compiled is None:
                with Line(self._progress) as line:
                    self._compiled = self._core.compile_as_told(line.step)
            return self._compiled

    def _compiled_model(self) -> _core.Model:
        with self._lock:
            if self._model is None:
                shapes = {name: shape for name, _, shape, _ in self._core.inputs()}
                self._model = _core.Model.of(self._compiled_core().artifact(), shapes)
            return self._model

    def _threads(self) -> int:
        """Returns the threads of one inference unless a call says otherwise."""
        return self._core.threads()

    def session(self, threads: int | None = None) -> Session:
        """Returns a Session on this machine, for many runs.

        threads: by default as many as for tune() or compile(), or else 1; 0: as many as processors. The same holds for
        the other calls that run the network.
        """
        return Session(self._compiled_model(), self._threads() if threads is None else threads)

    def _given(self, inputs: Any) -> dict[str, Any]:
        return dict(by_name("inputs", inputs, () if inputs is None or isinstance(inputs, Mapping) else list(self.inputs)))

    def run(self, inputs: Any, threads: int | None = None) -> dict[str, numpy.ndarray[Any, Any]]:
        """Returns the outputs {name: array} of these inputs {name: array}, or of the array of the only input. Thread
        safe."""
        threads = self._threads() if threads is None else integer("threads", threads)
        if not self._device.is_here:
            return self._compiled_core().run(self._given(inputs), threads)
        if os.getpid() != self._owner:
            # A session of before the fork has lost its threads.
            self._idle, self._owner = {}, os.getpid()
        with self._lock:
            idle = self._idle.setdefault(threads, [])
            session = idle.pop() if idle else None
        session = session or self.session(threads)
        outputs = session.run(inputs)
        with self._lock:
            self._idle.setdefault(threads, []).append(session)
        return outputs

    def verify(self, inputs: Any = None, seed: int = 0, threads: int = 0) -> list[dict[str, Any]]:
        """Compares each output with the reference interpreter on the model, which an artifact does not have: a list of
        dicts with name, ok, criterion and errors. inputs: as for run(); those that are missing are random; so in the next
        two."""
        return self._compiled_core().verify(self._given(inputs), integer("seed", seed, "uint64"), integer("threads", threads))

    def bench(self, seconds: float = 1.0, threads: int | None = None, inputs: Any = None,
              seed: int = 0) -> list[float]:
        """Returns the milliseconds of each run, for `seconds` seconds and at least 3 runs. Warns if other programs had the
        processors for a part of the time, so that the times are too long; so does the next one."""
        threads = self._threads() if threads is None else integer("threads", threads)
        milliseconds, warning = self._compiled_core().bench(number("seconds", seconds), threads, self._given(inputs),
                                                            integer("seed", seed, "uint64"))
        _warn(warning)
        return milliseconds

    def profile(self, rounds: int = 20, threads: int | None = None, inputs: Any = None, seed: int = 0) -> Profile:
        """Returns the time of each kernel, the slowest first: a Profile, which a notebook shows as a table."""
        threads = self._threads() if threads is None else integer("threads", threads)
        kernels, warning = self._compiled_core().profile(integer("rounds", rounds), threads, self._given(inputs),
                                                         integer("seed", seed, "uint64"))
        _warn(warning)
        return Profile(kernels)

    def _picture(self, options: dict[str, Any]) -> numpy.ndarray[Any, Any]:
        path, name = os.fspath(options.pop("path")), options.pop("input")
        array, warning = self._core.picture(path, name, _options.picture_options(**options))
        _warn(warning)
        return numpy.asarray(array)

    def inspect(self) -> dict[str, Any]:
        """Returns a dict of the sizes in bytes of the compiled network, and the processors that it is for."""
        return self._compiled_core().sizes()

    @property
    def inputs(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """{name: (dtype, shape)}; -1 for a size that the model leaves open."""
        return {name: (dtype, tuple(shape)) for name, dtype, shape, _ in self._core.inputs()}

    @property
    def outputs(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """{name: (dtype, shape)}; -1 for a size that data decides."""
        return {name: (dtype, tuple(shape)) for name, dtype, shape, _ in self._core.outputs()}

    def random_input(self, name: str, seed: int = 0) -> numpy.ndarray[Any, Any]:
        """Returns a random array for an input, with indices that are valid."""
        return numpy.asarray(self._core.random_input(name, integer("seed", seed, "uint64")))

    @property
    def quantization(self) -> dict[str, Any]:
        """The results of quantize(): a dict with agreement, baseline_seconds and quantized_seconds of one inference, is_slower
        and verdict, a sentence about them."""
        return self._core.quantization()

    @property
    def tuning(self) -> dict[str, Any]:
        """The results of the latest tune(): a dict with run, trials, baseline_seconds, tuned_seconds and others."""
        return self._core.tuning()

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name}: {text}" for name, _, _, text in self._core.inputs())
        steps = [step for step, done in (("quantized", self._core.is_quantized()), ("compiled", self._core.is_compiled()))
                 if done]
        return f"<attune.Network({inputs}){''.join(', ' + step for step in steps)}>"


def _warn(text: str) -> None:
    """Warns at the caller's line, unless the text is empty."""
    if text:
        warnings.warn(text, stacklevel=callers_level())


class Profile(list[dict[str, Any]]):
    """A list of dicts, one for each kernel, that prints itself as a table."""

    _COLUMNS = (("ms", lambda row: f"{1e3 * row['seconds']:.4f}"), ("share", lambda row: f"{row['share']:.1%}"),
                ("GFLOP/s", lambda row: f"{row['gflops_per_second']:.1f}"),
                ("of peak", lambda row: f"{row['peak_share']:.0%}"), ("kernel", lambda row: row["op"]),
                ("how", lambda row: row["strategy"]), ("nodes", lambda row: ", ".join(row["labels"])))

    def _rows(self) -> list[list[str]]:
        return [[show(row) for _, show in self._COLUMNS] for row in self]

    def __str__(self) -> str:
        rows = [[title for title, _ in self._COLUMNS], *self._rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(len(self._COLUMNS))]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{title}</th>" for title, _ in self._COLUMNS)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in self._rows())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _keys(trusted_keys: Sequence[str] | None) -> list[str]:
    """Returns the keys in the core's form: empty if every artifact is trusted."""
    if trusted_keys is None:
        return []
    if isinstance(trusted_keys, str) or not trusted_keys:
        raise InvalidError("trusted_keys: takes a list of keys, at least one; leave it out to load any artifact")
    return list(trusted_keys)


def load(model: Any, shapes: Mapping[str, Sequence[int]] | Sequence[Mapping[str, Sequence[int]]] | None = None,
         values: Arrays | None = None, signature: str = "", sha256: str = "", device: str | Device = "",
         progress: bool | None = None, pad_to: PadTo | None = None,
         pad_value: float | Mapping[str, float] = 0, cache: CacheLimits = CacheLimits(),
         trusted_keys: Sequence[str] | None = None) -> Network:
    """Loads a model: ONNX, TensorFlow Lite, TensorFlow or exported PyTorch, or an artifact that was compiled.

    model: a path, the bytes of a file, an onnx.ModelProto or a torch.export.ExportedProgram. shapes: {input: sizes} of
    open dimensions, or a list of such dicts. values: {input: array} of inputs that are the same in every run. sha256:
    the SHA-256 that an artifact must have. trusted_keys: public keys, each as 64 hexadecimal digits (attune key show),
    one of which must have signed an artifact before any of it runs; a model is compiled here, and needs no trust.
    device: the device that the network is for, as in Network.on(); by default, or if it is "cpu", this machine. progress: False hides the
    progress of long calls, which terminals and notebooks show.

    A model with open dimensions, without shapes or with a list of them, gives an OpenNetwork, which compiles for each
    set of shapes that comes, within the limits of `cache`. pad_to: {dimension: sizes} that inputs are padded to, or the
    sizes alone if one dimension besides the first is open; only for models that mask the padding. pad_value: the value
    of the padding, or {input: value}.
    """
    from .open_network import open_model  # which is built on this module
    source, target = ModelSource(model), as_device(device)
    given, keys = by_name("values", values), _keys(trusted_keys)

    def read(one: Mapping[str, Sequence[int]], leaves_open: bool = False) -> Network:
        with Line(progress) as line, source.file() as path:
            core = _core.Network.load(path, {name: list(sizes) for name, sizes in one.items()}, given, signature,
                                      sha256, keys, target._core, leaves_open, line.step)
            return Network(core, progress, target)

    sets = [shapes] if shapes is None or isinstance(shapes, Mapping) else list(shapes)
    ahead = [{name: shape(name, sizes) for name, sizes in by_name("shapes", one).items()} for one in sets if one is not None]
    if pad_to is not None or not isinstance(shapes, Mapping):
        opened = open_model(source, read, ahead, given, signature, pad_to, pad_value, cache, target)
        if opened is not None:
            return opened
    return read(ahead[0] if ahead else {})


@overload
def zoo(name: None = None) -> list[str]: ...
@overload
def zoo(name: str) -> Network: ...


def zoo(name: str | None = None) -> Network | list[str]:
    """Builds a well-known architecture, with random weights; without a name, returns the names of all."""
    return _core.Network.zoo_names() if name is None else Network(_core.Network.zoo(name))
