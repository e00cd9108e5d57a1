"""The code of a network for all its sizes, compiled once."""
from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import Any

import numpy

from . import _core
from .errors import InvalidError

Arrays = dict[str, numpy.ndarray[Any, Any]]


class OpenCode:
    """Runs an artifact that leaves sizes open, with inputs of any of its shapes. Thread safe."""

    def __init__(self, artifact: bytes) -> None:
        self._model = _core.Model.open(artifact)
        self._inputs = [name for name, _, _ in self._model.inputs()]
        self._outputs = [name for name, _, _ in self._model.outputs()]
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self._idle: dict[int, list[_core.Session]] = {}  # by threads
        self._owner = os.getpid()

    @property
    def inputs(self) -> list[str]:
        """The names of its inputs."""
        return self._inputs

    def run(self, arrays: Mapping[str, numpy.ndarray[Any, Any]], threads: int) -> Arrays | None:
        """Returns the outputs {name: array}, or None if the code takes no inputs of these shapes. A session is kept for the
        next run with as many threads."""
        given = {name: numpy.ascontiguousarray(arrays[name]) for name in self._inputs}
        if os.getpid() != self._owner:
            self._begin()  # a session of before the fork has lost its threads
        with self._lock:
            idle = self._idle.setdefault(threads, [])
            session = idle.pop() if idle else None
        session = session or _core.Session(self._model, threads)
        try:
            outputs = session.compute(given, self._inputs, self._outputs)
        except InvalidError:
            if session.takes([array.shape for array in given.values()]):
                raise
            return None
        if outputs is None:
            raise InvalidError(f"the inputs {', '.join(self._inputs)} must be arrays of the dtypes that the model declares")
        with self._lock:
            self._idle.setdefault(threads, []).append(session)
        return outputs
