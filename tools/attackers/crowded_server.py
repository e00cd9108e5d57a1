"""Measures how a server answers one user while another one takes all that it gives.

crowded_server.py       starts a server; beside 2,000 silent connections from 127.0.0.1, then 2,000 TLS handshakes that
                        stop halfway, then 2,000 streams of events of one token, then 200 random requests a second, a
                        user of another tenant asks from 127.0.0.2. Prints how many answers came and how late the
                        slowest ones were; exits with 1 if a request of that user was not answered as it should be.

Connections that the server closes are opened again every second.
"""
import argparse
import collections
import hashlib
import http.client
import json
import multiprocessing
import os
import pathlib
import random
import re
import resource
import select
import socket
import ssl
import sys
import tempfile
import time

from attackers.request_edges import Document, is_stream
from common.fleet_members import Member
from common.program import PROGRAM, run_tool
from common.waiting import await_true

ATTACKER, NEIGHBOUR = "127.0.0.1", "127.0.0.2"
AGAIN_S = 1  # until what was closed is opened again
PATIENCE_S = 30  # of the neighbour, for one answer
# Texts of random requests that the server knows, or could.
KNOWN = ("crowd", "neighbour", "mock", "in/x", "0" * 64)


class Server:
    """A server in a folder, with the token of its administrator."""

    def __init__(self, folder, is_encrypted, options):
        self._chain = None
        more = list(options)
        if is_encrypted:
            self._chain, key = folder / "chain.pem", folder / "key.pem"
            run_tool("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                     "-days", "1", "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key,
                     "-out", self._chain)
            more += ["--http-tls", self._chain, key]
        self.member = Member([PROGRAM, "server", "--state", folder / "state", "--listen", "127.0.0.1:0", "--enrolment",
                              "127.0.0.1:0", "--http", "127.0.0.1:0", *more], folder / "log")
        pattern = re.compile(r"REST at https?://([^/]+):(\d+)/.*^(attune_\S{43})$", re.DOTALL | re.MULTILINE)
        found = await_true("the server listens", lambda: self._is_there() and pattern.search(self.member.log.read_text()),
                           0.05)
        self.host, self.port, self.admin = found[1], int(found[2]), found[3]

    def _is_there(self):
        """True. Raises SystemExit if the server has ended."""
        if self.member.ended() is not None:
            raise SystemExit(f"the server has ended: {self.member.log.read_text()[-500:]}")
        return True

    def connect(self, source):
        """A connection from an address of this machine."""
        if self._chain is None:
            return http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE_S, source_address=(source, 0))
        return http.client.HTTPSConnection(self.host, self.port, timeout=PATIENCE_S, source_address=(source, 0),
                                           context=ssl.create_default_context(cafile=self._chain))

    def ask(self, source, token, method, path, body=None, content_type="application/json", headers=None):
        """The status and the body of the answer, by a connection of its own."""
        connection = self.connect(source)
        try:
            more = {"Authorization": f"Bearer {token}"} if token else {}
            more |= {"Content-Type": content_type} if body is not None else {}
            connection.request(method, path, body, {**more, **(headers or {})})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def token(self, tenant, role):
        """The text of a new token."""
        status, body = self.ask(NEIGHBOUR, self.admin, "POST", "/v1/tokens",
                                json.dumps({"name": "test", "tenant": tenant, "role": role}))
        assert status == 201, body
        return json.loads(body)["text"]


def hold(server, greeting, count, stop, is_ready):
    """Keeps this many connections, each of which has sent the greeting and sends nothing more, until it is stopped."""
    most = count + 100
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, max(most, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
    poll, connections = select.poll(), {}
    while not stop.is_set():
        while len(connections) < count:
            connection = socket.socket()
            connection.bind((ATTACKER, 0))
            connection.setblocking(False)
            connection.connect_ex((server.host, server.port))
            connections[connection.fileno()] = connection
            poll.register(connection, select.POLLOUT)
        again = time.monotonic() + AGAIN_S
        while (left := again - time.monotonic()) > 0 and not stop.is_set():
            for number, events in poll.poll(1000 * left):
                try:
                    if events & select.POLLOUT:
                        connections[number].send(greeting)
                        poll.modify(number, select.POLLIN)
                    elif not connections[number].recv(1 << 16):
                        raise ConnectionResetError
                except OSError:
                    poll.unregister(number)
                    connections.pop(number).close()
        is_ready.set()
    for connection in connections.values():
        connection.close()


def silent(server, options, stop, is_ready):
    """Connects and says nothing."""
    hold(server, b"", options.connections, stop, is_ready)


def half_open(server, options, stop, is_ready):
    """Says half of what begins a TLS handshake."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context()
    handshake = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
    try:
        handshake.do_handshake()
    except ssl.SSLWantReadError:
        pass
    hello = outgoing.read()
    hold(server, hello[:len(hello) // 2], options.connections, stop, is_ready)


def streams(server, options, stop, is_ready):
    """Follows all jobs, again and again, with one token."""
    token = server.token("crowd", "viewer")
    request = f"GET /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n"
    hold(server, request.encode(), options.connections, stop, is_ready)


def requests(server, options, stop, is_ready):
    """Sends requests as tools/attackers/fuzz_requests.py draws them, at a steady rate."""
    chance, token = random.Random(options.seed), server.token("crowd", "member")
    document = Document(json.loads(server.ask(ATTACKER, token, "GET", "/v1/openapi.json")[1]))
    operations = [operation for operation in document.operations() if not is_stream(operation[2])]
    connection, late = server.connect(ATTACKER), time.monotonic()
    while not stop.is_set():
        method, path, headers, body = document.drawn_request(chance.choice(operations), KNOWN, chance)
        try:
            connection.request(method, path, body, {**headers, "Authorization": f"Bearer {token}"})
            connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            connection.close()
        is_ready.set()
        late += 1 / options.rate
        time.sleep(max(0, late - time.monotonic()))
    connection.close()


def work(server, token, number):
    """One request of a working user, or two; returns the statuses that came, and those that should."""
    def ask(*request):
        return server.ask(NEIGHBOUR, token, *request)[0]
    if number % 5 == 4:
        content = os.urandom(16)
        digest = hashlib.sha256(content).hexdigest()
        return [ask("POST", "/v1/uploads", json.dumps({"sha256": digest, "bytes": len(content)})),
                ask("PATCH", f"/v1/uploads/{digest}", content, "application/offset+octet-stream",
                    {"Upload-Offset": "0"})], [201, 204]
    if number % 25 == 3:
        job = {"name": "work", "kind": "mock", "settings": {"stages": [{"name": "work", "seconds": 0}]}}
        return [ask("POST", "/v1/jobs", json.dumps(job))], [201]
    return [ask("GET", ("/v1/me", "/v1/jobs", "/v1/devices", "/v1/models")[number % 5])], [200]


def measure(server, token, seconds):
    """The latencies of the neighbour's requests, in ms, and what went wrong."""
    latencies, wrong = [], collections.Counter()
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(latencies) < 5:
        before = time.monotonic()
        try:
            came, should = work(server, token, len(latencies))
        except (OSError, http.client.HTTPException) as error:
            came, should = type(error).__name__, "an answer"
        latencies.append(1e3 * (time.monotonic() - before))
        if came != should:
            wrong[f"{came} instead of {should}"] += 1
    return latencies, wrong


def percentile(latencies, share):
    """The latency that so large a share is below."""
    return sorted(latencies)[min(len(latencies) - 1, int(share * len(latencies)))]


def beside(attack, server, options):
    """Measures beside one attack; returns whether every request was answered."""
    token = server.token("neighbour", "member")
    stop, is_ready = multiprocessing.Event(), multiprocessing.Event()
    crowd = multiprocessing.Process(target=attack, args=(server, options, stop, is_ready), daemon=True)
    crowd.start()
    try:
        await_true("the crowd is there", lambda: is_ready.is_set() or not crowd.is_alive(), 0.05)
        latencies, wrong = measure(server, token, options.seconds)
        assert crowd.is_alive(), "the crowd has ended"
    finally:
        stop.set()
        crowd.join()
    print(f"beside {attack.__name__}: {len(latencies)} requests, {sum(wrong.values())} not answered, latency p50 "
          f"{percentile(latencies, 0.5):.1f} ms, p99 {percentile(latencies, 0.99):.1f} ms, all within "
          f"{max(latencies):.1f} ms", flush=True)
    for what, count in wrong.most_common(3):
        print(f"  {count} times: {what}", file=sys.stderr)
    return not wrong


def run(options, server_options=()):
    """Measures beside each attack; returns whether every request was answered."""
    is_right = True
    for attacks, is_encrypted in (((silent, streams, requests), False), ((silent, half_open), True)):
        with tempfile.TemporaryDirectory() as folder:
            server = Server(pathlib.Path(folder), is_encrypted, server_options)
            try:
                for attack in attacks:
                    is_right = beside(attack, server, options) and is_right
                is_right = is_right and server.member.ended() is None
            finally:
                server.member.kill()
    return is_right


def parsed(arguments=None):
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=2000, help="connections of the one who takes all")
    parser.add_argument("--rate", type=float, default=200, help="random requests a second")
    parser.add_argument("--seconds", type=float, default=40, help="beside each")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(0 if run(parsed()) else 1)
