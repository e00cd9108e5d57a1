"""Files that are sent to a server: the files of a model, and uploads that resume after a break."""
from __future__ import annotations

import dataclasses
import hashlib
import mmap
import os
import pathlib
from collections.abc import Iterator

from ._rest import Answer, ConflictError, Rest
from .errors import InvalidError, NotFoundError

_PIECE = 4 << 20  # bytes, the most that the server takes at once
_MOST_CONFLICTS = 100


@dataclasses.dataclass(frozen=True)
class InputFile:
    """A file of this machine, and the name that it has among the files of a job."""

    name: str
    path: pathlib.Path
    sha256: str
    bytes: int


def input_file(name: str, path: pathlib.Path) -> InputFile:
    """Reads the file."""
    if not path.is_file():
        raise NotFoundError(f"{path}: is not a file")
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return InputFile(name, path, digest, os.fstat(file.fileno()).st_size)


def input_files(setting: str, path: pathlib.Path) -> tuple[str, list[InputFile]]:
    """Returns the value of a setting that names a file or a folder, and its files: all of a folder, those beside an
    ONNX model."""
    path = pathlib.Path(os.path.abspath(path))
    name = f"in/{setting}/{path.name}"
    if not path.is_dir():
        beside = _external_data(path) if path.suffix == ".onnx" else []
        return name, [input_file(name, path), *(input_file(f"in/{setting}/{other}", path.parent / other)
                                                for other in beside)]
    files = []
    for child in sorted(path.rglob("*")):
        if not child.resolve().is_relative_to(path.resolve()):
            raise InvalidError(f"{child}: is a link that leads out of the folder; copy the file there")
        if child.is_file():
            files.append(input_file(f"{name}/{child.relative_to(path).as_posix()}", child))
    if not files:
        raise InvalidError(f"{path}: holds no files")
    return name, files


def send(rest: Rest, file: InputFile) -> None:
    """Sends the bytes that the server lacks, from the end of an earlier attempt on."""
    position, changed = 0, InvalidError(f"{file.path}: has changed while it was being sent; submit again")

    def attempt() -> None:
        nonlocal position
        upload = rest.ask("POST", "/v1/uploads", body={"sha256": file.sha256, "bytes": file.bytes}).json()
        position = int(upload["offset"])
        with file.path.open("rb") as source:
            source.seek(position)
            while not upload["is_complete"] and position < file.bytes:
                piece = source.read(min(_PIECE, file.bytes - position))
                if not piece:
                    raise changed
                _append(rest, file.sha256, position, piece)
                position += len(piece)

    for _ in range(_MOST_CONFLICTS):
        try:
            rest.insist(attempt, lambda: position)
            return
        except ConflictError:  # another program sends the same file, or a piece has arrived though its answer did not
            continue
    raise InvalidError(f"{file.path}: another program keeps sending the same file")


def _append(rest: Rest, sha256: str, offset: int, piece: bytes) -> Answer:
    return rest.ask("PATCH", f"/v1/uploads/{sha256}", body=piece,
                    headers={"Content-Type": "application/offset+octet-stream", "Upload-Offset": str(offset)})


def _external_data(model: pathlib.Path) -> list[str]:
    """Returns the files with tensors that an ONNX model names: they must be below its folder."""
    if not model.is_file() or not model.stat().st_size:
        return []
    with model.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as bytes_of:
        with memoryview(bytes_of) as view:
            try:
                found = {location for graph in _messages(view, 7) for tensor in _tensors(graph)
                         for location in _locations(tensor)}
            except (IndexError, UnicodeDecodeError):
                return []  # a damaged model; the server reports its fault
    for location in found:
        if pathlib.PurePosixPath(location).is_absolute() or ".." in pathlib.PurePosixPath(location).parts:
            raise InvalidError(f"{model}: the file \"{location}\" that it names leaves the model's folder")
    return sorted(str(pathlib.PurePosixPath(location)) for location in found)


def _tensors(graph: memoryview) -> Iterator[memoryview]:
    yield from _messages(graph, 5)  # initializer
    for node in _messages(graph, 1):
        for attribute in _messages(node, 5):
            yield from _messages(attribute, 5)  # t
            for inner in _messages(attribute, 6):  # g
                yield from _tensors(inner)


def _locations(tensor: memoryview) -> Iterator[str]:
    for entry in _messages(tensor, 13):  # external_data
        texts = {number: bytes(value).decode() for number in (1, 2) for value in _messages(entry, number)}
        if texts.get(1) == "location" and texts.get(2):
            yield texts[2]


def _messages(view: memoryview, wanted: int) -> Iterator[memoryview]:
    """Yields the fields of a protobuf message with this number and a length (https://protobuf.dev/programming-guides/encoding)."""
    at = 0
    while at < len(view):
        tag, at = _varint(view, at)
        kind = tag & 7
        if kind == 2:
            size, at = _varint(view, at)
            if at + size > len(view):
                raise IndexError("cut off")
            if tag >> 3 == wanted:
                yield view[at:at + size]
            at += size
        elif kind == 0:
            _, at = _varint(view, at)
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
        else:
            raise IndexError("no protobuf")


def _varint(view: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = view[at]
        value, at, shift = value | (byte & 0x7F) << shift, at + 1, shift + 7
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise IndexError("no protobuf")
