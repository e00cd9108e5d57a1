"""IOBinding: inputs and outputs in memory that the caller names once, for many runs."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._arrays import as_array
from ..errors import InvalidError
from ._value import Array, OrtValue, array_at, check_device


class IOBinding:
    """The inputs and outputs of session.run_with_iobinding(). Inputs are read when it runs, and so may be changed
    before."""

    def __init__(self, outputs: Sequence[str]) -> None:
        self._known = tuple(outputs)
        self.inputs: dict[str, Array] = {}
        self._targets: dict[str, Array | None] = {}
        self._results: dict[str, OrtValue] = {}

    def bind_cpu_input(self, name: str, array: Any) -> None:
        """Binds an array, in its own memory."""
        self.inputs[name] = as_array(name, array)

    def bind_input(self, name: str, device_type: str, device_id: int, element_type: Any, shape: Sequence[int],
                   buffer_ptr: int) -> None:
        """Binds memory by its address; it must live as long as the binding."""
        check_device(device_type, f"input \"{name}\"")
        self.inputs[name] = array_at(buffer_ptr, element_type, shape)

    def bind_ortvalue_input(self, name: str, value: OrtValue) -> None:
        """Binds a tensor."""
        self.inputs[name] = value.numpy()

    def _bind(self, name: str, target: Array | None) -> None:
        if name not in self._known:
            raise InvalidError(f"there is no output \"{name}\"; the outputs are {', '.join(self._known)}")
        self._targets[name] = target

    def bind_output(self, name: str, device_type: str = "cpu", device_id: int = 0, element_type: Any = None,
                    shape: Sequence[int] | None = None, buffer_ptr: int | None = None) -> None:
        """Binds an output, to memory at an address or to memory that each run allocates."""
        check_device(device_type, f"output \"{name}\"")
        self._bind(name, None if buffer_ptr is None else array_at(buffer_ptr, element_type, shape or ()))

    def bind_ortvalue_output(self, name: str, value: OrtValue) -> None:
        """Binds an output to a tensor."""
        self._bind(name, value.numpy())

    def __repr__(self) -> str:
        return f"<attune.onnxruntime.IOBinding of inputs {list(self.inputs)} and outputs {list(self._targets)}>"

    def synchronize_inputs(self) -> None:
        """Changes nothing: nothing is asynchronous."""

    def synchronize_outputs(self) -> None:
        """Changes nothing: nothing is asynchronous."""

    def clear_binding_inputs(self) -> None:
        """Forgets the inputs."""
        self.inputs = {}

    def clear_binding_outputs(self) -> None:
        """Forgets the outputs."""
        self._targets, self._results = {}, {}

    def get_outputs(self) -> list[OrtValue]:
        """Returns the outputs of the last run, in the order in which they were bound."""
        return list(self._results.values())

    def copy_outputs_to_cpu(self) -> list[Array]:
        """Returns the outputs as arrays."""
        return [value.numpy().copy() for value in self._results.values()]

    def run(self, compute: Callable[[dict[str, Array]], dict[str, Array]]) -> None:
        """Computes the outputs and writes them where they are bound to."""
        outputs = compute(self.inputs)
        for name, target in self._targets.items():
            result = OrtValue(outputs[name])
            if target is not None:
                bound = OrtValue(target)
                bound.update_inplace(outputs[name])
                result = bound
            self._results[name] = result
