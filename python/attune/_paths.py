"""Folders of the user's, and files that are written as a whole."""
from __future__ import annotations

import contextlib
import os
import pathlib
from collections.abc import Iterator


def user_folder(variable: str, fallback: str, name: str) -> pathlib.Path:
    """Returns attune/NAME in the folder that an XDG variable names, else in `fallback` of the home folder."""
    folder = os.environ.get(variable)
    return (pathlib.Path(folder) if folder else pathlib.Path.home() / fallback) / "attune" / name


@contextlib.contextmanager
def written_whole(path: pathlib.Path) -> Iterator[pathlib.Path]:
    """Yields a file beside the path, which replaces the path at the end; removed after an error."""
    unfinished = path.with_name(path.name + ".unfinished")
    try:
        yield unfinished
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
