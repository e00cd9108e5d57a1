"""OrtValue: a tensor that sessions take and give."""
from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy

from .._arrays import as_array
from ..errors import InvalidError, UnsupportedError
from ._model import numpy_dtype, type_name_of

Array = numpy.ndarray[Any, Any]


def check_device(device_type: str, what: str) -> None:
    """Raises unless the memory is the processor's."""
    if device_type.lower() not in ("cpu", "cuda_pinned"):
        raise UnsupportedError(f"attune.onnxruntime: {what} on \"{device_type}\" is not supported; only on \"cpu\"")


def array_at(address: int, element_type: Any, shape: Sequence[int]) -> Array:
    """Returns an array in memory that the caller owns."""
    dtype = numpy_dtype(element_type)
    sizes = tuple(int(size) for size in shape)
    if not address or any(size < 0 for size in sizes):
        raise InvalidError(f"there is no array of shape {list(sizes)} at address {address}")
    count = 1
    for size in sizes:
        count *= size
    memory = (ctypes.c_byte * (count * dtype.itemsize)).from_address(address)
    array: Array = numpy.ctypeslib.as_array(memory).view(dtype).reshape(sizes)
    return array


class OrtValue:
    """A tensor in memory of the processor."""

    def __init__(self, array: Array) -> None:
        self._array = array

    @staticmethod
    def ortvalue_from_numpy(array: Any, device_type: str = "cpu", device_id: int = 0, vendor_id: int = -1) -> OrtValue:
        """Wraps the array's own memory."""
        check_device(device_type, "OrtValue")
        return OrtValue(as_array("value", array))

    @staticmethod
    def ortvalue_from_shape_and_type(shape: Sequence[int], element_type: Any, device_type: str = "cpu", device_id: int = 0,
                                     vendor_id: int = -1) -> OrtValue:
        """Makes a tensor of zeros."""
        check_device(device_type, "OrtValue")
        return OrtValue(numpy.zeros(tuple(shape), numpy_dtype(element_type)))

    @staticmethod
    def from_dlpack(data: Any, is_bool_tensor: bool = False) -> OrtValue:
        """Wraps the memory of an object with __dlpack__()."""
        array = as_array("value", data)
        return OrtValue(array.view(numpy.bool_) if is_bool_tensor else array)

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()

    def to_dlpack(self) -> Any:
        """Returns a capsule of DLPack."""
        return self._array.__dlpack__()

    def numpy(self) -> Array:
        """Returns the array, in its own memory."""
        return self._array

    def update_inplace(self, array: Any) -> None:
        """Overwrites the elements."""
        given = as_array("value", array)
        if given.shape != self._array.shape or given.dtype != self._array.dtype:
            raise InvalidError(f"update_inplace(): {given.dtype}{list(given.shape)} does not fit "
                               f"{self._array.dtype}{list(self._array.shape)}")
        self._array[...] = given

    def shape(self) -> list[int]:
        """Returns the sizes."""
        return list(self._array.shape)

    def data_type(self) -> str:
        """Returns the type as "tensor(float)"."""
        return type_name_of(self._array.dtype)

    def data_ptr(self) -> int:
        """Returns the address of the first element."""
        return int(self._array.ctypes.data)

    def tensor_size_in_bytes(self) -> int:
        """Returns the bytes of all elements."""
        return int(self._array.nbytes)

    def device_name(self) -> str:
        """Returns "cpu"."""
        return "cpu"

    def __repr__(self) -> str:
        return f"<attune.onnxruntime.OrtValue {self.data_type()}{self.shape()}>"

    def has_value(self) -> bool:
        """Returns True."""
        return True

    def is_tensor(self) -> bool:
        """Returns True."""
        return True

    def is_sparse_tensor(self) -> bool:
        """Returns False."""
        return False

    def is_tensor_sequence(self) -> bool:
        """Returns False."""
        return False
