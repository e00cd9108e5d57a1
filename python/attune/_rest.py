"""Asks a server by REST: retries, problems as exceptions, server-sent events."""
from __future__ import annotations

import contextlib
import dataclasses
import email.message
import email.utils
import hashlib
import http.client
import json
import random
import socket
import ssl
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from ._logins import Token
from ._servers import KnownServer
from .errors import (AccessError, Error, InternalError, InvalidError, NotFoundError, UnavailableError,
                     UnsupportedError)

T = TypeVar("T")

_CONNECT_SECONDS, _SILENT_SECONDS = 10.0, 60.0
_FIRST_PAUSE, _MOST_PAUSE, _MOST_RETRY_AFTER = 0.5, 10.0, 300.0  # seconds
_MOST_BODY, _MOST_EVENT = 16 << 20, 4 << 20  # bytes
_PASSING, _UNAUTHORIZED = (429, 502, 503, 504), 401
_ERRORS: dict[int, type[Error]] = {400: InvalidError, 401: AccessError, 403: AccessError, 404: NotFoundError,
                                   405: NotFoundError, 409: InvalidError, 413: InvalidError, 415: InvalidError,
                                   422: InvalidError, 501: UnsupportedError}


class ConflictError(InvalidError):
    """The object of a request has changed meanwhile."""


class _Refused(Exception):
    """The server's answer asks to come again later."""

    def __init__(self, why: str, after: float) -> None:
        super().__init__(why)
        self.after = after


@dataclasses.dataclass(frozen=True)
class Answer:
    """A response."""

    status: int
    headers: email.message.Message
    body: bytes

    def json(self) -> dict[str, Any]:
        """Returns the body as Python values."""
        try:
            value = json.loads(self.body)
        except ValueError as error:
            raise InternalError("the server answers without JSON") from error
        if not isinstance(value, dict):
            raise InternalError("the server answers with JSON that is not an object")
        return value


@dataclasses.dataclass(frozen=True)
class Event:
    """A server-sent event."""

    id: str
    kind: str
    data: str


def part(text: str) -> str:
    """Returns the text as a part of a path."""
    return urllib.parse.quote(text, safe="")


def key_digest(certificate: bytes) -> str:
    """Returns the SHA-256 of the public key (SubjectPublicKeyInfo) of a certificate in DER."""

    def element(at: int) -> tuple[int, int]:  # where the content and the next element begin
        length, content = certificate[at + 1], at + 2
        if length >= 0x80:
            size = length & 0x7F
            length, content = int.from_bytes(certificate[content:content + size], "big"), content + size
        return content, content + length

    at = element(element(0)[0])[0]  # Certificate, TBSCertificate
    if certificate[at] == 0xA0:  # the version
        at = element(at)[1]
    for _ in ("serialNumber", "signature", "issuer", "validity", "subject"):
        at = element(at)[1]
    return hashlib.sha256(certificate[at:element(at)[1]]).hexdigest()


def _context_for(server: KnownServer) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cadata=server.authorities or None)
    except ssl.SSLError as error:
        raise InvalidError(f"{server.url}: the certificates that authenticate it cannot be used: {error}") from error
    if server.pinned_key:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _retry_after(headers: email.message.Message) -> float:
    text = headers.get("Retry-After", "")
    try:
        seconds = float(text) if text.isdigit() else email.utils.parsedate_to_datetime(text).timestamp() - time.time()
    except (TypeError, ValueError):
        return 0.0
    return min(max(seconds, 0.0), _MOST_RETRY_AFTER)


class Rest:
    """One server, with one token. Any number of threads may use it; each has a connection of its own."""

    def __init__(self, server: KnownServer, retries: int = 8, sleep: Callable[[float], None] = time.sleep) -> None:
        self.server, self._retries, self._sleep = server, retries, sleep
        self._token = Token(server)
        self._url = urllib.parse.urlsplit(server.url)
        self._context = _context_for(server) if self._url.scheme == "https" else None
        self._local = threading.local()

    def ask(self, method: str, path: str, *, query: Mapping[str, Any] | None = None, body: Any = None,
            headers: Mapping[str, str] | None = None) -> Answer:
        """Sends a request that counts once however often it is sent, and returns the answer; a body that is not bytes
        goes as JSON.

        It is sent again, after pauses that grow or that the server asks for, while the server is away or busy.
        """
        given = {"Accept": "application/json", **(headers or {})}
        if body is not None and not isinstance(body, bytes):
            body, given["Content-Type"] = json.dumps(body).encode(), "application/json"
        target = path + ("?" + urllib.parse.urlencode(query) if query else "")
        return self._insist(lambda: self._ask_once(method, target, body, given))

    @contextlib.contextmanager
    def open(self, path: str, headers: Mapping[str, str] | None = None,
             silent: float = _SILENT_SECONDS) -> Iterator[http.client.HTTPResponse]:
        """Opens an answer to be read piece by piece, on a connection of its own; for insist()."""
        with contextlib.ExitStack() as opened:
            def begin(token: str) -> http.client.HTTPResponse:
                connection = opened.enter_context(contextlib.closing(self._connect()))
                connection.sock.settimeout(silent)
                connection.request("GET", path, headers=_with_token(token, headers or {}))
                return connection.getresponse()

            token = self._token.text()
            response = begin(token)
            if response.status == _UNAUTHORIZED and (other := self._token.after(token)):
                response = begin(other)
            if response.status // 100 != 2:
                self._raise(response.status, response.headers, response.read(_MOST_BODY))
            yield response

    def insist(self, attempt: Callable[[], None], position: Callable[[], int]) -> None:
        """Repeats the attempt while the server is away, and gives up when the position no longer moves."""
        self._insist(attempt, position)

    def events(self, path: str, deadline: float | None = None) -> Iterator[Event | None]:
        """Yields events across connections that break, until the server has no more; None at signs of life and after
        breaks.

        `deadline`, by time.monotonic(), bounds the waits; the caller ends the iteration.
        """
        last, failures = "", 0
        while True:
            after = 0.0
            try:
                silent = _SILENT_SECONDS if deadline is None else max(deadline - time.monotonic(), 0.01)
                given = {"Accept": "text/event-stream", **({"Last-Event-ID": last} if last else {})}
                with self.open(path, given, min(silent, _SILENT_SECONDS)) as stream:
                    if stream.status == 204:
                        return
                    if stream.headers.get_content_type() != "text/event-stream":
                        raise InternalError(f"{self.server.url}: sends no events")
                    for event in _events_of(stream):
                        if event is not None:
                            last, failures = event.id or last, 0
                        yield event
            except (_Refused, OSError, http.client.HTTPException) as error:
                after = error.after if isinstance(error, _Refused) else 0.0
            yield None
            failures += 1
            left = _MOST_RETRY_AFTER if deadline is None else max(0.0, deadline - time.monotonic())
            self._sleep(min(max(after, _pause(failures)), left))

    def _insist(self, attempt: Callable[[], T], position: Callable[[], int] | None = None) -> T:
        tries, before = 0, None if position is None else position()
        while True:
            try:
                return attempt()
            except (_Refused, OSError, http.client.HTTPException) as error:
                now = None if position is None else position()
                tries, before = (1 if now != before else tries + 1), now
                if tries >= self._retries:
                    raise UnavailableError(f"{self.server.url}: {error or type(error).__name__}") from error
                self._sleep(max(error.after if isinstance(error, _Refused) else 0.0, _pause(tries)))

    def _connect(self) -> http.client.HTTPConnection:
        host, port = self._url.hostname or "", self._url.port
        if self._context is None:
            connection = http.client.HTTPConnection(host, port, timeout=_CONNECT_SECONDS)
        else:
            connection = http.client.HTTPSConnection(host, port, timeout=_CONNECT_SECONDS, context=self._context)
        try:
            connection.connect()
        except ssl.SSLCertVerificationError as error:
            raise AccessError(f"{self.server.url}: no trusted authority vouches for this server "
                              f"({error.verify_message})") from error
        connection.sock.settimeout(_SILENT_SECONDS)
        if self.server.pinned_key and isinstance(connection.sock, ssl.SSLSocket):
            shown = connection.sock.getpeercert(binary_form=True) or b""
            if key_digest(shown) != self.server.pinned_key:
                connection.close()
                raise AccessError(f"{self.server.url}: its certificate does not have the pinned key; if that is its "
                                  "authority's, log in with --ca")
        return connection

    def _ask_once(self, method: str, target: str, body: bytes | None, headers: dict[str, str]) -> Answer:
        token = self._token.text()
        answer = self._exchange(method, target, body, _with_token(token, headers))
        if answer.status == _UNAUTHORIZED and (other := self._token.after(token)):
            answer = self._exchange(method, target, body, _with_token(other, headers))
        if answer.status // 100 != 2:
            self._raise(answer.status, answer.headers, answer.body)
        return answer

    def _exchange(self, method: str, target: str, body: bytes | None, headers: dict[str, str]) -> Answer:
        """Sends a request, and returns the answer of whatever status."""
        connection = getattr(self._local, "connection", None)
        if connection is not None and _is_dead(connection):
            connection.close()
            connection = None
        connection = connection or self._connect()
        self._local.connection = None
        try:
            connection.request(method, target, body, headers)
            response = connection.getresponse()
            content = response.read(_MOST_BODY)
            is_whole = response.isclosed()
        except BaseException:
            connection.close()
            raise
        if not is_whole:
            connection.close()
            if len(content) < _MOST_BODY:
                raise http.client.IncompleteRead(content)
            raise InternalError(f"{self.server.url}: its answer has more than {_MOST_BODY} bytes")
        if connection.sock is not None:
            self._local.connection = connection
        return Answer(response.status, response.headers, content)

    def _raise(self, status: int, headers: email.message.Message, body: bytes) -> None:
        detail = f"answers with status {status}"
        if headers.get_content_type() == "application/problem+json":
            with contextlib.suppress(ValueError, AttributeError):
                detail = str(json.loads(body).get("detail", detail))[:2000]
        if status in _PASSING:
            raise _Refused(detail, _retry_after(headers))
        if status == 409:
            raise ConflictError(detail)
        raise _ERRORS.get(status, InternalError)(f"{self.server.url}: {detail}" if status in (401, 500) else detail)


def _with_token(token: str, headers: Mapping[str, str]) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", **headers}


def _pause(failures: int) -> float:
    pause = min(_FIRST_PAUSE * 2 ** min(failures - 1, 10), _MOST_PAUSE)
    return random.uniform(pause / 2, pause)


def _is_dead(connection: http.client.HTTPConnection) -> bool:
    """Returns whether the server has closed the connection, or has sent unexpected bytes."""
    if connection.sock is None:
        return True
    connection.sock.settimeout(0)
    try:
        raw = socket.socket.recv(connection.sock, 1, socket.MSG_PEEK) if not isinstance(
            connection.sock, ssl.SSLSocket) else connection.sock.recv(1)
        return len(raw) >= 0  # the end, or bytes
    except (BlockingIOError, ssl.SSLWantReadError):
        return False
    except OSError:
        return True
    finally:
        connection.sock.settimeout(_SILENT_SECONDS)


def _events_of(stream: http.client.HTTPResponse) -> Iterator[Event | None]:
    """Yields the events of one connection (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""
    identity, kind, size = "", "", 0
    data: list[str] = []
    while line := stream.readline(_MOST_EVENT + 1):
        size += len(line)
        if size > _MOST_EVENT:
            raise InternalError("the server sends an event that is too large")
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if not text:
            if data:
                yield Event(identity, kind or "message", "\n".join(data))
            kind, data, size = "", [], 0
            continue
        name, _, value = text.partition(":")
        value = value.removeprefix(" ")
        if not name:
            yield None  # a comment: the server lives
        elif name == "data":
            data.append(value)
        elif name == "event":
            kind = value
        elif name == "id":
            identity = value
