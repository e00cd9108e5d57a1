"""Inputs and outputs as a model's file declares them, with dimensions that it leaves open."""
from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from ._arrays import dtype_of
from .errors import InvalidError

Sizes = tuple[tuple[int, ...], ...]  # the shapes of all inputs, in the model's order


@dataclasses.dataclass(frozen=True)
class Declared:
    """An input or an output. dims: a number, the name of an open dimension, or "?"; None: not even their number."""

    name: str
    dtype: str
    dims: tuple[int | str, ...] | None

    @property
    def is_open(self) -> bool:
        """Whether the file leaves a size open."""
        return self.dims is None or any(isinstance(dim, str) for dim in self.dims)

    @property
    def shape(self) -> tuple[int, ...]:
        """Its sizes, -1 for one that is open."""
        return tuple(-1 if isinstance(dim, str) else dim for dim in self.dims or ())

    def __str__(self) -> str:
        return f"{self.dtype}[{'?' if self.dims is None else ','.join(map(str, self.dims))}]"


def declared(rows: Sequence[tuple[str, str, Sequence[int | str] | None]]) -> tuple[Declared, ...]:
    """Makes them from the rows of _core.declaration()."""
    def named(dim: int | str) -> int | str:
        # A negative size is open, too.
        return "?" if isinstance(dim, str) and dim.lstrip("-").isdigit() else dim
    return tuple(Declared(name, dtype, None if dims is None else tuple(map(named, dims))) for name, dtype, dims in rows)


def named_dims(inputs: Sequence[Declared]) -> list[str]:
    """Returns the names of the open dimensions, each once."""
    return list(dict.fromkeys(dim for input in inputs for dim in input.dims or ()
                              if isinstance(dim, str) and dim != "?"))


class StillOpenError(InvalidError):
    """The shapes that are given leave an input open."""


def _check_shape(input: Declared, shape: Sequence[int], sizes: dict[str, int]) -> None:
    """Checks a shape, and notes the sizes of named dimensions."""
    if input.dims is None:
        return
    fits = len(shape) == len(input.dims) and all(size == dim for size, dim in zip(shape, input.dims)
                                                 if isinstance(dim, int))
    if not fits:
        raise InvalidError(f"input \"{input.name}\": is {list(shape)}, and must be {input}")
    for size, dim in zip(shape, input.dims):
        if isinstance(dim, str) and dim != "?" and sizes.setdefault(dim, size) != size:
            raise InvalidError(f"dimension {dim} of input \"{input.name}\" is {size}, and {sizes[dim]} elsewhere")


def unknown_input(name: str, inputs: Sequence[Declared]) -> str:
    """Returns the text of an error."""
    return f"there is no input \"{name}\"; the inputs are {', '.join(input.name for input in inputs)}"


def bind(inputs: Sequence[Declared], shapes: Mapping[str, Sequence[int]]) -> Sizes:
    """Returns the shapes of all inputs, from those of some: a named dimension has the same size everywhere. Raises
    StillOpenError if they leave one open."""
    unknown = shapes.keys() - {input.name for input in inputs}
    if unknown:
        raise InvalidError(unknown_input(sorted(unknown)[0], inputs))
    sizes: dict[str, int] = {}
    for input in inputs:
        if input.name in shapes:
            _check_shape(input, shapes[input.name], sizes)
    bound = []
    for input in inputs:
        shape = shapes.get(input.name)
        if shape is None:
            dims = [sizes.get(dim) if isinstance(dim, str) else dim for dim in input.dims or (None,)]
            if any(size is None for size in dims):
                raise StillOpenError(f"input \"{input.name}\" is {input}; give its shape")
            shape = [size for size in dims if size is not None]
        bound.append(tuple(int(size) for size in shape))
    return tuple(bound)


def without(inputs: Sequence[Declared], given: Mapping[str, Sequence[int]]) -> tuple[Declared, ...]:
    """Returns the inputs but for those of the given shapes, which set named dimensions of the others."""
    unknown = given.keys() - {input.name for input in inputs}
    if unknown:
        raise InvalidError(unknown_input(sorted(unknown)[0], inputs))
    sizes: dict[str, int] = {}
    for input in inputs:
        if input.name in given:
            _check_shape(input, given[input.name], sizes)
    return tuple(Declared(input.name, input.dtype, input.dims and tuple(
        sizes.get(dim, dim) if isinstance(dim, str) else dim for dim in input.dims))
        for input in inputs if input.name not in given)


def check_arrays(inputs: Sequence[Declared], arrays: Mapping[str, Any]) -> Sizes:
    """Returns the shapes of all inputs, from their arrays, all of which must be there and fit."""
    for input in inputs:
        if input.name not in arrays:
            raise InvalidError(f"there is no value for input \"{input.name}\"")
    sizes = bind(inputs, {name: array.shape for name, array in arrays.items()})
    for input in inputs:
        dtype, array = dtype_of(input.dtype), arrays[input.name]
        if dtype is not None and array.dtype != dtype:
            raise InvalidError(f"input \"{input.name}\": is {array.dtype}{list(array.shape)}, and must be {input}")
    return sizes
