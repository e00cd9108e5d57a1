"""The interface that ONNX gives backends: prepare(model).run(inputs)."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InvalidError, UnsupportedError
from ._session import InferenceSession
from ._value import Array


class Prepared:
    """A model that is ready to run."""

    def __init__(self, session: InferenceSession) -> None:
        self._session = session

    def run(self, inputs: Any, **_of_onnxruntime: Any) -> list[Array]:
        """Returns the outputs. inputs: an array, a list in the model's order, or {input: array}."""
        names = [input.name for input in self._session.get_inputs()]
        if not isinstance(inputs, Mapping):
            inputs = dict(zip(names, inputs if isinstance(inputs, Sequence) else [inputs]))
        return self._session.run(None, inputs)


def supports_device(device: str) -> bool:
    """Returns whether it is the processor."""
    return device.upper().split(":")[0] == "CPU"


def prepare(model: Any, device: str | None = None, trusted_keys: Sequence[str] | None = None,
            **_of_onnxruntime: Any) -> Prepared:
    """Loads a path, bytes or an onnx.ModelProto. trusted_keys: as for InferenceSession."""
    if device is not None and not supports_device(device):
        raise UnsupportedError(f"attune.onnxruntime: device \"{device}\" is not supported; only \"CPU\"")
    if not isinstance(model, InferenceSession):
        return Prepared(InferenceSession(model, trusted_keys=trusted_keys))
    if trusted_keys is not None:
        raise InvalidError("trusted_keys: the session is loaded already; give them to InferenceSession")
    return Prepared(model)


def run_model(model: Any, inputs: Any, device: str | None = None, **_of_onnxruntime: Any) -> list[Array]:
    """Loads and runs."""
    return prepare(model, device).run(inputs)
