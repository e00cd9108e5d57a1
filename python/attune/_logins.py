"""Renews the tokens of logins at identity providers, which `attune login` has begun (src/cli/login_at_issuer.cc)."""
from __future__ import annotations

import base64
import dataclasses
import http.client
import json
import ssl
import threading
import time
import urllib.parse
from collections.abc import Mapping
from typing import Any

from ._servers import KnownServer, changed_servers, keep_tokens, kept_server
from .errors import AccessError, InvalidError, UnavailableError

_SOON = 60.0  # seconds before the end of a token, in which it is renewed
_ISSUER_SECONDS, _MOST_BODY = 5.0, 256 << 10
_SAFE = ("https://", "http://127.0.0.1:", "http://[::1]:", "http://localhost:")


class _Away(Exception):
    """The issuer does not answer now."""


def _ends_within(token: str, seconds: float) -> bool:
    """Returns whether a JSON web token ends within `seconds`; one without an end counts as ended."""
    try:
        claims = token.split(".")[1]
        end = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["exp"]
        return bool(float(end) <= time.time() + seconds)
    except (IndexError, KeyError, TypeError, ValueError):
        return True


def _ask(url: str, form: Mapping[str, str] | None = None) -> tuple[int, Any]:
    """Returns the status of an answer and its JSON, which is None if it has none. With a form, the form is sent."""
    parts = urllib.parse.urlsplit(url)
    host, port = parts.hostname or "", parts.port
    connection = (http.client.HTTPConnection(host, port, timeout=_ISSUER_SECONDS) if parts.scheme == "http" else
                  http.client.HTTPSConnection(host, port, timeout=_ISSUER_SECONDS, context=ssl.create_default_context()))
    headers = {"Accept": "application/json"}
    if form is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    try:
        connection.request("GET" if form is None else "POST", parts.path + ("?" + parts.query if parts.query else ""),
                           None if form is None else urllib.parse.urlencode(form), headers)
        response = connection.getresponse()
        status, body = response.status, response.read(_MOST_BODY)
    except (OSError, http.client.HTTPException) as error:
        raise _Away(f"{url}: {error or type(error).__name__}") from error
    finally:
        connection.close()
    if status >= 500:
        raise _Away(f"{url}: answers with status {status}")
    try:
        return status, json.loads(body)
    except ValueError:
        return status, None


def _text(answer: Any, name: str) -> str:
    value = answer.get(name) if isinstance(answer, dict) else None
    return value if isinstance(value, str) else ""


def _token_endpoint(issuer: str) -> str:
    """Finds the endpoint by https://openid.net/specs/openid-connect-discovery-1_0.html."""
    url = issuer.removesuffix("/") + "/.well-known/openid-configuration"
    if not url.startswith(_SAFE):
        raise InvalidError(f"{issuer}: is neither https:// nor on this machine")
    _, about = _ask(url)
    if _text(about, "issuer") != issuer:
        raise InvalidError(f"{url}: is of the issuer \"{_text(about, 'issuer')}\", not of {issuer}")
    endpoint = _text(about, "token_endpoint")
    if not endpoint.startswith(_SAFE):
        raise InvalidError(f"{url}: has an endpoint \"{endpoint}\" without TLS")
    return endpoint


def _new_tokens(server: KnownServer) -> tuple[str, str]:
    """Returns the next token and the next refresh token."""
    login, again = server.login, f"log in again: attune login {server.url}"
    if login is None or not login.refresh_token:
        raise AccessError(f"the login for {server.url} has ended; {again}")
    status, answer = _ask(_token_endpoint(login.issuer), {"grant_type": "refresh_token", "client_id": login.client_id,
                                                          "refresh_token": login.refresh_token})
    if status != 200:
        why = _text(answer, "error_description") or _text(answer, "error") or f"status {status}"
        raise AccessError(f"issuer {login.issuer} refuses: {why[:500]}; {again}")
    token = _text(answer, "id_token")
    if not token:
        raise AccessError(f"issuer {login.issuer} gives no ID token; {again}")
    # An issuer may keep the refresh token that there is.
    return token, _text(answer, "refresh_token") or login.refresh_token


def renewed(server: KnownServer, is_refused: bool = False) -> KnownServer:
    """Returns the server as it is, or with a new token, which is saved, if that of a login ends soon or is refused.

    Several processes, those of `attune` too, may ask at once: one of them asks the issuer. Raises AccessError if the
    person must log in again.
    """
    if server.login is None or (not is_refused and not _ends_within(server.token, _SOON)):
        return server
    # An issuer may take a refresh token once, so that others wait and find what comes of it.
    with changed_servers() as known:
        kept = kept_server(known, server.url)
        if kept is not None and kept.login is not None:
            if kept.token != server.token and not _ends_within(kept.token, _SOON):
                return kept
            server = dataclasses.replace(server, login=kept.login)
        counts = not is_refused and not _ends_within(server.token, 0)
        if counts and server.login is not None and not server.login.refresh_token:
            return server
        try:
            token, refresh_token = _new_tokens(server)
        except _Away as error:
            if counts:
                return server
            raise UnavailableError(f"the login for {server.url} cannot be renewed now: {error}") from error
        keep_tokens(known, server.url, token, refresh_token)
        assert server.login is not None  # which has given the tokens
        return dataclasses.replace(server, token=token,
                                   login=dataclasses.replace(server.login, refresh_token=refresh_token))


class Token:
    """The token by which a server knows its user; that of a login is renewed in time. Thread safe."""

    def __init__(self, server: KnownServer) -> None:
        self._server, self._lock = server, threading.Lock()

    def text(self) -> str:
        """Returns the token that is valid now."""
        with self._lock:
            self._server = renewed(self._server)
            return self._server.token

    def after(self, refused: str) -> str | None:
        """Returns a token in place of one that the server has refused; None if there is none."""
        with self._lock:
            if self._server.token == refused and self._server.login is not None and self._server.login.refresh_token:
                self._server = renewed(self._server, is_refused=True)
            return self._server.token if self._server.token != refused else None
