"""Values that a caller gives: converted, or refused with one sentence that names the argument."""
from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy

from .errors import InvalidError

_BITS = {"int": 31, "int64": 63, "uint64": 64}


def _refuse(name: str, what: str, value: Any) -> TypeError:
    return TypeError(f"{name}: must be {what}, and is of type {type(value).__name__}")


def flag(name: str, value: Any) -> bool:
    """Returns a bool."""
    if not isinstance(value, (bool, numpy.bool_)):
        raise _refuse(name, "True or False", value)
    return bool(value)


def integer(name: str, value: Any, kind: str = "int") -> int:
    """Returns a whole number that fits a type of C++: int, int64 or uint64."""
    try:
        number = operator.index(value)
    except TypeError:
        raise _refuse(name, "a whole number", value) from None
    end = 1 << _BITS[kind]
    least = 0 if kind == "uint64" else -end
    if not least <= number < end:
        raise InvalidError(f"{name}: is {number}, and must be from {least} to {end - 1}")
    return number


def number(name: str, value: Any) -> float:
    """Returns a float."""
    if not isinstance(value, (int, float, numpy.number)):
        raise _refuse(name, "a number", value)
    return float(value)


def text(name: str, value: Any) -> str:
    """Returns a str."""
    if not isinstance(value, str):
        raise _refuse(name, "a str", value)
    return value


def texts(name: str, value: Any) -> list[str]:
    """Returns a list of str; a str is one element."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, Iterable):
        raise _refuse(name, "a list of str", value)
    return [text(name, element) for element in value]


def channels(name: str, value: Any) -> list[float]:
    """Returns a number for all channels of a picture, one for each of three, or none."""
    if isinstance(value, (int, float, numpy.number)):
        return [number(name, value)]
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise _refuse(name, "a number or three", value)
    values = [number(name, one) for one in value]
    if len(values) not in (0, 1, 3):
        raise InvalidError(f"{name}: takes a number, or one for each of three channels, and has {len(values)}")
    return values


def path(name: str, value: Any) -> str:
    """Returns a path as a str."""
    try:
        return os.fsdecode(value)
    except TypeError:
        raise _refuse(name, "a path", value) from None


def shape(name: str, sizes: Any) -> tuple[int, ...]:
    """Returns the sizes of an input."""
    if isinstance(sizes, str) or not isinstance(sizes, Iterable):
        raise InvalidError(f"shapes: of input \"{name}\" must be a list of sizes, such as [1, 3, 224, 224], and is {sizes!r}")
    return tuple(integer(f"shapes: of input \"{name}\"", size, "int64") for size in sizes)


def by_name(what: str, given: Any, names: Sequence[str] = ()) -> Mapping[str, Any]:
    """Returns the caller's dict by the names of inputs, or an empty one for None. names: of all inputs; if there is one, its
    value may come without it."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return given
    if len(names) == 1 and not isinstance(given, str):
        return {names[0]: given}
    known = f" ({', '.join(names)})" if names else ""
    raise InvalidError(f"{what}: must be a dict by the names of inputs{known}, and is of type {type(given).__name__}")


def samples(given: Any, names: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Yields the samples of quantize(), each by the names of inputs."""
    if isinstance(given, (str, bytes, os.PathLike, Mapping)) or not isinstance(given, Iterable):
        raise InvalidError("data: must be an iterable of samples, each {input: array} or, for a network of one input, an array, "
                           f"and is of type {type(given).__name__}")
    for sample in given:
        yield by_name("data: a sample", sample, names)


class Unpicklable:
    """An object that another process cannot be sent. `_instead` says what to do."""

    _instead = ""

    def __reduce__(self) -> Any:
        raise TypeError(f"an object of {type(self).__module__.split('.')[0]}.{type(self).__name__} cannot be pickled; "
                        f"{self._instead}")
