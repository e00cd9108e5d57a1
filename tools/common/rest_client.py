"""Asks the service by REST, for scripts and tests."""
import hashlib
import http.client
import json
import re
import time

PIECE = 4 << 20  # bytes of an upload that are sent at a time


class Refused(Exception):
    """The service has answered with a problem."""


class Answer:
    """The status, the headers and the body of a response."""

    def __init__(self, response):
        self.status, self.headers, self.body = response.status, response.headers, response.read()

    def json(self):
        """The body as Python values."""
        return json.loads(self.body)


class Client:
    """Asks the server of a fleet (fleet_members.Fleet) with one token, or with none."""

    def __init__(self, fleet, token=None):
        self._fleet, self._token = fleet, token

    def address(self):
        """HOST:PORT of the server that runs now."""
        return re.findall(r"REST at http://([^/]+)/", self._fleet.server_log())[-1]

    def connect(self):
        """A connection to that server."""
        return http.client.HTTPConnection(self.address())

    def headers(self, more=None):
        """The headers of every request."""
        own = {} if self._token is None else {"Authorization": f"Bearer {self._token}"}
        return {**own, **(more or {})}

    def ask(self, method, path, body=None, headers=None, connection=None):
        """The answer to a request; a body that is not bytes goes as JSON. Without a connection, it gets one of its own."""
        headers = self.headers(headers)
        if body is not None and not isinstance(body, bytes):
            body, headers["Content-Type"] = json.dumps(body), "application/json"
        used = connection or self.connect()
        used.request(method, path, body, headers)
        try:
            return Answer(used.getresponse())
        finally:
            if connection is None:
                used.close()

    def told(self, method, path, body=None):
        """Returns the service's answer, as Python values. Raises Refused."""
        answer = self.ask(method, path, body)
        if answer.status >= 400:
            raise Refused(f"{method} {path}: {answer.status} {answer.body.decode(errors='replace')}")
        return answer.json()

    def await_end(self, job):
        """The job, once it is over."""
        while (shown := self.told("GET", f"/v1/jobs/{job}"))["ended"] is None:
            time.sleep(0.2)
        return shown

    def append(self, digest, offset, piece):
        """Sends a piece of an upload."""
        return self.ask("PATCH", f"/v1/uploads/{digest}", piece,
                        {"Content-Type": "application/offset+octet-stream", "Upload-Offset": str(offset)})

    def upload(self, content):
        """Sends a file, as far as it is not there, and returns its digest."""
        digest = hashlib.sha256(content).hexdigest()
        offset = self._begin_upload(digest, content)
        while offset < len(content):
            sent = self.append(digest, offset, content[offset:offset + PIECE])
            assert sent.status in (204, 409), sent.body
            # Another one may send the same file at the same time.
            offset = int(sent.headers["Upload-Offset"]) if sent.status == 204 else self._begin_upload(digest, content)
        return digest

    def _begin_upload(self, digest, content):
        """How much of a file the service has."""
        begun = self.ask("POST", "/v1/uploads", {"sha256": digest, "bytes": len(content)})
        assert begun.status == 201, begun.body
        return begun.json()["offset"]

    def imported(self, name, digest):
        """The model of an upload, once it is imported."""
        answer = self.ask("POST", "/v1/models", {"name": name, "sha256": digest})
        while answer.status in (200, 201) and answer.json()["state"] == "importing":
            time.sleep(0.01)
            answer = self.ask("GET", f"/v1/models/{answer.json()['id']}")
        assert answer.status in (200, 201), answer.body
        return answer.json()

    def token(self, tenant, role):
        """A client with a new token, which this one's must be allowed to make."""
        made = self.ask("POST", "/v1/tokens", {"name": "test", "tenant": tenant, "role": role})
        assert made.status == 201, made.body
        return Client(self._fleet, made.json()["text"])

    def events(self, job):
        """The events of a job until it is over, as it was at each."""
        connection = self.connect()
        connection.request("GET", f"/v1/jobs/{job}/events", headers=self.headers())
        response = connection.getresponse()
        assert response.status == 200, response.read()
        lines = response.read().decode().splitlines()
        connection.close()
        return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


def first_client(fleet):
    """A client with the token of an administrator that the server has printed when it started for the first time."""
    return Client(fleet, re.search(r"^attune_\S{43}$", fleet.server_log(), re.MULTILINE)[0])
