"""The settings of ONNX Runtime. Threads, profiles and fixed dimensions are followed; the others tune ONNX Runtime
itself, and change nothing here."""
from __future__ import annotations

import enum
from typing import Any, NoReturn

from ..errors import InvalidError, UnsupportedError


class GraphOptimizationLevel(enum.IntEnum):
    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(enum.IntEnum):
    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


class _Options:
    """Settings by name, with their defaults; another name is an AttributeError."""

    _DEFAULTS: dict[str, Any] = {}

    def __init__(self) -> None:
        self.__dict__.update(self._DEFAULTS, _entries={})

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._DEFAULTS:
            raise AttributeError(f"{type(self).__name__} has no {name}; it has {', '.join(self._DEFAULTS)}")
        kind = type(self._DEFAULTS[name])
        if not isinstance(value, int if issubclass(kind, int) else kind):
            raise TypeError(f"{type(self).__name__}.{name}: {value!r} is not of type {kind.__name__}")
        self.__dict__[name] = value

    def __repr__(self) -> str:
        changed = [f"{name}={self.__dict__[name]!r}" for name, default in self._DEFAULTS.items() if self.__dict__[name] != default]
        return f"<attune.onnxruntime.{type(self).__name__}({', '.join(changed)})>"

    def _add(self, key: str, value: str) -> None:
        self.__dict__["_entries"][key] = value

    def _entry(self, key: str) -> str:
        entries: dict[str, str] = self.__dict__["_entries"]
        if key not in entries:
            raise InvalidError(f"{type(self).__name__} has no entry \"{key}\"")
        return entries[key]


class SessionOptions(_Options):
    """intra_op_num_threads: threads of one inference; 0: as many as processors. enable_profiling: end_profiling() of
    the session writes the kernels' times."""

    _DEFAULTS = {"intra_op_num_threads": 0, "inter_op_num_threads": 0, "enable_profiling": False,
                 "profile_file_prefix": "onnxruntime_profile_", "optimized_model_filepath": "",
                 "graph_optimization_level": GraphOptimizationLevel.ORT_ENABLE_ALL,
                 "execution_mode": ExecutionMode.ORT_SEQUENTIAL, "execution_order": ExecutionOrder.DEFAULT,
                 "enable_cpu_mem_arena": True, "enable_mem_pattern": True, "enable_mem_reuse": True,
                 "log_severity_level": -1, "log_verbosity_level": 0, "logid": "", "use_deterministic_compute": False,
                 "use_per_session_threads": True}

    intra_op_num_threads: int
    enable_profiling: bool
    profile_file_prefix: str
    optimized_model_filepath: str

    def __init__(self) -> None:
        super().__init__()
        self.__dict__["_dimensions"] = {}

    @property
    def fixed_dimensions(self) -> dict[str, int]:
        """The sizes of open dimensions, by their names."""
        dimensions: dict[str, int] = self.__dict__["_dimensions"]
        return dimensions

    def add_free_dimension_override_by_name(self, name: str, size: int) -> None:
        """Fixes an open dimension of the model."""
        self.fixed_dimensions[name] = int(size)

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Changes nothing but get_session_config_entry()."""
        self._add(key, value)

    def get_session_config_entry(self, key: str) -> str:
        """Returns the entry that was added."""
        return self._entry(key)

    def has_providers(self) -> bool:
        """Returns False."""
        return False

    def _refuse(self, name: str) -> NoReturn:
        raise UnsupportedError(f"attune.onnxruntime: SessionOptions.{name} is not supported")

    def add_free_dimension_override_by_denotation(self, denotation: str, size: int) -> NoReturn:
        """Is not supported."""
        self._refuse("add_free_dimension_override_by_denotation")

    def add_initializer(self, name: str, value: Any) -> NoReturn:
        """Is not supported."""
        self._refuse("add_initializer")

    def add_external_initializers(self, names: Any, values: Any) -> NoReturn:
        """Is not supported."""
        self._refuse("add_external_initializers")

    def register_custom_ops_library(self, path: str) -> NoReturn:
        """Is not supported: Attune compiles operators, and calls no others."""
        self._refuse("register_custom_ops_library")


class RunOptions(_Options):
    """Settings of one run, which change nothing."""

    _DEFAULTS = {"log_severity_level": -1, "log_verbosity_level": 0, "logid": "", "only_execute_path_to_fetches": False,
                 "terminate": False, "training_mode": False}

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Changes nothing but get_run_config_entry()."""
        self._add(key, value)

    def get_run_config_entry(self, key: str) -> str:
        """Returns the entry that was added."""
        return self._entry(key)
