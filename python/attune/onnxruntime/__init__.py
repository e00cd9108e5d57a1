"""Attune behind the interface of ONNX Runtime, for scripts that were written for that:

    import attune.onnxruntime as onnxruntime

install() makes `import onnxruntime` give this module, also in packages that a script uses.

Features of ONNX Runtime for other devices, for training and with custom operators are not here: they raise
attune.UnsupportedError with their names. Settings that only tune ONNX Runtime itself are accepted and change nothing.
"""
from __future__ import annotations

import sys
from typing import Any, NoReturn

from ..errors import InvalidError
from . import backend, capi
from ._binding import IOBinding
from ._model import ModelMetadata, NodeArg
from ._options import (ExecutionMode, ExecutionOrder, GraphOptimizationLevel, RunOptions, SessionOptions)
from ._session import InferenceSession, get_available_providers
from ._value import OrtValue

__version__ = "1.31.1"  # whose interface this is
SessionIOBinding = IOBinding

get_all_providers = get_available_providers


def install() -> None:
    """Makes `import onnxruntime` give this module from now on, everywhere in this process: call it before anything imports
    onnxruntime. Raises attune.InvalidError if something has imported the other one already."""
    here = sys.modules[__name__]
    if sys.modules.get("onnxruntime", here) is not here:
        raise InvalidError("install(): onnxruntime is imported already; call attune.onnxruntime.install() before that")
    for name in [name for name in sys.modules if name == __name__ or name.startswith(__name__ + ".")]:
        sys.modules["onnxruntime" + name.removeprefix(__name__)] = sys.modules[name]


def get_device() -> str:
    """Returns "CPU"."""
    return "CPU"


def get_version_string() -> str:
    """Returns the version of ONNX Runtime whose interface this is."""
    return __version__


def get_build_info() -> str:
    """Returns the version and the build of Attune."""
    from .. import build_id, version
    return f"Attune {version()}, build {build_id()}"


def set_default_logger_severity(severity: int) -> None:
    """Changes nothing: there is no log."""


def set_default_logger_verbosity(verbosity: int) -> None:
    """Changes nothing: there is no log."""


def set_seed(seed: int) -> None:
    """Changes nothing: no operator draws from a global generator."""


def enable_telemetry_events() -> None:
    """Changes nothing: no telemetry is sent."""


def disable_telemetry_events() -> None:
    """Changes nothing: no telemetry is sent."""


def __getattr__(name: str) -> NoReturn:
    raise AttributeError(f"attune.onnxruntime has no {name}; it has {', '.join(__all__)}")


__all__ = ["ExecutionMode", "ExecutionOrder", "GraphOptimizationLevel", "IOBinding", "InferenceSession", "ModelMetadata",
           "NodeArg", "OrtValue", "RunOptions", "SessionIOBinding", "SessionOptions", "backend", "capi", "disable_telemetry_events",
           "enable_telemetry_events", "get_all_providers", "get_available_providers", "get_build_info", "get_device",
           "get_version_string", "install", "set_default_logger_severity", "set_default_logger_verbosity", "set_seed"]


def __dir__() -> list[Any]:
    return [*__all__, "__version__"]
