"""The description of a session's model, in the words of ONNX Runtime."""
from __future__ import annotations

import dataclasses
from typing import Any

import numpy

from ..errors import InvalidError

# Attune's name, ONNX's name, ONNX's number.
_TYPES = (("f32", "float", 1), ("f64", "double", 11), ("f16", "float16", 10), ("bf16", "bfloat16", 16), ("i8", "int8", 3),
          ("i16", "int16", 5), ("i32", "int32", 6), ("i64", "int64", 7), ("u8", "uint8", 2), ("u16", "uint16", 4),
          ("u32", "uint32", 12), ("u64", "uint64", 13), ("bool", "bool", 9))
_NAMES = {attune: onnx for attune, onnx, _ in _TYPES}
_OF_NUMPY = {"float32": "float", "float64": "double"}


def type_name(dtype: str) -> str:
    """Returns "tensor(float)" for "f32"; a type that Attune lacks keeps its name."""
    return f"tensor({_NAMES.get(dtype, dtype)})"


def type_name_of(dtype: numpy.dtype[Any]) -> str:
    """Returns "tensor(float)" for NumPy's float32."""
    return f"tensor({_OF_NUMPY.get(dtype.name, dtype.name)})"


def numpy_dtype(element_type: Any) -> numpy.dtype[Any]:
    """Returns NumPy's dtype for the name that a script gives an element type: a type of NumPy, or its number in
    ONNX."""
    if isinstance(element_type, int):
        for _, onnx, number in _TYPES:
            if number == element_type and onnx != "bfloat16":
                return numpy.dtype({"float": "float32", "double": "float64"}.get(onnx, onnx))
        raise InvalidError(f"no element type has the number {element_type}")
    try:
        dtype: numpy.dtype[Any] = numpy.dtype(element_type)
    except TypeError as error:
        raise InvalidError(f"{element_type!r} is not an element type: {error}") from error
    return dtype


@dataclasses.dataclass(frozen=True)
class NodeArg:
    """An input or an output. shape: numbers, names of open dimensions, and None for those without a name."""

    name: str
    type: str
    shape: list[int | str | None]

    def __str__(self) -> str:
        return f"NodeArg(name='{self.name}', type='{self.type}', shape={self.shape})"


@dataclasses.dataclass(frozen=True)
class ModelMetadata:
    """The origin of the model, as its file states it."""

    producer_name: str
    graph_name: str
    domain: str
    description: str
    graph_description: str
    version: int
    custom_metadata_map: dict[str, str]
