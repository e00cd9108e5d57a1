"""The results of `attune sweep` as a table with types, which Parquet can hold.

    results = attune.sweeps.read("trials.sweep")
    fastest = min((row for row in results if row["state"] == "done"), key=lambda row: row["median_ms"])
    results.to_parquet("trials.parquet")
"""
from __future__ import annotations

import csv
import importlib
import os
import pathlib
import re
from collections.abc import Callable, Sequence
from typing import Any

from ._paths import written_whole
from .errors import InvalidError, MissingFileError, UnavailableError

_TEXTS = {"run", "state", "error", "device_fingerprint", "attune_version"}
_COUNTS = {"repeat", "num_inferences", "num_tasks", "num_trials", "artifact_bytes"}
# Integers of 64 bits; longer ones, such as a seed, stay text.
_INTEGER = re.compile(r"-?\d{1,18}")
_NUMBER = re.compile(r"-?\d{1,18}(\.\d+)?([eE][-+]?\d+)?")


def _is_measured(name: str) -> bool:
    """Returns whether a column has measurements; no option has an underscore in its name."""
    return "_" in name or name in ("speedup", "agreement")


def _type_of(name: str, values: Sequence[str]) -> type:
    """Returns the type of a column with these values; empty ones are of any type."""
    if name in _TEXTS:
        return str
    if name in _COUNTS:
        return int
    if _is_measured(name):
        return float
    kinds: tuple[tuple[type, Callable[[str], Any]], ...] = (
        (bool, ("true", "false").__contains__), (int, _INTEGER.fullmatch), (float, _NUMBER.fullmatch))
    given = [value for value in values if value]
    return next((kind for kind, is_of_kind in kinds if given and all(map(is_of_kind, given))), str)


class Results(list[dict[str, Any]]):
    """A row for each run of a sweep: a dict from the names of columns to text, int, float, bool or None.

    types: the type of each column. docs/guides/sweeps.md describes the columns.
    """

    def __init__(self, rows: Sequence[dict[str, Any]], types: dict[str, type]) -> None:
        super().__init__(rows)
        self.types = types

    @property
    def columns(self) -> dict[str, list[Any]]:
        """The values of each column, in the order of the runs."""
        return {name: [row[name] for row in self] for name in self.types}

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Writes a file of Parquet, completely or not at all. Needs the package pyarrow."""
        try:
            arrow, parquet = importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
        except ImportError:
            raise UnavailableError("to_parquet() needs the package pyarrow; install it with pip install pyarrow") from None
        names = {str: arrow.string(), int: arrow.int64(), float: arrow.float64(), bool: arrow.bool_()}
        schema = arrow.schema([(name, names[kind]) for name, kind in self.types.items()])
        with written_whole(pathlib.Path(path)) as file:
            parquet.write_table(arrow.table(self.columns, schema=schema), file)


def read(path: str | os.PathLike[str]) -> Results:
    """Reads the results of a sweep: its folder, also while it runs, or its results.csv. Missing measurements are
    None."""
    file = pathlib.Path(path)
    if file.is_dir():
        file = file / "results.csv"
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.reader(lines, strict=True))
    except FileNotFoundError:
        raise MissingFileError(f"{file}: there is no such file; attune sweep writes it into the folder of a sweep") from None
    except (ValueError, csv.Error) as error:
        raise InvalidError(f"{file}: is not a table of a sweep: {error}") from None
    header = rows.pop(0) if rows else []
    if header[:2] != ["run", "repeat"]:
        raise InvalidError(f"{file}: is not a table of a sweep: it does not begin with the columns run and repeat")
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise InvalidError(f"{file}: row {number} has {len(row)} fields, and the header has {len(header)}")
    types = {name: _type_of(name, [row[index] for row in rows]) for index, name in enumerate(header)}
    return Results([{name: _parse(file, name, types[name], text) for name, text in zip(header, row)} for row in rows],
                   types)


def _parse(file: pathlib.Path, name: str, kind: type, text: str) -> Any:
    if not text:
        return None
    if kind is bool:
        return text == "true"
    try:
        return kind(text)
    except ValueError:
        raise InvalidError(f"{file}: {name}: \"{text}\" is not a number") from None
