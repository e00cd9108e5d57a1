"""A server between clients and the service, which keeps the requests and can break connections."""
import dataclasses
import http.client
import http.server
import json
import re
import threading
import urllib.parse

OWN_HEADERS = {"accept", "accept-encoding", "authorization", "cache-control", "connection", "content-length",
               "content-type", "expect", "host", "user-agent"}  # of HTTP itself, which no document lists
HOP_HEADERS = {"connection", "transfer-encoding", "content-length"}


@dataclasses.dataclass(frozen=True)
class Request:
    """A request of a client."""

    method: str
    path: str
    query: dict
    headers: dict  # by lower-case names
    body: bytes


class RecordingProxy:
    """Serves on the loopback from its construction to close(). `requests` has all that came.

    `address`: returns "host:port" of the service, which may change.
    """

    def __init__(self, address):
        self.requests, self._address, self._faults, self._lock = [], address, [], threading.Lock()
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            """Passes requests on."""

            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                """Says nothing."""

            def handle_any(self):
                """One request."""
                proxy.answer(self)

            do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = do_HEAD = handle_any

        class Server(http.server.ThreadingHTTPServer):
            """Ends without waiting for streams."""

            daemon_threads, block_on_close = True, False

            def handle_error(self, *_):
                """A client is gone."""

        self._server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self):
        """Accepts no more connections."""
        self._server.shutdown()
        self._server.server_close()

    def fail(self, method, pattern, times, status=None):
        """Loses the answers to this many requests, after the service has them; or answers in its place."""
        with self._lock:
            self._faults.append([method, re.compile(pattern), times, status])

    def heal(self):
        """Breaks nothing any more."""
        with self._lock:
            self._faults.clear()

    def _fault(self, method, path):
        with self._lock:
            for fault in self._faults:
                if fault[0] == method and fault[1].fullmatch(path) and fault[2] > 0:
                    fault[2] -= 1
                    return fault
        return None

    def answer(self, handler):
        """Passes a request on, and the answer back piece by piece."""
        parts = urllib.parse.urlsplit(handler.path)
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        self.requests.append(Request(handler.command, parts.path, dict(urllib.parse.parse_qsl(parts.query)),
                                     {name.lower(): value for name, value in handler.headers.items()}, body))
        fault = self._fault(handler.command, parts.path)
        if fault is not None and fault[3] is not None:
            handler.send_response(fault[3])
            handler.send_header("Retry-After", "1")
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        handler.close_connection = True
        try:
            connection = http.client.HTTPConnection(self._address())
            connection.request(handler.command, handler.path, body or None, dict(handler.headers.items()))
            response = connection.getresponse()
            if fault is not None:
                response.read()
                return
            handler.send_response(response.status)
            for name, value in response.headers.items():
                if name.lower() not in HOP_HEADERS:
                    handler.send_header(name, value)
            if response.length is not None:
                handler.send_header("Content-Length", str(response.length))
            handler.send_header("Connection", "close")
            handler.end_headers()
            while piece := response.read1(1 << 16):
                handler.wfile.write(piece)
                handler.wfile.flush()
        except (OSError, http.client.HTTPException):
            pass  # the service is away: the client sees a connection that breaks


class Document:
    """An OpenAPI document, by which requests are checked."""

    def __init__(self, document):
        self._schemas = document["components"]["schemas"]
        self.operations = {operation["operationId"]: (method.upper(), path, operation)
                           for path, methods in document["paths"].items() for method, operation in methods.items()}

    def find(self, request):
        """The operation that a request is for: its id and itself. A template's last part may have slashes, escaped."""
        for name, (method, path, operation) in self.operations.items():
            pattern = re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(path))
            if method == request.method and re.fullmatch(pattern, request.path):
                return name, operation
        raise AssertionError(f"{request.method} {request.path}: the document has no such operation")

    def check(self, request):
        """Checks a request: all that it has must be declared. Returns the operation's id."""
        name, operation = self.find(request)
        declared = {(given["in"], given["name"].lower()): given for given in operation.get("parameters", ())}
        for place, values in (("query", request.query), ("header", request.headers)):
            for key, value in values.items():
                if place == "header" and key in OWN_HEADERS:
                    continue
                parameter = declared.get((place, key.lower()))
                assert parameter is not None, f"{name}: the {place} parameter {key} is not in the document"
                schema = parameter["schema"]
                self._check(int(value) if schema.get("type") == "integer" else value, schema, f"{name} {key}")
        for (place, key), parameter in declared.items():
            given = request.query if place == "query" else request.headers
            assert place == "path" or not parameter.get("required") or key in given, f"{name}: {key} is missing"
        self._check_body(name, operation, request)
        return name

    def _check_body(self, name, operation, request):
        declared = operation.get("requestBody")
        if declared is None:
            assert not request.body, f"{name}: takes no body"
            return
        kind = request.headers.get("content-type", "")
        assert kind in declared["content"], f"{name}: a body of {kind} is not in the document"
        if "schema" in declared["content"][kind]:
            self._check(json.loads(request.body), declared["content"][kind]["schema"], name)

    def _check(self, value, schema, place):
        if "$ref" in schema:
            schema = self._schemas[schema["$ref"].rsplit("/", 1)[1]]
        kinds = schema.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        known = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool,
                 "null": type(None)}
        assert not kinds or isinstance(value, tuple(kind for each in kinds for kind in _as_tuple(known[each]))), \
            f"{place}: {value!r} is not a {kinds}"
        assert value in schema.get("enum", [value]), f"{place}: {value!r} is none of {schema.get('enum')}"
        if isinstance(value, str) and "pattern" in schema:
            assert re.search(schema["pattern"], value), f"{place}: {value!r} does not match"
        if isinstance(value, list):
            for each in value:
                self._check(each, schema.get("items", {}), place)
        if isinstance(value, dict):
            self._check_object(value, schema, place)

    def _check_object(self, value, schema, place):
        for required in schema.get("required", ()):
            assert required in value, f"{place}: {required} is missing"
        for key, each in value.items():
            if key in schema.get("properties", {}):
                self._check(each, schema["properties"][key], f"{place}/{key}")
            else:
                assert schema.get("additionalProperties", True), f"{place}: the field {key} is not in the document"


def _as_tuple(kinds):
    return kinds if isinstance(kinds, tuple) else (kinds,)
