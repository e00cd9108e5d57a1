"""A client of the service, by REST."""
import hashlib
import http.client
import json
import time

PIECE = 4 << 20  # bytes of an upload that are sent at once


class Refused(Exception):
    """The service has answered with a problem."""


class Client:
    """Asks the server at an address ("127.0.0.1:9193") with a token, over one connection."""

    def __init__(self, address, token):
        self._connection = http.client.HTTPConnection(address, timeout=300)
        self._token = token

    def ask(self, method, path, body=None, headers=None):
        """The body of the answer as Python values, or its bytes if they are no JSON. Raises Refused."""
        headers = {"Authorization": f"Bearer {self._token}", **(headers or {})}
        if body is not None and not isinstance(body, bytes):
            body, headers["Content-Type"] = json.dumps(body), "application/json"
        self._connection.request(method, path, body, headers)
        response = self._connection.getresponse()
        content = response.read()
        if response.status >= 400:
            raise Refused(f"{method} {path}: {response.status} {content.decode(errors='replace')}")
        return json.loads(content) if response.headers.get_content_type() == "application/json" else content

    def upload(self, content):
        """Sends a file; returns its digest."""
        digest = hashlib.sha256(content).hexdigest()
        offset = self.ask("POST", "/v1/uploads", {"sha256": digest, "bytes": len(content)})["offset"]
        while offset < len(content):
            piece = content[offset:offset + PIECE]
            self.ask("PATCH", f"/v1/uploads/{digest}", piece,
                     {"Content-Type": "application/offset+octet-stream", "Upload-Offset": str(offset)})
            offset += len(piece)
        return digest

    def await_end(self, job, poll_s=0.2):
        """The job, once it is over."""
        while (shown := self.ask("GET", f"/v1/jobs/{job}"))["ended"] is None:
            time.sleep(poll_s)
        return shown
