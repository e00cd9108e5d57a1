"""The part of include/attune/attune.h that runs an artifact, as ctypes calls it."""
import ctypes
import functools
import pathlib
from typing import Any

import numpy

# The library, unless something else is set before the first call.
path = pathlib.Path(__file__).parent / "libattune_runtime.so"

INVALID_ARGUMENT = 1


class Error(Exception):
    """One sentence of the runtime, and the number of attune_code."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class LoadOptions(ctypes.Structure):
    _fields_ = [("struct_bytes", ctypes.c_size_t), ("expected_sha256", ctypes.c_char_p), ("verify_constants", ctypes.c_int),
                ("read_whole", ctypes.c_int), ("trusted_sha256", ctypes.POINTER(ctypes.c_char_p)),
                ("num_trusted_sha256", ctypes.c_size_t), ("describe_only", ctypes.c_int),
                ("trusted_keys", ctypes.POINTER(ctypes.c_char_p)), ("num_trusted_keys", ctypes.c_size_t)]


class ErrorOfC(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("message", ctypes.c_char * 512)]


class TensorInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_int), ("rank", ctypes.c_size_t),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("is_dynamic", ctypes.c_int), ("bytes", ctypes.c_size_t)]


class Dimension(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("min", ctypes.c_int64), ("max", ctypes.c_int64), ("is_open", ctypes.c_int)]


class Shape(ctypes.Structure):
    _fields_ = [("sizes", ctypes.POINTER(ctypes.c_int64)), ("rank", ctypes.c_size_t)]


class Output(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int), ("rank", ctypes.c_size_t),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("bytes", ctypes.c_size_t)]


POINTER, SIZE, ERROR = ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(ErrorOfC)

# The functions: the type they return, and the types they take.
SIGNATURES = {
    "attune_version": (ctypes.c_char_p,),
    "attune_dtype_name": (ctypes.c_char_p, ctypes.c_int),
    "attune_load": (ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(LoadOptions), ctypes.POINTER(POINTER), ERROR),
    "attune_model_free": (None, POINTER),
    "attune_model_num_shape_sets": (SIZE, POINTER),
    "attune_model_shape_set": (POINTER, POINTER, SIZE),
    "attune_model_num_inputs": (SIZE, POINTER),
    "attune_model_num_outputs": (SIZE, POINTER),
    "attune_model_input": (ctypes.c_int, POINTER, SIZE, ctypes.POINTER(TensorInfo), ERROR),
    "attune_model_output": (ctypes.c_int, POINTER, SIZE, ctypes.POINTER(TensorInfo), ERROR),
    "attune_model_input_dimension": (ctypes.c_int, POINTER, SIZE, SIZE, ctypes.POINTER(Dimension), ERROR),
    "attune_model_output_dimension": (ctypes.c_int, POINTER, SIZE, SIZE, ctypes.POINTER(Dimension), ERROR),
    "attune_model_metadata": (ctypes.c_char_p, POINTER, ctypes.c_char_p),
    "attune_session_create": (ctypes.c_int, POINTER, SIZE, ctypes.POINTER(POINTER), ERROR),
    "attune_session_free": (None, POINTER),
    "attune_session_use_shapes": (ctypes.c_int, POINTER, ctypes.POINTER(Shape), SIZE, ERROR),
    "attune_session_set_input": (ctypes.c_int, POINTER, SIZE, POINTER, SIZE, ERROR),
    "attune_session_run": (ctypes.c_int, POINTER, ERROR),
    "attune_session_output": (ctypes.c_int, POINTER, SIZE, ctypes.POINTER(Output), ERROR),
}

NUMPY = {"f32": "float32", "f64": "float64", "f16": "float16", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
         "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "bool": "bool"}


@functools.lru_cache(maxsize=None)
def library() -> ctypes.CDLL:
    """The runtime. Raises OSError if it cannot be loaded."""
    loaded = ctypes.CDLL(str(path))
    for name, (result, *arguments) in SIGNATURES.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


def call(name: str, *arguments: Any) -> None:
    """Calls attune_NAME. Raises Error."""
    error = ErrorOfC()
    if getattr(library(), f"attune_{name}")(*arguments, ctypes.byref(error)):
        raise Error(error.code, error.message.decode(errors="replace"))


def dtype_name(number: int) -> str:
    return str(library().attune_dtype_name(number).decode())


def numpy_dtype(name: str) -> Any:
    """The dtype of an Attune dtype's name. Raises Error for bf16 without the package ml_dtypes, since NumPy has none."""
    if name == "bf16":
        try:
            import ml_dtypes
        except ImportError:
            raise Error(INVALID_ARGUMENT, "a tensor is of bf16, which NumPy gets from the package ml_dtypes: "
                        "pip install ml_dtypes") from None
        return numpy.dtype(ml_dtypes.bfloat16)
    return numpy.dtype(NUMPY[name])


def as_input(name: str, dtype: str, value: Any) -> Any:
    """A dense array of the input's dtype. Raises Error for another dtype, since a silent conversion hides mistakes."""
    array = numpy.ascontiguousarray(value)
    # A 0-dimensional array would become one of one dimension.
    array = array.reshape(numpy.shape(value))
    if array.dtype != numpy_dtype(dtype):
        raise Error(INVALID_ARGUMENT, f"input {name} is of {numpy_dtype(dtype)}, not {array.dtype}")
    return array
