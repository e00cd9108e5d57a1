"""attune.Client with a server that misbehaves; tests/service/clients_test.py has it with the real one."""
import base64
import concurrent.futures
import contextlib
import hashlib
import http.server
import json
import pathlib
import threading
import time
import urllib.parse

import pytest

import attune
from attune._servers import server_url
from attune._uploads import input_files

CONTENT = b"0123456789" * 1000
FILE = {"name": "out/data", "sha256": hashlib.sha256(CONTENT).hexdigest(), "bytes": len(CONTENT)}


def shown(state):
    """Returns the server's answer about a job."""
    return {"id": "net-1", "state": state, "error": "", "progress": "", "files": [FILE],
            "promises": [{"name": "latency_mean", "state": "met", "limit": 5, "evidence": ["measured"]}]}


class Server(http.server.ThreadingHTTPServer):
    """Answers by a function of the request's handler; keeps what was asked."""

    daemon_threads = True

    def __init__(self, answer):
        self.asked, owner = [], self

        class Handler(http.server.BaseHTTPRequestHandler):
            """One request a connection, unless the answer says otherwise."""

            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                """Says nothing."""

            def handle_any(self):
                """Keeps the request, and answers."""
                self.sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                owner.asked.append((self.command, self.path, dict(self.headers.items()), self.sent))
                with contextlib.suppress(OSError):
                    answer(self, len(owner.asked))

            def say(self, body, status=200, kind="application/json", headers=(), length=None):
                """Sends an answer; `length` may be wrong."""
                body = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                for name, value in (("Content-Type", kind), *headers):
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body) if length is None else length))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_PATCH = handle_any

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


@pytest.fixture(name="serve")
def serve_fixture(monkeypatch, tmp_path):
    """Starts servers with clients, whose pauses take no time."""
    monkeypatch.setenv("ATTUNE_SERVERS", str(tmp_path / "servers.json"))
    monkeypatch.setattr("attune._rest._pause", lambda failures: 0.0)
    servers = []

    def serve(answer):
        servers.append(Server(answer))
        return servers[-1], attune.Client(f"http://127.0.0.1:{servers[-1].server_address[1]}", "attune_x")
    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_busy_or_broken_server_is_asked_again(serve):
    """With what it asks for between."""
    def answer(handler, number):
        if number == 1:
            handler.say({}, 503, headers=[("Retry-After", "0")])
        elif number == 2:
            handler.close_connection = True  # without a word
        elif number == 3:
            handler.say(b'{"cut', length=1000)
            handler.close_connection = True
        else:
            handler.say({"name": "x"})
    server, client = serve(answer)
    assert client.me() == {"name": "x"}
    assert len(server.asked) == 4
    assert server.asked[0][2]["Authorization"] == "Bearer attune_x"


def test_a_server_that_stays_away_is_given_up(serve):
    """After as many attempts as are wanted."""
    server, client = serve(lambda handler, _: handler.say({"detail": "too busy"}, 503, "application/problem+json"))
    with pytest.raises(attune.UnavailableError, match="too busy"):
        client.me()
    assert len(server.asked) == 8


@pytest.mark.parametrize("status, error", [(400, attune.InvalidError), (401, attune.AccessError),
                                           (403, attune.AccessError), (404, attune.NotFoundError),
                                           (422, attune.InvalidError), (500, attune.InternalError)])
def test_a_refusal_is_an_exception_of_its_kind(serve, status, error):
    """Which is not tried again."""
    server, client = serve(lambda handler, _: handler.say({"detail": "a sentence"}, status, "application/problem+json"))
    with pytest.raises(error, match="a sentence"):
        client.me()
    assert len(server.asked) == 1


def test_events_go_on_after_a_break(serve):
    """By the id of the last one."""
    def answer(handler, number):
        state = "running" if number == 1 else "done"
        if handler.path.endswith("/events"):
            text = f": alive\n\nid: {number}\nevent: job\ndata: {json.dumps(shown(state))}\n\nid: cut\ndata: x"
            handler.say(text.encode(), kind="text/event-stream", length=10**6)
            handler.close_connection = True
        else:
            handler.say(shown("running" if not any(path.endswith("events") for _, path, _, _ in server.asked) else "done"))
    server, client = serve(answer)
    job = client.job("net-1")
    states = [event["state"] for event in job.events(60)]
    assert states[-1] == "done" and job.is_over
    asked = [headers for _, path, headers, _ in server.asked if path.endswith("/events")]
    assert "Last-Event-ID" not in asked[0]
    assert job.wait(60).promises[0].evidence == ("measured",)


def test_waiting_has_an_end(serve):
    """The job continues."""
    def answer(handler, _):
        if handler.path.endswith("/events"):
            handler.say(b": alive\n\n", kind="text/event-stream", length=10**6)
            threading.Event().wait(0.5)
        else:
            handler.say(shown("running"))
    _, client = serve(answer)
    with pytest.raises(attune.WaitTimeoutError, match="is not over"):
        client.job("net-1").wait(0.1)


@pytest.mark.parametrize("has_ranges", [True, False])
def test_a_download_goes_on_after_a_break(serve, tmp_path, has_ranges):
    """And is whole, or not there."""
    def answer(handler, _):
        if "/files/" not in handler.path:
            return handler.say(shown("done"))
        first = int(handler.headers.get("Range", "bytes=0-")[6:-1]) if has_ranges else 0
        whole = CONTENT[first:]
        is_cut = sum("/files/" in path for _, path, _, _ in server.asked) < 3
        handler.close_connection = True
        return handler.say(whole[:4000] if is_cut else whole, 206 if first else 200, length=len(whole))
    server, client = serve(answer)
    assert client.job("net-1").download(tmp_path) == [tmp_path / "data"]
    assert (tmp_path / "data").read_bytes() == CONTENT


def test_wrong_content_is_not_kept(serve, tmp_path):
    """Earlier files stay."""
    (tmp_path / "data").write_bytes(b"mine")
    _, client = serve(lambda handler, _: handler.say(CONTENT[::-1] if "/files/" in handler.path else shown("done")))
    with pytest.raises(attune.InternalError, match="not those that the server has announced"):
        client.job("net-1").download(tmp_path)
    assert (tmp_path / "data").read_bytes() == b"mine"
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_hostile_server_writes_nothing_elsewhere(serve, tmp_path):
    """Names that leave the folder are refused."""
    for name in ("out/../x", "out//etc/x", "out/"):
        _, client = serve(lambda handler, _, name=name: handler.say({**shown("done"), "files": [{**FILE, "name": name}]}))
        with pytest.raises(attune.InternalError, match="is not a name"):
            client.job("net-1").download(tmp_path / "a")


def test_a_field_that_is_missing_is_named(serve):
    """A server of another kind is noticed."""
    _, client = serve(lambda handler, _: handler.say({"id": "net-1"}))
    with pytest.raises(attune.InternalError, match="\"state\""):
        print(client.job("net-1").status)


def test_an_upload_goes_on_and_an_agreement_is_asked_for(serve, tmp_path):
    """A lost answer to a piece is a conflict, which tells nothing new."""
    model = tmp_path / "my net.bin"
    model.write_bytes(CONTENT)
    state = {"offset": 0}

    def answer(handler, number):
        if handler.command == "PATCH":
            if int(handler.headers["Upload-Offset"]) != state["offset"]:
                return handler.say({"detail": "not there"}, 409, "application/problem+json")
            state["offset"] += len(handler.sent)
            if number == 2:
                handler.close_connection = True
                return None
            return handler.say(b"", 204)
        if handler.path == "/v1/uploads":
            return handler.say({"offset": state["offset"], "is_complete": state["offset"] == len(CONTENT)}, 201)
        return handler.say(shown("waiting"), 201)
    server, client = serve(answer)
    client.submit(model, on="desk", latency="5ms", p99=0.007, accuracy_loss="1%", size="10MB", deadline="30m",
                  device_time=600, priority="standard", trials=7)
    body = json.loads(server.asked[-1][3])
    assert body == {"name": "my-net", "kind": "tuning", "on": "desk",
                    "settings": {"trials": 7, "model": "in/model/my net.bin"},
                    "inputs": [{"name": "in/model/my net.bin", "sha256": FILE["sha256"]}],
                    "agreement": {"latency_ms": {"mean": 5.0, "p99": 7.0}, "accuracy_loss": 0.01, "size_bytes": 10**7,
                                  "deadline_seconds": 1800.0, "device_seconds": 600.0, "priority": "standard"}}
    assert len(server.asked[-1][2]["Idempotency-Key"]) == 32
    client.submit(model, on="desk", deadline="30m")
    assert json.loads(server.asked[-1][3])["agreement"] == {"deadline_seconds": 1800.0}
    client.submit(kind="mock", deadline="30m")
    assert json.loads(server.asked[-1][3])["deadline_seconds"] == 1800.0


def test_arguments_are_checked(serve, tmp_path):
    """Before anything is sent."""
    model = tmp_path / "net.bin"
    model.write_bytes(b"")
    server, client = serve(lambda handler, _: handler.say({"offset": 0, "is_complete": True}, 201))
    for wrong in ({"latency": "5"}, {"deadline": "soon"}, {"accuracy_loss": "some"}, {"size": "-1MB"}):
        with pytest.raises(attune.InvalidError, match=next(iter(wrong))):
            client.submit(model, **wrong)
    assert all(path == "/v1/uploads" for _, path, _, _ in server.asked)


def test_external_data_is_sent_beside_its_model(tmp_path):
    """As the ONNX file names it, but from nowhere else."""
    def field(number, content):
        return bytes([number << 3 | 2, len(content)]) + content

    def model(location):
        entry = field(1, b"location") + field(2, location)
        return field(7, field(5, b"\x70\x01" + field(13, entry)))
    (tmp_path / "w").mkdir()
    (tmp_path / "w/data").write_bytes(b"weights")
    (tmp_path / "net.onnx").write_bytes(model(b"w/data"))
    name, files = input_files("model", tmp_path / "net.onnx")
    assert name == "in/model/net.onnx"
    assert [file.name for file in files] == ["in/model/net.onnx", "in/model/w/data"]
    (tmp_path / "net.onnx").write_bytes(model(b"../secret"))
    with pytest.raises(attune.InvalidError, match="leaves the model's folder"):
        input_files("model", tmp_path / "net.onnx")
    (tmp_path / "net.onnx").write_bytes(b"\xff\xff damaged")
    assert len(input_files("model", tmp_path / "net.onnx")[1]) == 1


def test_servers_are_those_of_attune_login(monkeypatch, tmp_path):
    """The environment counts before the file, which only its owner may read."""
    path = tmp_path / "servers.json"
    monkeypatch.setenv("ATTUNE_SERVERS", str(path))
    for variable in ("ATTUNE_URL", "ATTUNE_TOKEN"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(attune.NotFoundError, match="no server is known"):
        attune.Client()
    path.write_text(json.dumps({"default": "https://a:9193", "servers": {"https://a:9193": {"token": "t"}}}))
    path.chmod(0o644)
    with pytest.raises(attune.AccessError, match="others may read"):
        attune.Client()
    path.chmod(0o600)
    assert repr(attune.Client()) == "<attune.Client of https://a:9193>"
    monkeypatch.setenv("ATTUNE_URL", "http://127.0.0.1:80/")
    with pytest.raises(attune.AccessError, match="no token for http://127.0.0.1 is known"):
        attune.Client()
    for url in ("http://host", "ftp://host", "https://host/v1", "https://u@host", "https://host:x", ""):
        with pytest.raises(attune.InvalidError):
            server_url(url)
    assert pathlib.Path(path).stat().st_mode & 0o777 == 0o600


def web_token(name, seconds):
    """Returns a token that ends in this many seconds."""
    claims = base64.urlsafe_b64encode(json.dumps({"exp": time.time() + seconds}).encode()).decode().rstrip("=")
    return f"{name}.{claims}.x"


class Issuer:
    """A server that is its own identity provider, whose refresh tokens count once."""

    def __init__(self, serve, tmp_path):
        self.file, self.counts, self.refresh, self.renewals, self.is_away = tmp_path / "servers.json", "", "first", 0, False
        server, _ = serve(lambda handler, _: self.answer(handler))
        self.url = f"http://127.0.0.1:{server.server_address[1]}"

    def answer(self, handler):
        """Vouches, renews, and serves the holder of the valid token."""
        if handler.path == "/v1/me":
            knows = handler.headers["Authorization"] == f"Bearer {self.counts}"
            handler.say({"name": "ann"} if knows else {"detail": "who?"}, 200 if knows else 401)
        elif self.is_away:
            handler.say({}, 503)
        elif handler.path == "/.well-known/openid-configuration":
            handler.say({"issuer": self.url, "token_endpoint": f"{self.url}/token"})
        else:
            form = dict(urllib.parse.parse_qsl(handler.sent.decode()))
            if form != {"grant_type": "refresh_token", "client_id": "cli", "refresh_token": self.refresh}:
                handler.say({"error": "invalid_grant", "error_description": "the grant is gone"}, 400)
                return
            self.renewals += 1
            self.refresh, self.counts = f"refresh {self.renewals}", web_token(f"token {self.renewals}", 3600)
            handler.say({"id_token": self.counts, "refresh_token": self.refresh})

    def log_in(self, token, **more):
        """Keeps a login as attune login does."""
        self.file.write_text(json.dumps({"default": self.url, "more": 1, "servers": {self.url: {
            "token": token, "issuer": self.url, "client_id": "cli", "scope": "openid", "refresh_token": "first", **more}}}))
        self.file.chmod(0o600)

    def kept(self):
        """Returns the content of the file about the server."""
        return json.loads(self.file.read_text())["servers"][self.url]


@pytest.fixture(name="issuer")
def issuer_fixture(serve, tmp_path):
    return Issuer(serve, tmp_path)


def test_a_login_that_ends_is_renewed_and_kept(issuer):
    """Before the server is asked."""
    issuer.log_in(web_token("old", 10))
    client = attune.Client()
    assert client.me() == client.me() == {"name": "ann"}
    assert issuer.renewals == 1
    assert (issuer.kept()["token"], issuer.kept()["refresh_token"]) == (issuer.counts, issuer.refresh)
    assert issuer.kept()["scope"] == "openid" and json.loads(issuer.file.read_text())["more"] == 1
    assert issuer.file.stat().st_mode & 0o077 == 0
    assert attune.Client().me() and issuer.renewals == 1


def test_a_token_that_is_refused_is_renewed_once(issuer):
    """Also one that does not end soon, and for downloads and events, whose connections are their own."""
    issuer.log_in(web_token("old", 3600))
    client = attune.Client()
    assert client.me() and issuer.renewals == 1
    issuer.counts = "another"
    with client._rest.open("/v1/me") as answer:
        assert answer.status == 200
    assert issuer.renewals == 2
    with pytest.raises(attune.AccessError, match="status 401"):
        attune.Client(issuer.url, "given").me()
    assert issuer.renewals == 2  # a given token belongs to no login


def test_many_who_renew_at_once_ask_the_issuer_once(issuer):
    """Each with the file's lock, as processes have it."""
    issuer.log_in(web_token("old", -10))
    clients = [attune.Client() for _ in range(8)]
    with concurrent.futures.ThreadPoolExecutor(len(clients)) as threads:
        assert list(threads.map(lambda client: client.me()["name"], clients)) == ["ann"] * len(clients)
    assert issuer.renewals == 1


def test_a_login_that_has_ended_says_so(issuer):
    """With what to do."""
    again = f"log in again: attune login {issuer.url}"
    issuer.log_in(web_token("old", -10), refresh_token="gone")
    with pytest.raises(attune.AccessError, match=f"the grant is gone; {again}"):
        attune.Client().me()
    issuer.log_in(web_token("old", -10), refresh_token="")
    with pytest.raises(attune.AccessError, match=again):
        attune.Client().me()
    assert issuer.kept()["token"].startswith("old")


def test_an_issuer_that_is_away_is_not_needed_while_the_token_counts(issuer):
    """And is told otherwise."""
    issuer.counts, issuer.is_away = web_token("old", 30), True
    issuer.log_in(issuer.counts)
    assert attune.Client().me() == {"name": "ann"}
    issuer.log_in(web_token("old", -10))
    with pytest.raises(attune.UnavailableError, match="cannot be renewed now"):
        attune.Client().me()
