"""torch.compile(model, backend="attune"): inference on the CPU.

    model = torch.compile(model.eval(), backend="attune", options={"threads": 2, "precision": "bf16"})
    with torch.inference_mode():
        scores = model(image)

Graphs that Attune cannot run, PyTorch runs as without torch.compile: those that need gradients, are on another device,
change their inputs, or have an operator that Attune lacks. A warning says each reason once, and counts() has them all.
"""
from __future__ import annotations

import collections
import operator
import os
import threading
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch  # type: ignore[import-not-found, unused-ignore]

from ._callers import callers_level
from ._options import TORCH_COMPILE, TORCH_OPTIMIZE, check_options
from .errors import InvalidError, UnsupportedError
from .network import Network, load

_OPTIONS = dict(sorted({**TORCH_OPTIMIZE, **TORCH_COMPILE}.items()))

_lock = threading.Lock()
_graphs = 0  # that Attune runs
_reasons: collections.Counter[str] = collections.Counter()  # why the others fell back


def counts() -> dict[str, Any]:
    """Returns {"compiled": graphs that Attune runs, "fell_back": graphs that PyTorch runs, "reasons": {reason:
    graphs}}, since the program started. Each shape of an input has a graph of its own."""
    with _lock:
        return {"compiled": _graphs, "fell_back": _reasons.total(), "reasons": dict(_reasons)}


def backend(graph: Any, inputs: Sequence[Any], options: Mapping[str, Any] | None = None, mode: str | None = None,
            **_: Any) -> Callable[..., Any]:
    """Compiles a graph; torch.compile calls it with each one.

    options: threads, by default those of PyTorch; others as in Network.optimize and Network.compile, such as precision,
    weights and records.
    """
    options = dict(options or {})
    unknown = [f"option \"{name}\"" for name in options if name not in _OPTIONS]
    if mode is not None:
        unknown.append(f"mode \"{mode}\"")
    if unknown:
        raise InvalidError(f"backend \"attune\" has no {unknown[0]}; its options are {', '.join(_OPTIONS)}")
    for name, value in options.items():
        if not isinstance(value, _OPTIONS[name]):
            raise InvalidError(f"option \"{name}\": {value!r} is not of type {_OPTIONS[name].__name__}")
    check_options("optimize", {name: options[name] for name in TORCH_OPTIMIZE if name in options})
    check_options("compile", {name: options[name] for name in TORCH_COMPILE if name in options})
    for value in inputs:
        if isinstance(value, torch.SymInt):
            int(value)  # from here on, PyTorch takes this graph for this size alone
    return _Graph(graph, [_is_weight(value) for value in inputs], options)


def _is_weight(value: Any) -> bool:
    """Returns whether an input is a parameter of a module, or a buffer, which torch.compile marks."""
    return isinstance(value, torch.nn.Parameter) or getattr(value, "_dynamo_static_input_type", None) is not None


class _Graph:
    """A graph for one set of shapes. It is compiled in its first call. Any number of threads may call it."""

    def __init__(self, graph: Any, are_weights: list[bool], options: dict[str, Any]) -> None:
        self._graph = graph
        self._are_weights = are_weights
        self._options = options
        self._lock = threading.Lock()
        self._compiled: _Compiled | None = None
        self._reasons: set[str] = set()
        self._has_failed = False

    def __call__(self, *inputs: Any) -> Any:
        if torch.is_grad_enabled() and any(getattr(value, "requires_grad", False) for value in inputs):
            self._fall_back("gradients may be needed; call the model under torch.inference_mode() or torch.no_grad()")
        elif not self._has_failed:
            try:
                return self._compiled_for(inputs).run(inputs)
            except Exception as error:
                self._has_failed = True
                self._fall_back(str(error) or type(error).__name__)
        return self._graph(*inputs)

    def _compiled_for(self, inputs: Sequence[Any]) -> _Compiled:
        with self._lock:
            if self._compiled is None:
                self._compiled = _Compiled(self._graph, self._are_weights, inputs, self._options)
                _count_compiled()
            elif not self._compiled.has_weights_of(inputs):
                self._compiled = _Compiled(self._graph, self._are_weights, inputs, self._options)
            return self._compiled

    def _fall_back(self, reason: str) -> None:
        if reason not in self._reasons:
            self._reasons.add(reason)
            _count_fallback(reason)


def _count_compiled() -> None:
    global _graphs
    with _lock:
        _graphs += 1


def _count_fallback(reason: str) -> None:
    with _lock:
        _reasons[reason] += 1
        is_new = _reasons[reason] == 1
    if is_new:
        of_torch = os.path.dirname(torch.__file__) + os.sep
        # Names of code that PyTorch has generated begin with "<".
        warnings.warn(f"PyTorch, and not Attune, runs a graph of torch.compile: {reason}",
                      stacklevel=callers_level(of_torch, "<"))


class _Weights:
    """Tells whether weights are still the tensors and values that were compiled into a network."""

    def __init__(self, tensors: Sequence[Any]) -> None:
        if any(tensor.is_inference() for tensor in tensors):
            raise InvalidError("a weight was made under torch.inference_mode(), where PyTorch does not record changes")
        self._tensors = [weakref.ref(tensor) for tensor in tensors]
        self._states = self._state_of(tensors)

    @staticmethod
    def _state_of(tensors: Sequence[Any]) -> list[int]:
        # Lists at once: each call of the network pays for this.
        return [tensor._version for tensor in tensors] + [tensor.data_ptr() for tensor in tensors]

    def are(self, tensors: Sequence[Any]) -> bool:
        return (self._state_of(tensors) == self._states
                and all(map(operator.is_, [tensor() for tensor in self._tensors], tensors)))


class _Compiled:
    """A graph that has been compiled with the values of its weights."""

    def __init__(self, graph: Any, are_weights: list[bool], inputs: Sequence[Any], options: dict[str, Any]) -> None:
        if torch.is_autocast_enabled("cpu"):
            raise InvalidError("torch.autocast is on; use options={\"precision\": \"bf16\"} instead")
        for value in inputs:
            _check_input(value)
        self._weight_indices = [index for index, is_weight in enumerate(are_weights) if is_weight]
        self._weights = _Weights([inputs[index] for index in self._weight_indices])
        self._input_indices = [index for index, value in enumerate(inputs)
                               if isinstance(value, torch.Tensor) and not are_weights[index]]
        self._dtypes: list[Any] = []  # of the outputs
        with torch.inference_mode(False), torch.no_grad():
            program = self._export(graph, inputs)
        options = {"threads": torch.get_num_threads(), **options}
        self._threads = options["threads"]
        network = _load(program).optimize(**{name: options[name] for name in TORCH_OPTIMIZE if name in options})
        self._network = network.compile(**{name: options[name] for name in TORCH_COMPILE if name in options})
        self._names = list(self._network.inputs)

    def has_weights_of(self, inputs: Sequence[Any]) -> bool:
        return self._weights.are([inputs[index] for index in self._weight_indices])

    def _export(self, graph: Any, inputs: Sequence[Any]) -> Any:
        """Returns the program that computes the graph's outputs from those inputs that are neither weights nor sizes."""
        module = torch.nn.Module()
        module.graph = graph
        for index in self._weight_indices:
            module.register_buffer(f"weight_{index}", inputs[index].detach())

        def forward(*values: Any) -> Any:
            given = dict(zip(self._input_indices, values))
            given.update({index: getattr(module, f"weight_{index}") for index in self._weight_indices})
            versions = {index: value._version for index, value in given.items()}
            outputs = graph(*(given.get(index, value) for index, value in enumerate(inputs)))
            if not all(isinstance(output, torch.Tensor) for output in outputs):
                raise InvalidError("an output is not a tensor")
            if any(value._version != versions[index] for index, value in given.items()):
                raise InvalidError("the graph changes one of its inputs in place")
            memory = {value.untyped_storage()._cdata for value in given.values()}
            if any(output.untyped_storage()._cdata in memory for output in outputs):
                raise InvalidError("an output shares the memory of an input")
            self._dtypes = [output.dtype for output in outputs]
            return outputs

        module.forward = forward
        # Tensors that were made under inference_mode() have no versions; a copy has.
        values = (inputs[index] for index in self._input_indices)
        return torch.export.export(module, tuple(value.clone() if value.is_inference() else value for value in values))

    def run(self, inputs: Sequence[Any]) -> list[Any]:
        arrays = {name: _to_numpy(inputs[index])
                  for name, index in zip(self._names, self._input_indices, strict=True)}
        outputs = self._network.run(arrays, threads=self._threads).values()
        return [_to_torch(array, dtype) for array, dtype in zip(outputs, self._dtypes, strict=True)]


def _load(program: Any) -> Network:
    try:
        return load(program, shapes={}, progress=False)  # which are all known
    except UnsupportedError:
        # Without operators that write into a part of a tensor, and otherwise the same.
        return load(program.run_decompositions({}), shapes={}, progress=False)


def _check_input(value: Any) -> None:
    if isinstance(value, int) and not isinstance(value, bool):
        return
    if type(value) not in (torch.Tensor, torch.nn.Parameter):
        raise InvalidError(f"an input is a {type(value).__name__} and no plain tensor")
    if value.device.type != "cpu":
        raise InvalidError(f"a tensor is on {value.device} and not on the CPU")


def _to_numpy(tensor: Any) -> Any:
    tensor = tensor.detach()
    return (tensor.view(torch.uint16) if tensor.dtype == torch.bfloat16 else tensor).numpy()


def _to_torch(array: Any, dtype: Any) -> Any:
    tensor = torch.from_numpy(array)
    return tensor.view(dtype) if dtype == torch.bfloat16 else tensor
