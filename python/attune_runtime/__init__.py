"""Runs what `attune compile` has compiled, without a compiler: the C interface attune/attune.h through ctypes.

    import attune_runtime

    session = attune_runtime.Model("resnet50.atn").session(threads=4)
    scores = session.run({"input": image})["output"]

Needs NumPy alone, and runs with every Python from 3.9 on.
"""
import ctypes
import pathlib
import weakref
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import numpy

from . import _c

__all__ = ["Error", "Model", "OpenDimension", "Session", "TensorInfo", "version"]

Error = _c.Error


class OpenDimension(NamedTuple):
    """A dimension that the shapes of the inputs decide."""

    name: Optional[str]  # of the open size that it is; None if it is computed from sizes
    min: int             # both included
    max: int


class TensorInfo(NamedTuple):
    """An input or an output as the model declares it."""

    name: str
    dtype: str              # "f32", "i64", "bool", ...
    shape: Tuple[int, ...]  # upper bounds if is_dynamic
    is_dynamic: bool        # whether a size is open or depends on the data; the latter never for an input
    open_dimensions: Dict[int, OpenDimension] = {}  # by the dimension


def version() -> str:
    """The runtime's version."""
    return str(_c.library().attune_version().decode())


class Model:
    """A compiled network. Immutable: any number of threads may make sessions of it.

    `sha256`: 64 hexadecimal digits that the file must have. `trusted_keys`: public keys of Ed25519 as hexadecimal digits (`attune
    key show`), of which one must have signed it. `read_whole`: it is read into memory, so that it may change afterwards. Raises
    Error, whose text names the file and what is wrong with it.
    """

    def __init__(self, path: Any, *, sha256: Optional[str] = None, trusted_keys: Sequence[str] = (),
                 read_whole: bool = False) -> None:
        keys = (ctypes.c_char_p * len(trusted_keys))(*[key.encode() for key in trusted_keys])
        options = _c.LoadOptions(struct_bytes=ctypes.sizeof(_c.LoadOptions), expected_sha256=sha256.encode() if sha256 else None,
                                 read_whole=read_whole, trusted_keys=keys if trusted_keys else None,
                                 num_trusted_keys=len(trusted_keys))
        handle = ctypes.c_void_p()
        _c.call("load", str(pathlib.Path(path)).encode(), ctypes.byref(options), ctypes.byref(handle))
        self._handle = handle
        self._free = weakref.finalize(self, _c.library().attune_model_free, handle)
        self.inputs = self._declared(handle, "input")
        self.outputs = self._declared(handle, "output")
        sets = _c.library().attune_model_num_shape_sets(handle)
        # The shapes of all inputs, for each set of them that it was compiled for.
        self.shape_sets = [[info.shape for info in self._declared(_c.library().attune_model_shape_set(handle, index), "input")]
                           for index in range(sets)]

    @staticmethod
    def _declared(handle: Any, kind: str) -> List[TensorInfo]:
        count = getattr(_c.library(), f"attune_model_num_{kind}s")(handle)
        found = []
        for index in range(count):
            info = _c.TensorInfo()
            _c.call(f"model_{kind}", handle, index, ctypes.byref(info))
            found.append(TensorInfo(info.name.decode(), _c.dtype_name(info.dtype), tuple(info.shape[:info.rank]),
                                    bool(info.is_dynamic), Model._open_dimensions(handle, kind, index, info.rank)))
        return found

    @staticmethod
    def _open_dimensions(handle: Any, kind: str, index: int, rank: int) -> Dict[int, OpenDimension]:
        found: Dict[int, OpenDimension] = {}
        for dimension in range(rank):
            one = _c.Dimension()
            _c.call(f"model_{kind}_dimension", handle, index, dimension, ctypes.byref(one))
            if one.is_open:
                found[dimension] = OpenDimension(None if one.name is None else one.name.decode(), one.min, one.max)
        return found

    def metadata(self, key: str) -> Optional[str]:
        """A text about the model, such as "target.cpu" or "model.sha256"; None for an unknown key."""
        text = _c.library().attune_model_metadata(self._handle, key.encode())
        return None if text is None else str(text.decode())

    def session(self, threads: int = 1) -> "Session":
        """Makes a session. `threads`: of one run; 0: one for each processor that this process may use."""
        return Session(self, threads)


class Session:
    """Memory to run a model in. Belongs to one thread at a time; other threads make sessions of their own."""

    def __init__(self, model: Model, threads: int = 1) -> None:
        handle = ctypes.c_void_p()
        _c.call("session_create", model._handle, threads, ctypes.byref(handle))
        self._model = model  # which has to live as long
        self._handle = handle
        self._free = weakref.finalize(self, _c.library().attune_session_free, handle)
        self._shapes: Optional[List[Tuple[int, ...]]] = None  # not known: open sizes begin with their smallest values

    def run(self, inputs: Mapping[str, Any]) -> Dict[str, Any]:
        """The outputs of one inference by name, as arrays of their own. `inputs`: arrays by name, of the model's dtypes and of
        one of its sets of shapes, or within the ranges of its open sizes. Raises Error."""
        declared = self._model.inputs
        if set(inputs) != {info.name for info in declared}:
            raise Error(_c.INVALID_ARGUMENT, f"the network's inputs are {', '.join(info.name for info in declared)}, not "
                        f"{', '.join(inputs) or 'none'}")
        arrays = [_c.as_input(info.name, info.dtype, inputs[info.name]) for info in declared]
        self._use_shapes([array.shape for array in arrays])
        for index, array in enumerate(arrays):
            _c.call("session_set_input", self._handle, index, array.ctypes.data, array.nbytes)
        _c.call("session_run", self._handle)
        return {info.name: self._output(index) for index, info in enumerate(self._model.outputs)}

    def _use_shapes(self, shapes: List[Tuple[int, ...]]) -> None:
        if shapes == self._shapes:
            return
        sizes = [(ctypes.c_int64 * len(shape))(*shape) for shape in shapes]
        given = (_c.Shape * len(shapes))(*[_c.Shape(size, len(size)) for size in sizes])
        _c.call("session_use_shapes", self._handle, given, len(shapes))
        self._shapes = shapes

    def _output(self, index: int) -> Any:
        found = _c.Output()
        _c.call("session_output", self._handle, index, ctypes.byref(found))
        values = numpy.frombuffer(ctypes.string_at(found.data, found.bytes), dtype=_c.numpy_dtype(_c.dtype_name(found.dtype)))
        return values.reshape(tuple(found.shape[:found.rank]))
