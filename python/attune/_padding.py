"""Buckets: inputs are padded to a few sizes of a dimension, so that a network is compiled for those alone."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy

from ._declared import Declared, named_dims, unknown_input
from .errors import InvalidError

Array = numpy.ndarray[Any, Any]
PadTo = Mapping[str, Sequence[int]] | Sequence[int]


def _by_name(pad_to: PadTo, inputs: Sequence[Declared]) -> dict[str, list[int]]:
    names = named_dims(inputs)
    text = f"the open dimensions are {', '.join(names)}" if names else "no open dimension has a name"
    if not isinstance(pad_to, Mapping):
        # The first dimension is the batch.
        behind = {dim for input in inputs for dim in (input.dims or ())[1:] if isinstance(dim, str)}
        if len(behind) != 1 or "?" in behind:
            raise InvalidError(f"pad_to: name the dimension, pad_to={{name: sizes}}; {text}")
        pad_to = {behind.pop(): pad_to}
    for name, sizes in pad_to.items():
        if name not in names:
            raise InvalidError(f"pad_to: there is no dimension \"{name}\"; {text}")
        if isinstance(sizes, (str, int)) or not sizes or min(sizes) < 1:
            raise InvalidError(f"pad_to: the sizes of dimension {name} are {sizes}; give positive ones, in a list")
    return {name: sorted(sizes) for name, sizes in pad_to.items()}


class Buckets:
    """Pads inputs, and cuts outputs back. Immutable.

    pad_to: {name of a dimension: sizes}, or sizes alone if one dimension besides the first one is open. A size beyond
    all of them stays as it is. value: the value of the padding, or {input: value}.
    """

    def __init__(self, pad_to: PadTo, value: float | Mapping[str, float], inputs: Sequence[Declared],
                 outputs: Sequence[Declared]) -> None:
        if not outputs:
            raise InvalidError("pad_to: works for ONNX models, whose files declare their outputs' dimensions")
        self._sizes = _by_name(pad_to, inputs)
        unknown = sorted(value.keys() - {input.name for input in inputs}) if isinstance(value, Mapping) else []
        if unknown:
            raise InvalidError(f"pad_value: {unknown_input(unknown[0], inputs)}")
        self._value = value
        self._inputs = inputs
        self._outputs = {output.name: output for output in outputs}

    def _value_of(self, name: str) -> float:
        return self._value.get(name, 0) if isinstance(self._value, Mapping) else self._value

    def pad(self, arrays: Mapping[str, Array]) -> tuple[dict[str, Array], dict[str, tuple[int, int]]]:
        """Returns the padded inputs, and {dimension: (its size, its padded size)} of those that have become larger."""
        padded = dict(arrays)
        changed: dict[str, tuple[int, int]] = {}
        for input in self._inputs:
            array = arrays.get(input.name)
            if array is None:
                continue
            shape = list(array.shape)
            for axis, dim in enumerate(input.dims or ()):
                if isinstance(dim, str) and dim in self._sizes:
                    shape[axis] = next((size for size in self._sizes[dim] if size >= shape[axis]), shape[axis])
                    if shape[axis] != array.shape[axis]:
                        changed[dim] = (array.shape[axis], shape[axis])
            if tuple(shape) != array.shape:
                larger = numpy.full(shape, self._value_of(input.name), array.dtype)
                larger[tuple(map(slice, array.shape))] = array
                padded[input.name] = larger
        return padded, changed

    def cut(self, outputs: Mapping[str, Array], changed: Mapping[str, tuple[int, int]]) -> dict[str, Array]:
        """Returns the outputs without the padding, as far as they have dimensions that were padded.

        Exporters often leave such a dimension of an output without its name: then it is known by its size.
        """
        inner = set(named_dims(self._inputs))
        kept = {}
        for name, array in outputs.items():
            for axis, dim in enumerate(self._outputs[name].dims or ("?",) * array.ndim):
                if not isinstance(dim, str):
                    continue
                same = [dim] if dim in inner else [dim for dim, (_, size) in changed.items() if size == array.shape[axis]]
                if len({changed[dim][0] for dim in same if dim in changed}) > 1:
                    raise InvalidError(f"pad_to: dimension {axis} of output \"{name}\" has no name, and could be "
                                       f"{' or '.join(same)}; name it in the model")
                if same and same[0] in changed:
                    array = array[(slice(None),) * axis + (slice(changed[same[0]][0]),)]
            kept[name] = array
        return kept
