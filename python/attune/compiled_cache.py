"""The compiled code of open networks, in memory and on disk; the least recently used entry is dropped first."""
from __future__ import annotations

import concurrent.futures
import contextlib
import dataclasses
import hashlib
import os
import pathlib
import stat
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from ._paths import user_folder
from ._values import integer
from .errors import InvalidError

Value = TypeVar("Value")

_DIGEST_BYTES = 32
_ABANDONED_SECONDS = 3600.0  # a file that is still being written after an hour belongs to a process that has died


@dataclasses.dataclass(frozen=True)
class CacheLimits:
    """Limits of the cache: sets of shapes and bytes in memory for each network, files and bytes on disk for all of a
    user.

    files=0 keeps nothing on disk. The latest set of shapes is kept in memory whatever its size is.
    """

    shapes: int = 16
    memory_bytes: int = 2 << 30
    files: int = 256
    disk_bytes: int = 4 << 30

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            if integer(f"CacheLimits: {field.name}", getattr(self, field.name), "int64") < 0:
                raise InvalidError(f"CacheLimits: {field.name} is {getattr(self, field.name)}, and must be at least 0")


class CompiledInMemory(Generic[Value]):
    """Values by key, bounded in number and bytes, each made by one thread while others wait for it. Thread safe."""

    def __init__(self, limits: CacheLimits) -> None:
        self._limits = limits
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._made: OrderedDict[Hashable, tuple[Value, int]] = OrderedDict()  # the one used last is the last one
        self._pending: dict[Hashable, concurrent.futures.Future[Value]] = {}
        self._owner = os.getpid()

    def get(self, key: Hashable, make: Callable[[], Value], bytes_of: Callable[[Value], int]) -> Value:
        """Returns the value for the key, from make() unless it is there. Raises what make() raises."""
        if os.getpid() != self._owner:
            # After a fork, the child has none of the threads that were making a value.
            self._begin()
        while True:
            with self._lock:
                if key in self._made:
                    self._made.move_to_end(key)
                    return self._made[key][0]
                pending = self._pending.get(key)
                if pending is None:
                    mine = self._pending[key] = concurrent.futures.Future()
            if pending is None:
                return self._make(key, mine, make, bytes_of)
            concurrent.futures.wait([pending])
            if not pending.cancelled():
                return pending.result()

    def _make(self, key: Hashable, mine: concurrent.futures.Future[Value], make: Callable[[], Value],
              bytes_of: Callable[[Value], int]) -> Value:
        try:
            value = make()
            num_bytes = bytes_of(value)
        except Exception as error:
            self._end(key)
            mine.set_exception(error)
            raise
        except BaseException:
            # Ctrl-C is this thread's own affair: another one begins anew.
            self._end(key)
            mine.cancel()
            mine.set_running_or_notify_cancel()
            raise
        self._end(key, (value, num_bytes))
        mine.set_result(value)
        return value

    def _end(self, key: Hashable, made: tuple[Value, int] | None = None) -> None:
        with self._lock:
            self._pending.pop(key, None)
            if made is None:
                return
            self._made[key] = made
            while len(self._made) > 1 and (len(self._made) > self._limits.shapes or
                                           sum(size for _, size in self._made.values()) > self._limits.memory_bytes):
                self._made.popitem(last=False)


def default_folder() -> pathlib.Path:
    """Returns attune/compiled in $XDG_CACHE_HOME, else in ~/.cache."""
    return user_folder("XDG_CACHE_HOME", ".cache", "compiled")


class CompiledFiles:
    """Artifacts in a folder, by key. Any number of threads and processes may use it at once.

    A file is the artifact and its SHA-256. Artifacts are native code, so the folder must be writable for its user
    alone. Nothing here raises: without a folder, or with a damaged file, nothing is found.
    """

    def __init__(self, limits: CacheLimits, folder: pathlib.Path | None = None) -> None:
        self._limits = limits
        self._folder = folder or default_folder()

    def _is_own(self) -> bool:
        status = self._folder.lstat()
        return (stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and
                not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))

    def get(self, key: str) -> bytes | None:
        """Returns the artifact that was put there, or None. key: letters and digits."""
        path = self._folder / key
        try:
            if self._limits.files <= 0 or not self._is_own():
                return None
            content = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        artifact, digest = content[:-_DIGEST_BYTES], content[-_DIGEST_BYTES:]
        return artifact if hashlib.sha256(artifact).digest() == digest else None

    def put(self, key: str, artifact: bytes) -> None:
        """Writes it, completely or not at all, and removes others until the limits hold."""
        if self._limits.files <= 0 or len(artifact) + _DIGEST_BYTES > self._limits.disk_bytes:
            return
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._is_own():
                self._write(key, artifact)
                self._prune()

    def _write(self, key: str, artifact: bytes) -> None:
        with tempfile.NamedTemporaryFile(dir=self._folder, prefix=".", delete=False) as file:
            try:
                file.write(artifact)
                file.write(hashlib.sha256(artifact).digest())
                file.close()
                os.replace(file.name, self._folder / key)
            except BaseException:
                os.unlink(file.name)
                raise

    def _prune(self) -> None:
        found = []
        for path in self._folder.iterdir():
            with contextlib.suppress(OSError):  # another process may have removed it
                status = path.stat()
                if not path.name.startswith("."):
                    found.append((status.st_mtime_ns, status.st_size, path))
                elif time.time() - status.st_mtime > _ABANDONED_SECONDS:
                    path.unlink()
        count, total = len(found), sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if count <= self._limits.files and total <= self._limits.disk_bytes:
                break
            with contextlib.suppress(OSError):
                path.unlink()
            count, total = count - 1, total - size
