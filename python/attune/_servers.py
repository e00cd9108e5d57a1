"""The servers that this user knows: the file that `attune login` writes (src/service/client/known_servers.h)."""
from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import re
import stat
import urllib.parse
from typing import Any

from ._paths import user_folder
from .errors import AccessError, InvalidError, NotFoundError

_LOOPBACK = re.compile(r"localhost|::1|127\.[0-9.]+")


@dataclasses.dataclass(frozen=True)
class KnownServer:
    """A server, and how to reach it."""

    url: str  # "https://host:9193"
    token: str = ""
    authorities: str = ""  # certificates in PEM that vouch for it; empty: the system's do
    pinned_key: str = ""  # SHA-256 of the public key of its certificate


def server_url(text: str) -> str:
    """The address without a path; refuses one to which a token would go in the clear."""
    try:
        parts = urllib.parse.urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise InvalidError(f"{text}: is no URL such as https://host:9193") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise InvalidError(f"{text}: is no URL such as https://host:9193")
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


def find_server(server: str | None, token: str | None) -> KnownServer:
    """The server and the token that are given, else those of $ATTUNE_URL and $ATTUNE_TOKEN, else of `attune login`."""
    known = _load()
    named = server or os.environ.get("ATTUNE_URL")
    url = server_url(named) if named else known.get("default")
    if not isinstance(url, str):
        raise NotFoundError("no server is known; name one, https://HOST:9193, or keep one by attune login")
    kept = known.get("servers", {}).get(url)
    texts = {name: value for name, value in kept.items() if isinstance(value, str)} if isinstance(kept, dict) else {}
    found = token or os.environ.get("ATTUNE_TOKEN") or texts.get("token")
    if not found:
        raise AccessError(f"no token for {url} is known; attune login {url} keeps one; or give one, or set ATTUNE_TOKEN")
    return KnownServer(url, found, texts.get("authorities", ""), texts.get("pinned_key", ""))
