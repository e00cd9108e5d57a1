"""Networks whose inputs have open dimensions: compiled once for all sizes, or for each set of shapes on first use."""
from __future__ import annotations

import contextlib
import dataclasses
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy

from . import _core
from ._arrays import arrays_by_name
from ._declared import Declared, Sizes, StillOpenError, bind, check_arrays, declared, without
from ._open_code import OpenCode
from ._options import COMPILE_DEFAULTS, Arrays, check_options
from ._padding import Buckets, PadTo
from ._plan import Plan
from ._shape_notice import ShapeNotice
from ._source import ModelSource
from ._values import integer, samples, texts
from .compiled_cache import CacheLimits, CompiledFiles, CompiledInMemory
from .device import Device, as_device
from .errors import Error, InvalidError, UnsupportedError
from .network import Network, Profile
from .session import Session

Sample = dict[str, numpy.ndarray[Any, Any]]


class Read(Protocol):
    """Imports a model at some shapes; what they leave open stays open, or is an error."""

    def __call__(self, one: Mapping[str, Sequence[int]], leaves_open: bool = False) -> Network: ...


@dataclasses.dataclass(frozen=True)
class OpenModel:
    """The model of an open network: how to import it at some shapes, and its declarations."""

    name: str  # for messages
    inputs: tuple[Declared, ...]  # without those whose values are given
    outputs: tuple[Declared, ...]  # empty if the file does not declare them
    values: Sample
    read: Read
    digest: Callable[[], str]  # of its content
    is_compiled: bool  # an artifact with several sets of shapes

    def named(self, sizes: Sizes) -> dict[str, tuple[int, ...]]:
        """Returns {input: shape}."""
        return {input.name: shape for input, shape in zip(self.inputs, sizes)}

    def bind(self, shapes: Mapping[str, Sequence[int]]) -> Sizes:
        """Returns the shapes of all inputs, from those of some. An error about one that is still open has an example."""
        try:
            return bind(self.inputs, shapes)
        except StillOpenError as error:
            still_open = error
        if not self.is_compiled:
            self.read(shapes)  # fails, with an example of sizes that suit the model
        raise still_open


def _bytes_of(network: Network) -> int:
    """Returns the bytes of its artifact and of one session."""
    sizes = network.inspect()
    return int(sizes["file_bytes"] + sizes["arena_bytes"])


class OpenNetwork(Network):
    """A network with open dimensions. Immutable and thread safe, as Network.

    The steps are remembered; compile() runs them for the shapes that load() was given. For other shapes, the first run()
    compiles code for all sizes, once. Where that is not possible, as after quantize(), it is compiled for each set of shapes
    on its first use. The compiled code is cached in memory and on disk, within the limits of `CacheLimits`. at(shapes) is the
    Network for some shapes.

    quantize() calibrates a set of shapes with the samples that have these shapes. tune() is for each set of shapes that
    load() was given; they share minutes and trials evenly, and other shapes profit where they have kernels in common.
    """

    def __init__(self, source: OpenModel, ahead: Sequence[Sizes], buckets: Buckets | None, limits: CacheLimits,
                 device: Device, plan: Plan = Plan(), tuned: Mapping[Sizes, Network] | None = None) -> None:
        self._source = source
        self._ahead = tuple(ahead)
        self._buckets = buckets
        self._limits = limits
        self._device = device
        self._plan = plan
        self._tuned = dict(tuned or {})
        self._files = CompiledFiles(limits)
        self._notice = ShapeNotice(source.inputs, can_pad=bool(source.outputs))
        self._memory: CompiledInMemory[Network] = CompiledInMemory(limits)
        self._open_codes: dict[Sizes, OpenCode | None] = {}  # by _patterns(); None: there is none
        self._may_be_open = (buckets is None and device.is_here and not source.is_compiled and
                             all(input.dims is not None for input in source.inputs))
        self._opening = threading.Lock()

    def _with(self, plan: Plan, tuned: Mapping[Sizes, Network] | None = None) -> OpenNetwork:
        return OpenNetwork(self._source, self._ahead, self._buckets, self._limits, self._device, plan, tuned)

    def _check_is_model(self, name: str) -> None:
        if self._source.is_compiled:
            raise InvalidError(f"{name}(): {self._source.name} is compiled already; load the model that it was made from")

    def _check_step(self, name: str, options: dict[str, Any]) -> None:
        self._check_is_model(name)
        check_options(name, options)

    def _with_step(self, name: str, options: dict[str, Any]) -> OpenNetwork:
        self._check_step(name, options)
        return self._with(dataclasses.replace(self._plan, steps=(*self._plan.steps, (name, options)), records=""))

    def on(self, device: str | Device) -> OpenNetwork:
        """Works like Network.on(). Code for another machine is not cached on disk."""
        compiling = self._plan.compiling and {**self._plan.compiling, "cpus": ()}
        plan = dataclasses.replace(self._plan, compiling=compiling, records="")
        return OpenNetwork(self._source, self._ahead, self._buckets, self._limits, as_device(device), plan)

    def _optimize(self, options: dict[str, Any]) -> OpenNetwork:
        options["examples"] = arrays_by_name("examples", options["examples"], list(self.inputs))
        return self._with_step("optimize", options)

    def _quantize(self, options: dict[str, Any]) -> OpenNetwork:
        given = [arrays_by_name("data", sample) for sample in samples(options["data"], list(self.inputs))]
        if self._buckets:
            given = [self._buckets.pad(sample)[0] for sample in given]
        return self._with_step("quantize", {**options, "data": given})

    def _tune(self, options: dict[str, Any]) -> OpenNetwork:
        self._check_step("tune", options)
        if not self._ahead:
            raise InvalidError("tune() needs shapes: attune.load(model, shapes=[{...}, ...])")
        count = len(self._ahead)
        each = {**options, "minutes": options["minutes"] / count, "trials": -(-options["trials"] // count)}
        tuned = {sizes: self._replayed(sizes).tune(**each) for sizes in self._ahead}
        used = next(iter(tuned.values())).tuning["records"]
        return self._with(dataclasses.replace(self._plan, compiling=None, records=used, threads=options["threads"]), tuned)

    def _compile(self, options: dict[str, Any]) -> OpenNetwork:
        self._check_step("compile", options)
        options = {**options, "cpus": tuple(texts("cpus", options["cpus"])), "threads": options["threads"] or self._plan.threads,
                   "records": os.fspath(options["records"])}
        # Tuned networks are compiled already, as the run has measured them.
        keeps = options == {**COMPILE_DEFAULTS, "threads": self._plan.threads}
        plan = dataclasses.replace(self._plan, compiling=options, threads=options["threads"])
        network = self._with(plan, self._tuned if keeps else None)
        for sizes in self._ahead:
            network._compiled_at(sizes)
        return network

    def _replayed(self, sizes: Sizes) -> Network:
        """Returns the network imported at these shapes, optimized and quantized."""
        network = self._source.read(self._source.named(sizes))
        if not self._device.is_here:
            network = network.on(self._device)
        for name, options in self._plan.steps:
            if name == "quantize":
                options = {**options, "data": self._samples_of(options["data"], sizes)}
            network = getattr(network, name)(**options)
        return network

    def _samples_of(self, samples: Sequence[Sample], sizes: Sizes) -> list[Sample]:
        shapes = self._source.named(sizes)
        fitting = [sample for sample in samples
                   if all(sample[name].shape == shape for name, shape in shapes.items() if name in sample)]
        if not fitting:
            raise InvalidError(f"quantize() was given no sample of the shapes {shapes}; give it some of each set of "
                               "shapes in use")
        return fitting

    def at(self, shapes: Mapping[str, Sequence[int]]) -> Network:
        """Returns the Network for these shapes {input: sizes}, after the same steps. A named dimension that one input
        sets is set in all of them."""
        sizes = self._source.bind(shapes)
        if sizes in self._tuned:
            return self._tuned[sizes]
        network = self._replayed(sizes)
        is_compiled = self._plan.compiling is not None or self._plan.records
        return network.compile(**self._plan.compile_options) if is_compiled else network

    def _loaded(self, artifact: bytes) -> Network:
        network = Network(_core.Network.from_artifact(artifact))
        network._compiled_model()
        return network

    def _compiled_anew(self, sizes: Sizes) -> Network:
        start = time.monotonic()
        compiled = self._replayed(sizes).compile(**self._plan.compile_options)
        if self._buckets is None and sizes not in self._ahead:
            self._notice.add(sizes, time.monotonic() - start, compiled.inspect()["file_bytes"])
        return compiled

    def _make(self, sizes: Sizes) -> Network:
        """Reads the network from the disk, or else compiles it."""
        if self._source.is_compiled:
            return self._replayed(sizes)
        if not self._device.is_here:
            return self._compiled_anew(sizes)
        key = self._plan.key(self._device.fingerprint, self._source.digest(), self._source.values, sizes)
        artifact = self._files.get(key)
        if artifact is not None:
            # One that does not load is compiled again.
            with contextlib.suppress(Error):
                return self._loaded(artifact)
        artifact = self._compiled_anew(sizes)._core.artifact()
        self._source.digest()  # fails if the model has changed meanwhile
        self._files.put(key, artifact)
        return self._loaded(artifact)

    def _compiled_for_all_sizes(self, pattern: Sizes) -> bytes:
        network = self._source.read(self._source.named(pattern), leaves_open=True)
        for name, options in self._plan.steps:
            if name == "quantize":
                raise UnsupportedError("samples have shapes")
            network = getattr(network, name)(**options)
        return network.compile(**self._plan.compile_options)._core.artifact()

    def _made_for_all_sizes(self, pattern: Sizes) -> OpenCode:
        """Reads the code from the disk, or else compiles it."""
        key = self._plan.key(self._device.fingerprint, self._source.digest(), self._source.values, pattern)
        artifact = self._files.get(key)
        if artifact is not None:
            # One that does not load is compiled again.
            with contextlib.suppress(Error):
                return OpenCode(artifact)
        artifact = self._compiled_for_all_sizes(pattern)
        self._source.digest()  # fails if the model has changed meanwhile
        self._files.put(key, artifact)
        return OpenCode(artifact)

    def _patterns(self, sizes: Sizes) -> list[Sizes]:
        """Returns the ways to leave sizes open, -1, the most open one first: all; all that have a name; the batch. A network
        may allow one size alone where its model says that any will do, and such a size has no name."""
        def pattern(stays_open: Callable[[int, int | str], bool]) -> Sizes:
            return tuple(tuple(-1 if isinstance(dim, str) and stays_open(d, dim) else size
                               for d, (dim, size) in enumerate(zip(input.dims or (), shape)))
                         for input, shape in zip(self._source.inputs, sizes))
        return list(dict.fromkeys([pattern(lambda _, __: True), pattern(lambda d, dim: d == 0 or dim != "?"),
                                   pattern(lambda d, _: d == 0)]))

    def _code_for_all_sizes(self, sizes: Sizes) -> OpenCode | None:
        """Returns code for these sizes and as many others as may be, compiled once, or None if there is none."""
        if not self._may_be_open:
            return None
        with self._opening:
            for pattern in self._patterns(sizes):
                if pattern not in self._open_codes:
                    if len(self._open_codes) >= self._limits.shapes:
                        return None
                    try:
                        self._open_codes[pattern] = self._made_for_all_sizes(pattern)
                    except (InvalidError, UnsupportedError):
                        self._open_codes[pattern] = None
                if (code := self._open_codes[pattern]) is not None:
                    return code
        return None

    def _compiled_at(self, sizes: Sizes) -> Network:
        tuned = self._tuned.get(sizes)
        return tuned or self._memory.get(sizes, lambda: self._make(sizes), _bytes_of)

    def _threads(self) -> int:
        return self._plan.threads

    def _run(self, arrays: Sample, threads: int) -> Sample:
        sizes = check_arrays(self._source.inputs, arrays)
        if sizes not in self._tuned and sizes not in self._ahead and (code := self._code_for_all_sizes(sizes)) is not None:
            given = {**{name: self._source.values[name] for name in code.inputs if name not in arrays}, **arrays}
            if (outputs := code.run(given, threads)) is not None:
                return outputs
        network = self._compiled_at(sizes)
        if self._source.values:
            arrays = {**{name: self._source.values[name] for name in network.inputs if name not in arrays}, **arrays}
        return network.run(arrays, threads)

    def run(self, inputs: Any, threads: int | None = None) -> dict[str, numpy.ndarray[Any, Any]]:
        """Returns the outputs {name: array} of these inputs {name: array}, or of the array of the only input. The first
        run compiles, which takes seconds. Thread safe."""
        threads = self._threads() if threads is None else integer("threads", threads)
        arrays = arrays_by_name("inputs", inputs, list(self.inputs))
        if self._buckets is None:
            return self._run(arrays, threads)
        check_arrays(self._source.inputs, arrays)
        padded, changed = self._buckets.pad(arrays)
        outputs = self._run(padded, threads)
        return self._buckets.cut(outputs, changed) if changed else outputs

    def session(self, threads: int | None = None) -> OpenSession:
        """Returns an OpenSession, which takes inputs of any shapes. at(shapes).session() has memory of its own for some."""
        return OpenSession(self, self._threads() if threads is None else threads)

    def _sizes_for(self, inputs: Any, what: str) -> Sizes:
        """Returns the shapes of the inputs, or else the only ones that load() was given."""
        arrays = arrays_by_name(what, inputs, list(self.inputs))
        if arrays:
            return self._source.bind({name: array.shape for name, array in arrays.items()})
        if len(self._ahead) == 1:
            return self._ahead[0]
        way_out = f"{what} needs one set of shapes: use network.at({{...}}).{what}"
        try:
            self._source.bind({})
        except InvalidError as error:
            raise InvalidError(f"{way_out}; {error}") from None
        raise InvalidError(way_out)

    def save(self, path: str | os.PathLike[str]) -> OpenNetwork:
        """Works like Network.save(). The artifact has all sets of shapes that load() was given, and their weights once;
        attune.load(path) runs inputs of these shapes."""
        if len(self._ahead) < 2 or self._source.is_compiled or os.fspath(path).endswith(".onnx"):
            self.at(self._source.named(self._sizes_for(None, "save()"))).save(path)
            return self
        core, *others = (self._replayed(sizes)._core for sizes in self._ahead)
        for other in others:
            core = core.with_shapes_of(other)
        Network(core, False, self._device).compile(**self._plan.compile_options).save(path)
        return self

    def verify(self, inputs: Any = None, seed: int = 0, threads: int = 0) -> list[dict[str, Any]]:
        """Works like Network.verify(), at the shapes of the inputs or the only ones that load() was given; the same
        holds for the next ones."""
        self._check_is_model("verify")
        return self.at(self._source.named(self._sizes_for(inputs, "verify()"))).verify(inputs, seed, threads)

    def bench(self, seconds: float = 1.0, threads: int | None = None, inputs: Any = None,
              seed: int = 0) -> list[float]:
        """Works like Network.bench()."""
        threads = self._threads() if threads is None else threads
        return self._compiled_at(self._sizes_for(inputs, "bench()")).bench(seconds, threads, inputs, seed)

    def profile(self, rounds: int = 20, threads: int | None = None, inputs: Any = None, seed: int = 0) -> Profile:
        """Works like Network.profile()."""
        threads = self._threads() if threads is None else threads
        return self._compiled_at(self._sizes_for(inputs, "profile()")).profile(rounds, threads, inputs, seed)

    def inspect(self) -> dict[str, Any]:
        """Works like Network.inspect()."""
        return self._compiled_at(self._sizes_for(None, "inspect()")).inspect()

    def _picture(self, options: dict[str, Any]) -> numpy.ndarray[Any, Any]:
        shapes = {input.name: (1, *input.shape[1:]) for input in self._source.inputs}
        only_batch_is_open = all(input.shape[:1] in ((-1,), (1,)) for input in self._source.inputs) and all(
            size >= 0 for shape in shapes.values() for size in shape)
        sizes = self._source.bind(shapes) if only_batch_is_open else self._sizes_for(None, "picture()")
        return self._compiled_at(sizes)._picture(options)

    def random_input(self, name: str, seed: int = 0) -> numpy.ndarray[Any, Any]:
        """Works like Network.random_input()."""
        return self._replayed(self._sizes_for(None, "random_input()")).random_input(name, seed)

    @property
    def inputs(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """{name: (dtype, shape)}; -1 for a size that is open."""
        return {input.name: (input.dtype, input.shape) for input in self._source.inputs}

    @property
    def outputs(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """{name: (dtype, shape)}; -1 for a size that is open."""
        if self._source.outputs:
            return {output.name: (output.dtype, output.shape) for output in self._source.outputs}
        return self._replayed(self._sizes_for(None, "outputs")).outputs

    @property
    def tuning(self) -> dict[str, Any]:
        """Sums over the sets of shapes, and in "shapes" a list with the results of tune() for each."""
        if not self._tuned:
            raise InvalidError("the network is not tuned; call tune() first")
        each = [{**network.tuning, "shapes": self._source.named(sizes)} for sizes, network in self._tuned.items()]
        sums = {key: sum(one[key] for one in each)
                for key in ("trials", "elapsed_seconds", "baseline_seconds", "tuned_seconds")}
        return {**sums, "was_stopped": any(one["was_stopped"] for one in each), "records": each[0]["records"],
                "shapes": each}

    def __repr__(self) -> str:
        steps = [{"optimize": "optimized", "quantize": "quantized"}[name] for name, _ in self._plan.steps]
        steps += ["compiled"] if self._source.is_compiled or self._plan.compiling is not None else []
        inputs = ", ".join(f"{input.name}: {input}" for input in self._source.inputs)
        return f"<attune.OpenNetwork({inputs}){''.join(', ' + step for step in steps)}>"


class OpenSession(Session):
    """Runs an open network with inputs of any shapes. `outputs` are those of the last run; `inputs` is empty: a session
    of network.at(shapes) has memory of its own."""

    def __init__(self, network: OpenNetwork, threads: int = 1) -> None:
        self._network: OpenNetwork | None = network
        self._threads = integer("threads", threads)
        self.inputs = {}
        self._last: dict[str, numpy.ndarray[Any, Any]] | None = None

    def __repr__(self) -> str:
        return f"<attune.OpenSession of {self._network!r}>" if self._network else "<attune.OpenSession, closed>"

    def close(self) -> None:
        """Ends the session. A second call does nothing."""
        self._network = self._last = None

    @property
    def outputs(self) -> dict[str, numpy.ndarray[Any, Any]]:
        """The outputs of the last run."""
        if self._last is None:
            raise InvalidError("the session has no outputs; run it first")
        return self._last

    def run(self, inputs: Any = None) -> dict[str, numpy.ndarray[Any, Any]]:
        """Computes the outputs {name: array}."""
        if self._network is None:
            raise InvalidError("the session is closed; make another one with network.session()")
        if inputs is None:
            raise InvalidError("the session of an open network needs its inputs in each run")
        self._last = self._network.run(inputs, self._threads)
        return self._last


def open_model(source: ModelSource, read: Read,
               ahead: Sequence[Mapping[str, Sequence[int]]], values: Arrays, signature: str, pad_to: PadTo | None,
               pad_value: float | Mapping[str, float], limits: CacheLimits, device: Device) -> OpenNetwork | None:
    """Returns the network if the model leaves dimensions open, besides those that `values` set."""
    with source.file() as path:
        found = _core.declaration(path, signature)
        arrays = arrays_by_name("values", values)
        inputs = without(declared(found["inputs"]), {name: array.shape for name, array in arrays.items()})
        if not any(input.is_open for input in inputs):
            if pad_to is not None:
                raise InvalidError("pad_to: the model has no open dimension")
            return None
        if found["unsupported"]:
            raise UnsupportedError(found["unsupported"])
    model = OpenModel(source.name, inputs, declared(found["outputs"]), arrays, read,
                      lambda: source.digest(found["files"]) + signature, found["is_compiled"])
    buckets = None if pad_to is None else Buckets(pad_to, pad_value, model.inputs, model.outputs)
    return OpenNetwork(model, [model.bind(shapes) for shapes in ahead], buckets, limits, device)


def compiled_once(source: ModelSource, read: Callable[[Mapping[str, Sequence[int]]], Network],
                  shapes: Mapping[str, Sequence[int]], found: Mapping[str, Any], threads: int) -> Network:
    """Returns the network at these shapes, which leave nothing open, compiled for this machine: from the folder of compiled
    networks if it is there. found: what _core.declaration() has."""
    inputs = declared(found["inputs"])
    model = OpenModel(source.name, inputs, declared(found["outputs"]), {}, lambda one, leaves_open=False: read(one),
                      lambda: source.digest(found["files"]), False)
    sizes = model.bind(shapes)
    return OpenNetwork(model, [], None, CacheLimits(), Device.here()).compile(threads=threads)._compiled_at(sizes)
