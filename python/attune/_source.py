"""A model in the forms that load() accepts: a file, a folder, or bytes in memory."""
from __future__ import annotations

import contextlib
import hashlib
import io
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

from .errors import Error, InvalidError, MissingFileError, NotFoundError


def _is(model: Any, module: str, name: str) -> bool:
    """Returns whether it is of a class in a module; False if the module is not imported, since no model is of it
    then."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(model, kind)


def _bytes_of(model: Any) -> bytes:
    """Returns the bytes of an onnx.ModelProto or a torch.export.ExportedProgram, in the form of its file."""
    if _is(model, "torch.export", "ExportedProgram"):
        buffer = io.BytesIO()
        sys.modules["torch.export"].save(model, buffer)
        return buffer.getvalue()
    if _is(model, "torch.nn", "Module"):
        raise InvalidError(f"{type(model).__name__} is a PyTorch module, which has no graph yet: load "
                           "torch.export.export(model.eval(), args), or use torch.compile(model, backend=\"attune\")")
    if not hasattr(model, "SerializeToString"):
        raise InvalidError(f"cannot load a {type(model).__name__}; load a path, the bytes of a file, an onnx.ModelProto or a "
                           "torch.export.ExportedProgram")
    return bytes(model.SerializeToString())


def _files_below(folder: str) -> list[str]:
    return sorted(os.path.join(parent, name) for parent, _, names in os.walk(folder) for name in names)


class ModelSource:
    """A source that a model can be read from repeatedly. Thread safe.

    model: a path, the bytes of a file, an onnx.ModelProto or a torch.export.ExportedProgram.
    """

    def __init__(self, model: Any) -> None:
        self._bytes: bytes | None = None
        self._path = ""
        self._name = f"the {type(model).__name__}"
        self._digest: str | None = None
        self._state: list[tuple[str, int, int]] = []
        if isinstance(model, (str, os.PathLike)):
            self._path = os.fspath(model)
        elif isinstance(model, (bytes, bytearray, memoryview)):
            self._bytes = bytes(model)
        else:
            self._bytes = _bytes_of(model)

    @property
    def name(self) -> str:
        """The path, or what it is instead of a file."""
        return self._path or self._name

    @contextlib.contextmanager
    def file(self) -> Iterator[str]:
        """Yields the path to read it from. Errors of Attune name the object instead of the path."""
        if self._bytes is None:
            yield self._path
            return
        with tempfile.NamedTemporaryFile(prefix="attune-") as file:
            file.write(self._bytes)
            file.flush()
            try:
                yield file.name
            except Error as error:
                raise type(error)(str(error).replace(file.name, self._name)) from None

    def _all_files(self, beside: Sequence[str]) -> list[str]:
        folder = os.path.dirname(self._path)
        if os.path.isdir(self._path):
            return _files_below(self._path)
        if os.path.basename(self._path) == "saved_model.pb":
            return _files_below(folder or ".")
        return [self._path, *(os.path.join(folder, name) for name in beside)]

    def digest(self, beside: Sequence[str]) -> str:
        """Returns the SHA-256 of all its content, hexadecimal. beside: the other files that it has, relative to its folder.

        Raises InvalidError if they have changed since the first call, and NotFoundError if they are gone.
        """
        if self._bytes is not None:
            self._digest = self._digest or hashlib.sha256(self._bytes).hexdigest()
            return self._digest
        try:
            files = self._all_files(beside)
            state = [(file, os.stat(file).st_size, os.stat(file).st_mtime_ns) for file in files]
            if self._digest is not None and state != self._state:
                raise InvalidError(f"{self._path}: has changed since it was loaded; load it again")
            if self._digest is None:
                digest = hashlib.sha256()
                for name in files:
                    with open(name, "rb") as file:
                        digest.update(hashlib.file_digest(file, "sha256").digest())
                self._state, self._digest = state, digest.hexdigest()
        except FileNotFoundError as error:
            raise MissingFileError(f"{error.filename or self._path}: {error.strerror}") from error
        except OSError as error:
            raise NotFoundError(f"{error.filename or self._path}: {error.strerror}") from error
        return self._digest
