"""InferenceSession: a model that was loaded, and compiled for the shapes that come."""
from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy

from .. import _core
from .._arrays import as_array, dtype_of
from .._declared import Declared, declared, named_dims
from .._source import ModelSource
from .._values import Unpicklable, by_name, texts
from ..device import Device
from ..errors import InvalidError, UnsupportedError
from ..network import Network, load
from ..open_network import OpenNetwork, compiled_once
from ._binding import IOBinding
from ._model import ModelMetadata, NodeArg, type_name
from ._options import RunOptions, SessionOptions
from ._value import Array, OrtValue

_PROVIDER = "CPUExecutionProvider"


def get_available_providers() -> list[str]:
    """Returns the CPU provider."""
    return [_PROVIDER]


def _node(tensor: Declared) -> NodeArg:
    return NodeArg(tensor.name, type_name(tensor.dtype), [None if dim == "?" else dim for dim in tensor.dims or ()])


def _check_providers(providers: Sequence[Any] | None) -> None:
    for provider in (providers,) if isinstance(providers, str) else providers or ():
        name = provider[0] if isinstance(provider, tuple) else provider
        if not isinstance(name, str) or name != _PROVIDER:
            warnings.warn(f"there is no {name} in Attune; the processor runs the model", stacklevel=4)


def _shapes_with(inputs: Sequence[Declared], sizes: Mapping[str, int]) -> dict[str, list[int]] | None:
    """Returns the shapes of all inputs if these sizes close them all."""
    shapes = {}
    for input in inputs:
        dims = [sizes.get(dim, dim) if isinstance(dim, str) else dim for dim in input.dims or ("?",)]
        shapes[input.name] = [dim for dim in dims if isinstance(dim, int)]
        if len(shapes[input.name]) < len(dims):
            return None
    return shapes


def _check_dimensions(inputs: Sequence[Declared], sizes: Mapping[str, int]) -> None:
    for name in sizes.keys() - set(named_dims(inputs)):
        warnings.warn(f"the model has no open dimension \"{name}\", and add_free_dimension_override_by_name() changes nothing",
                      stacklevel=3)


class InferenceSession(Unpicklable):
    """Runs a model. A model with fixed shapes is compiled now, and one with open dimensions for the shapes that come;
    ~/.cache/attune/compiled keeps what was compiled for the next session.

    path_or_bytes: a path, or the bytes of a file; an artifact is compiled already. trusted_keys: as for attune.load(),
    one of which must have signed an artifact. providers, provider_options: only the CPU is available; others cause a
    warning. Thread safe. Raises attune.UnsupportedError with the operators that Attune lacks.
    """

    _instead = "make one in the other process"

    def __init__(self, path_or_bytes: str | bytes | os.PathLike[str], sess_options: SessionOptions | None = None,
                 providers: Sequence[Any] | None = None, provider_options: Sequence[Any] | None = None,
                 trusted_keys: Sequence[str] | None = None, **_of_onnxruntime: Any) -> None:
        _check_providers(providers)
        if not isinstance(sess_options, (SessionOptions, type(None))):
            raise TypeError(f"sess_options: must be SessionOptions, and is a {type(sess_options).__name__}")
        self._options = sess_options or SessionOptions()
        if self._options.optimized_model_filepath:
            raise UnsupportedError("attune.onnxruntime: SessionOptions.optimized_model_filepath is not supported; "
                                   "attune.load(model).compile().save(path) writes what was compiled")
        source = ModelSource(path_or_bytes)
        with source.file() as path:
            self._file = _core.declaration(path, "")
        inputs = declared(self._file["inputs"])
        _check_dimensions(inputs, self._options.fixed_dimensions)
        shapes = _shapes_with(inputs, self._options.fixed_dimensions)
        self._threads = self._options.intra_op_num_threads
        threads = self._threads or Device.here().processors

        def read(one: Mapping[str, Sequence[int]] | None) -> Network:
            return load(path_or_bytes, shapes=one, progress=False, trusted_keys=trusted_keys)

        if self._file["is_compiled"]:
            self._network = read(shapes)
        elif shapes is None:
            self._network = read(None).compile(threads=threads)
        else:
            self._network = compiled_once(source, read, shapes, self._file, threads)
        self._inputs = {input.name: input for input in inputs}
        self._outputs = self._known_outputs()
        self._profiled: dict[str, Array] | None = None

    def __repr__(self) -> str:
        def shown(nodes: Sequence[NodeArg]) -> str:
            return ", ".join(f"{node.name}: {node.type}{node.shape}" for node in nodes)
        return f"<attune.onnxruntime.InferenceSession({shown(self.get_inputs())}) -> ({shown(self.get_outputs())})>"

    def _known_outputs(self) -> dict[str, NodeArg]:
        found = {output.name: output for output in declared(self._file["outputs"])}
        if not isinstance(self._network, OpenNetwork):
            # A file need not give shapes of outputs, and formats other than ONNX do not.
            for name, dtype, shape in self._network._compiled_model().outputs():
                if name not in found or found[name].dims is None:
                    found[name] = Declared(name, dtype, tuple(shape))
        return {name: _node(output) for name, output in found.items()}

    def get_inputs(self) -> list[NodeArg]:
        """Returns the inputs, in the model's order."""
        return [_node(input) for input in self._inputs.values()]

    def get_outputs(self) -> list[NodeArg]:
        """Returns the outputs, in the model's order."""
        return list(self._outputs.values())

    def get_overridable_initializers(self) -> list[NodeArg]:
        """Returns none: initializers are compiled in."""
        return []

    def get_modelmeta(self) -> ModelMetadata:
        """Returns the origin of the model, as its file states it."""
        about = self._file["about"]
        texts = {key: about.get(key, "")
                 for key in ("producer_name", "graph_name", "domain", "description", "graph_description")}
        return ModelMetadata(**texts, version=int(about.get("version", "0")), custom_metadata_map=self._file["metadata"])

    def get_session_options(self) -> SessionOptions:
        """Returns the options of the session."""
        return self._options

    def get_providers(self) -> list[str]:
        """Returns the CPU provider."""
        return [_PROVIDER]

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """Returns none."""
        return {_PROVIDER: {}}

    def set_providers(self, providers: Sequence[Any] | None = None, provider_options: Sequence[Any] | None = None) -> None:
        """Changes nothing: only the CPU is available."""
        _check_providers(providers)

    def enable_fallback(self) -> None:
        """Changes nothing."""

    def disable_fallback(self) -> None:
        """Changes nothing."""

    def _array(self, name: str, value: Any) -> Array:
        if isinstance(value, OrtValue):
            return value.numpy()
        dtype = dtype_of(self._inputs[name].dtype) if name in self._inputs else None
        if isinstance(value, (list, tuple, int, float)) and dtype is not None:
            try:
                return numpy.asarray(value, dtype)
            except (TypeError, ValueError) as error:
                raise InvalidError(f"input \"{name}\": {error}") from error
        return as_array(name, value)

    def _compute(self, feed: Mapping[str, Any]) -> dict[str, Array]:
        arrays = {name: self._array(name, value) for name, value in by_name("input_feed", feed).items()
                  if value is not None}
        if self._options.enable_profiling:
            self._profiled = arrays
        return self._network.run(arrays, self._threads)

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any],
            run_options: RunOptions | None = None) -> list[Array]:
        """Returns the outputs of these names, in their order; None: all.

        input_feed: {input: array, OrtValue, or list}.
        """
        given = texts("output_names", output_names or ())
        # A model with open sizes of another format than ONNX names its outputs once it has run.
        outputs = None if self._outputs else self._compute(input_feed)
        known = outputs or self._outputs
        for name in given:
            if name not in known:
                raise InvalidError(f"there is no output \"{name}\"; the outputs are {', '.join(known)}")
        outputs = outputs or self._compute(input_feed)
        return [outputs[name] for name in given or known]

    def run_with_ort_values(self, output_names: Sequence[str] | None, input_dict_ort_values: Mapping[str, OrtValue],
                            run_options: RunOptions | None = None) -> list[OrtValue]:
        """Works like run(), with tensors."""
        return [OrtValue(array) for array in self.run(output_names, input_dict_ort_values, run_options)]

    def run_async(self, output_names: Sequence[str] | None, input_feed: Mapping[str, Any],
                  callback: Callable[[list[Array], Any, str], None], user_data: Any,
                  run_options: RunOptions | None = None) -> None:
        """Is not supported."""
        raise UnsupportedError("attune.onnxruntime: InferenceSession.run_async() is not supported; call run() in a thread")

    def io_binding(self) -> IOBinding:
        """Returns a new binding for run_with_iobinding()."""
        return IOBinding(list(self._outputs))

    def run_with_iobinding(self, iobinding: IOBinding, run_options: RunOptions | None = None) -> None:
        """Runs with the bound memory."""
        iobinding.run(self._compute)

    def end_profiling(self) -> str:
        """Writes the time of each kernel, with the inputs of the last run, in Chrome's format; returns the file's name."""
        if not self._options.enable_profiling:
            raise InvalidError("nothing was profiled; set SessionOptions.enable_profiling")
        name = f"{self._options.profile_file_prefix}{time.strftime('_%Y-%m-%d_%H-%M-%S')}.json"
        events, start = [], 0.0
        if self._profiled is not None:
            for row in self._network.profile(1, self._threads or 1, self._profiled):
                events.append({"cat": "Node", "ph": "X", "pid": os.getpid(), "tid": 0, "ts": round(start, 3),
                               "dur": round(1e6 * row["seconds"], 3), "name": ", ".join(row["labels"]) or row["op"],
                               "args": {"op_name": row["op"], "provider": _PROVIDER}})
                start += 1e6 * row["seconds"]
        with open(name, "w", encoding="utf-8") as file:
            json.dump(events, file)
        return name
