"""The servers that this user knows: the file that `attune login` writes (src/service/client/known_servers.h)."""
from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import json
import os
import pathlib
import re
import stat
import tempfile
import urllib.parse
from collections.abc import Iterator
from typing import Any

from ._paths import user_folder
from .errors import AccessError, InvalidError, NotFoundError

_LOOPBACK = re.compile(r"localhost|::1|127\.[0-9.]+")


@dataclasses.dataclass(frozen=True)
class Login:
    """The login at an identity provider that renews a token."""

    issuer: str
    client_id: str
    refresh_token: str = ""  # empty: it is not


@dataclasses.dataclass(frozen=True)
class KnownServer:
    """A server, and how to reach it."""

    url: str  # "https://host:9193"
    token: str = ""
    login: Login | None = None  # None: the token is no person's, or does not come from a provider
    authorities: str = ""  # certificates in PEM that authenticate it; empty: the system's do
    pinned_key: str = ""  # SHA-256 of the public key of its certificate


def server_url(text: str) -> str:
    """Returns the address without a path; refuses one to which a token would go in the clear."""
    try:
        parts = urllib.parse.urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise InvalidError(f"{text}: is not a URL such as https://host:9193") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise InvalidError(f"{text}: is not a URL such as https://host:9193")
    if parts.path not in ("", "/"):
        raise InvalidError(f"{text}: the address of a server has no path")
    if parts.scheme == "http" and not _LOOPBACK.fullmatch(parts.hostname):
        raise InvalidError(f"{text}: your token would cross the network in the clear; use https")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    is_usual = port is None or port == {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" + ("" if is_usual else f":{port}")


def _path() -> pathlib.Path:
    named = os.environ.get("ATTUNE_SERVERS")
    return pathlib.Path(named) if named else user_folder("XDG_CONFIG_HOME", ".config", "servers.json")


def _load() -> dict[str, Any]:
    path = _path()
    try:
        with path.open(encoding="utf-8") as file:
            if os.fstat(file.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
                raise AccessError(f"{path}: others may read or write it; chmod 600 {path}")
            known = json.load(file)
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise InvalidError(f"{path}: is damaged; remove it, and log in again") from error
    if not isinstance(known, dict) or not isinstance(known.get("servers", {}), dict):
        raise InvalidError(f"{path}: is damaged; remove it, and log in again")
    return known


@contextlib.contextmanager
def changed_servers() -> Iterator[dict[str, Any]]:
    """Yields the content of the file, to be changed within a with statement and then written. Holds the file's lock
    meanwhile."""
    path = _path()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise AccessError(f"{path}: cannot be changed: {error.strerror}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)  # as the command line does
        known = _load()
        before = json.dumps(known)
        yield known
        if json.dumps(known) != before:
            _save(path, known)
    finally:
        os.close(lock)


def _save(path: pathlib.Path, known: dict[str, Any]) -> None:
    """Writes the file, completely or not at all, for its owner alone."""
    try:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=".", delete=False) as file:
            try:
                file.write(json.dumps(known, indent=2, ensure_ascii=False) + "\n")
                file.flush()
                os.fsync(file.fileno())
                os.replace(file.name, path)
            except BaseException:
                os.unlink(file.name)
                raise
    except OSError as error:
        raise AccessError(f"{path}: cannot be written: {error.strerror}") from error


def _texts_of(known: dict[str, Any], url: str) -> dict[str, str]:
    kept = known.get("servers", {}).get(url)
    return {name: value for name, value in kept.items() if isinstance(value, str)} if isinstance(kept, dict) else {}


def kept_server(known: dict[str, Any], url: str) -> KnownServer | None:
    """Returns the server as saved in the file; None if its token is not known."""
    texts = _texts_of(known, url)
    if not texts.get("token"):
        return None
    login = Login(texts["issuer"], texts.get("client_id", ""), texts.get("refresh_token", "")) if texts.get("issuer") else None
    return KnownServer(url, texts["token"], login, texts.get("authorities", ""), texts.get("pinned_key", ""))


def keep_tokens(known: dict[str, Any], url: str, token: str, refresh_token: str) -> None:
    """Replaces the tokens of a server, unless it was forgotten meanwhile."""
    kept = known.get("servers", {}).get(url)
    if isinstance(kept, dict):
        kept.update(token=token, refresh_token=refresh_token)


def find_server(server: str | None, token: str | None) -> KnownServer:
    """Returns the given server and token, else those of $ATTUNE_URL and $ATTUNE_TOKEN, else those of `attune login`."""
    known = _load()
    named = server or os.environ.get("ATTUNE_URL")
    url = server_url(named) if named else known.get("default")
    if not isinstance(url, str):
        raise NotFoundError("no server is known; name one, https://HOST:9193, or save one with attune login")
    given = token or os.environ.get("ATTUNE_TOKEN")
    if given:
        texts = _texts_of(known, url)
        return KnownServer(url, given, None, texts.get("authorities", ""), texts.get("pinned_key", ""))
    kept = kept_server(known, url)
    if kept is None:
        raise AccessError(f"no token for {url} is known; attune login {url} saves one; or give one, or set ATTUNE_TOKEN")
    return kept
