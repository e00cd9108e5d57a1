"""Arrays of NumPy and of other frameworks, as sessions take them."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from . import _core
from ._values import by_name
from .errors import InvalidError

_NUMPY_NAMES = {"f32": "float32", "f64": "float64", "f16": "float16", "bf16": "uint16", "i8": "int8", "i16": "int16",
                "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
                "bool": "bool"}


def dtype_of(name: str) -> numpy.dtype[Any] | None:
    """NumPy's dtype for one of Attune's, uint16 for bf16; None for a type that Attune does not have."""
    return numpy.dtype(_NUMPY_NAMES[name]) if name in _NUMPY_NAMES else None


def _converted(value: Any) -> numpy.ndarray[Any, Any]:
    if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
        return numpy.from_dlpack(value)
    return numpy.asarray(value)


def as_array(name: str, value: Any) -> numpy.ndarray[Any, Any]:
    """Returns the array for an input, in its own memory where that is possible; bf16 becomes uint16.

    value: an array of NumPy, or what it makes one of, or an object with __dlpack__ in memory of the processor.
    """
    if not isinstance(value, numpy.ndarray):
        try:
            value = _converted(value)
        except Exception as error:  # each framework has its own
            # NumPy knows no bf16.
            if not hasattr(value, "__dlpack__"):
                raise InvalidError(f"input \"{name}\": {error}") from error
            try:
                value = _core.array(name, value)
            except TypeError:
                raise InvalidError(f"input \"{name}\": {error}") from error
    array: numpy.ndarray[Any, Any] = value
    return array.view(numpy.uint16) if array.dtype.name == "bfloat16" else array


def arrays_by_name(what: str, given: Any, names: Sequence[str] = ()) -> dict[str, numpy.ndarray[Any, Any]]:
    """Returns the given arrays by the names of inputs, as by_name() does."""
    return {name: as_array(name, value) for name, value in by_name(what, given, names).items()}
