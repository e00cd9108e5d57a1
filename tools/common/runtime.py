"""Attune's runtime in Python: the part of include/attune/attune.h that runs an artifact, through ctypes.

A process for each of a thousand samples would take longer than the inferences.
"""
import ctypes

import numpy

from common.program import PROGRAM, Failed

LIBRARY = PROGRAM.parents[1] / "lib/libattune_runtime.so"

# By attune_dtype; numpy has no bf16.
DTYPES = (numpy.float32, numpy.float64, numpy.float16, None, numpy.int8, numpy.int16, numpy.int32, numpy.int64,
          numpy.uint8, numpy.uint16, numpy.uint32, numpy.uint64, numpy.bool_)


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("message", ctypes.c_char * 512)]


class TensorInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("dtype", ctypes.c_int), ("rank", ctypes.c_size_t),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("is_dynamic", ctypes.c_int), ("bytes", ctypes.c_size_t)]


class Output(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("dtype", ctypes.c_int), ("rank", ctypes.c_size_t),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("bytes", ctypes.c_size_t)]


POINTER, SIZE, ERROR = ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(Error)

# The functions used here: the type they return, and the types they take.
SIGNATURES = {
    "attune_load": (ctypes.c_int, ctypes.c_char_p, POINTER, ctypes.POINTER(POINTER), ERROR),
    "attune_model_free": (None, POINTER),
    "attune_model_num_inputs": (SIZE, POINTER),
    "attune_model_num_outputs": (SIZE, POINTER),
    "attune_model_input": (ctypes.c_int, POINTER, SIZE, ctypes.POINTER(TensorInfo), ERROR),
    "attune_session_create": (ctypes.c_int, POINTER, SIZE, ctypes.POINTER(POINTER), ERROR),
    "attune_session_free": (None, POINTER),
    "attune_session_set_input": (ctypes.c_int, POINTER, SIZE, POINTER, SIZE, ERROR),
    "attune_session_run": (ctypes.c_int, POINTER, ERROR),
    "attune_session_output": (ctypes.c_int, POINTER, SIZE, ctypes.POINTER(Output), ERROR),
}


def load_library():
    """Loads the runtime. Raises Failed."""
    try:
        library = ctypes.CDLL(str(LIBRARY))
    except OSError:
        raise Failed(f"{LIBRARY} cannot be loaded; ./do build makes it") from None
    for name, (result, *arguments) in SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


def dtype_of(number):
    """The numpy type of an attune_dtype. Raises Failed."""
    if not 0 <= number < len(DTYPES) or DTYPES[number] is None:
        raise Failed(f"a tensor is of type {number}, which numpy does not have")
    return numpy.dtype(DTYPES[number])


class Session:
    """An artifact that runs on this number of threads. Belongs to one thread at a time; every method raises Failed."""

    def __init__(self, artifact, threads):
        self._model, self._session = POINTER(), POINTER()
        self._library = load_library()
        self._call("load", str(artifact).encode(), None, ctypes.byref(self._model))
        self._call("session_create", self._model, threads, ctypes.byref(self._session))
        self._inputs = [self._input(index) for index in range(self._library.attune_model_num_inputs(self._model))]
        self._num_outputs = self._library.attune_model_num_outputs(self._model)

    def run(self, *arrays):
        """The outputs of one inference, in order; the caller owns them."""
        if len(arrays) != len(self._inputs):
            raise Failed(f"the network takes {len(self._inputs)} inputs, not {len(arrays)}")
        for index, (array, (dtype, shape)) in enumerate(zip(arrays, self._inputs)):
            if array.dtype != dtype or array.shape != shape:
                raise Failed(f"input {index} is {dtype}{list(shape)}, not {array.dtype}{list(array.shape)}")
            dense = numpy.ascontiguousarray(array)
            self._call("session_set_input", self._session, index, dense.ctypes.data, dense.nbytes)
        self._call("session_run", self._session)
        return [self._output(index) for index in range(self._num_outputs)]

    def close(self):
        """May be called twice."""
        self._library.attune_session_free(self._session)
        self._library.attune_model_free(self._model)
        self._model, self._session = POINTER(), POINTER()

    def _call(self, name, *arguments):
        error = Error()
        if getattr(self._library, f"attune_{name}")(*arguments, ctypes.byref(error)):
            raise Failed(error.message.decode(errors="replace"))

    def _input(self, index):
        info = TensorInfo()
        self._call("model_input", self._model, index, ctypes.byref(info))
        return dtype_of(info.dtype), tuple(info.shape[:info.rank])

    def _output(self, index):
        found = Output()
        self._call("session_output", self._session, index, ctypes.byref(found))
        values = numpy.frombuffer(ctypes.string_at(found.data, found.bytes), dtype=dtype_of(found.dtype))
        return values.reshape(tuple(found.shape[:found.rank]))
