"""The steps of an open network, which are replayed for each set of shapes."""
from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any

import numpy

from . import _core
from ._options import COMPILE_DEFAULTS


def _digest_of(value: Any) -> Any:
    """Returns something that json takes instead of an array or an object of another kind."""
    if isinstance(value, numpy.ndarray):
        return [str(value.dtype), value.shape, hashlib.sha256(value.tobytes()).hexdigest()]
    return str(value)


def _state_of_records(options: Mapping[str, Any]) -> list[Any]:
    """Returns a text that differs once the database has other records."""
    if options["cpus"] or options["records"] == "none":
        return []
    state: list[Any] = []
    path = options["records"] or _core.records_path()
    for file in (path, path + "-wal"):
        with contextlib.suppress(OSError):
            status = os.stat(file)
            if status.st_size:
                state.append((os.path.abspath(file), status.st_size, status.st_mtime_ns))
    return state


@dataclasses.dataclass(frozen=True)
class Plan:
    """Optimize and quantize, and how to compile."""

    steps: tuple[tuple[str, dict[str, Any]], ...] = ()  # optimize and quantize, with their arguments
    compiling: dict[str, Any] | None = None
    records: str = ""  # that tune() has written
    threads: int = 1  # options of the latest tune() or compile()

    @property
    def compile_options(self) -> dict[str, Any]:
        """The options of compile(), with the records of tune() unless they name others."""
        options = dict(self.compiling or {**COMPILE_DEFAULTS, "threads": self.threads})
        if not options["records"] and not options["cpus"]:
            options["records"] = self.records
        return options

    def key(self, *parts: Any) -> str:
        """Returns the name of what these steps make of `parts`, such as a model's digest and a set of shapes, with this build
        and the records of now."""
        options = self.compile_options
        all_parts = [_core.build_id(), *parts, self.steps, options, _state_of_records(options)]
        return hashlib.sha256(json.dumps(all_parts, sort_keys=True, default=_digest_of).encode()).hexdigest()
