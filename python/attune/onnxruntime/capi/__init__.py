"""Where scripts take the exceptions from."""
from . import onnxruntime_pybind11_state
from . import onnxruntime_pybind11_state as _pybind_state

__all__ = ["_pybind_state", "onnxruntime_pybind11_state"]
