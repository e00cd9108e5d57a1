"""Runs a compiled network many times without allocating anything."""
from __future__ import annotations

from typing import Any

import numpy

from . import _core
from ._arrays import as_array
from ._values import Unpicklable, by_name, integer
from .errors import InvalidError


class Session(Unpicklable):
    """The memory and threads to run a network. For one thread at a time; make one session for each thread.

    `inputs` and `outputs` are dicts of NumPy arrays in the memory that the network reads and writes: values written to
    `session.inputs["x"][...]` are the input of the next run(), and `session.outputs` are those of the last one. bf16 is
    uint16. close(), or the end of a with statement, gives the threads back; arrays that are still used keep the memory.
    """

    _instead = "make one of the network in the other process"

    def __init__(self, model: _core.Model, threads: int = 1) -> None:
        self._open: _core.Session | None = _core.Session(model, integer("threads", threads))
        self._threads = threads
        self._input_names = [name for name, _, _ in model.inputs()]
        self._names = [name for name, _, _ in model.outputs()]
        self.inputs: dict[str, numpy.ndarray[Any, Any]] = {
            name: numpy.asarray(self._open.input(index)) for index, (name, _, _) in enumerate(model.inputs())}

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Ends the session. A second call does nothing."""
        self._open = None
        self.inputs = {}

    @property
    def _session(self) -> _core.Session:
        if self._open is None:
            raise InvalidError("the session is closed; make another one with network.session()")
        return self._open

    @property
    def outputs(self) -> dict[str, numpy.ndarray[Any, Any]]:
        """The outputs of the last run, in the memory of the session: copy them to keep them."""
        session = self._session
        return {name: numpy.asarray(session.output(index)) for index, name in enumerate(self._names)}

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name}: {array.dtype}{list(array.shape)}" for name, array in self.inputs.items())
        return f"<attune.Session({inputs}), {self._state()}>"

    def _state(self) -> str:
        if self._open is None:
            return "closed"
        return "1 thread" if self._threads == 1 else f"{self._threads or 'all'} threads"

    def run(self, inputs: Any = None) -> dict[str, numpy.ndarray[Any, Any]]:
        """Computes the outputs, from these inputs {name: array}, or the array of the only input, or from the content of
        `inputs`. Returns copies: {name: array}."""
        session = self._session
        if type(inputs) is dict:
            outputs = session.compute(inputs, self._input_names, self._names)
            if outputs is not None:
                return outputs
        # Inputs that are to be converted, or are wrong.
        given_inputs = by_name("inputs", inputs, self._input_names)
        for name, array in given_inputs.items():
            if name not in self.inputs:
                raise InvalidError(f"there is no input \"{name}\"; the inputs are {', '.join(self.inputs)}")
            target, given = self.inputs[name], as_array(name, array)
            if given.dtype != target.dtype or given.shape != target.shape:
                raise InvalidError(f"input \"{name}\": is {given.dtype}{list(given.shape)}, and must be "
                                   f"{target.dtype}{list(target.shape)}")
            target[...] = given
        missing = self.inputs.keys() - given_inputs.keys() if inputs is not None else ()
        if missing:
            raise InvalidError(f"there is no value for input \"{sorted(missing)[0]}\"")
        session.run()
        return {name: array.copy() for name, array in self.outputs.items()}
