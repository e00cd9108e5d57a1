"""Sends a server requests that no client means, and checks that they end, block and tell nothing.

fuzz_requests.py             starts a server with two tenants, an agent and runners. Sends 100,000 requests that are drawn
                             from its OpenAPI document, then 10,000 for each operation with a body, and as many for the
                             parameters of all: valid but for one field, which is at an edge. After each 2,000, both
                             tenants' lists, uploads, predictions and jobs have to work

Exits with 1 at the first answer that is a 5xx or tells a path of the server, at the first request without an answer, and when
something does not work any more. The same --seed sends the same requests.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import hashlib
import http.client
import itertools
import json
import pathlib
import random
import sys
import tempfile
import threading
import time

from attackers.request_edges import Document, edge_body, edge_value, is_stream, plain_text, to_json
from common.fleet_members import KEY, Fleet
from common.program import PROGRAM, ROOT
from common.rest_client import Answer, first_client

BATCH, AT_ONCE = 2000, 4
MODEL = ROOT / "tests/fuzz/corpus/onnx_import/conv_pool.onnx"
TENANT, OTHER = "fuzzed", "beside"
QUOTA = {"stored_bytes": 1 << 35, "jobs": 1000, "device_seconds": 1 << 40, "period_days": 30, "requests_per_second": 100_000}


class Violation(Exception):
    """The server has not done as it should."""


class Tenant:
    """A tenant with one of everything."""

    def __init__(self, admin, name):
        self.name, self.client = name, admin.token(name, "admin")
        self.content = MODEL.read_bytes() + name.encode()  # a digest of its own
        self.file = self.client.upload(MODEL.read_bytes())
        self.own_file = self.client.upload(self.content)
        self.model = self.client.imported("net.onnx", self.file)["id"]
        self.job = self.client.told("POST", "/v1/jobs", self.mock_job())["id"]

    def mock_job(self):
        """A job that does nothing, with all fields that one may have."""
        return {"name": "edge", "kind": "mock", "inputs": [{"name": "in/x", "sha256": self.file}], "priority": 0, "parts": 1,
                "settings": {"stages": [{"name": "work", "seconds": 0, "processors": 1, "memory_bytes": 1}], "repeat": 1,
                             "seed": 1},
                "deadline_seconds": 600}

    def tuning_job(self):
        """One with an agreement."""
        return {"name": "edge", "kind": "tuning", "on": KEY, "priority": 0, "parts": 1,
                "inputs": [{"name": "in/net.onnx", "sha256": self.file}, {"name": "in/more/x", "sha256": self.own_file}],
                "settings": {"model": "in/net.onnx", "trials": 4, "time": "20s", "threads": 1, "signature": "",
                             "seed": 1, "output": "out/net.atn"},
                "agreement": {"latency_ms": {"mean": 5e6, "p99": 5e7}, "accuracy_loss": 0.5, "size_bytes": 1e12,
                              "deadline_seconds": 1e6, "device_seconds": 1e6, "priority": "standard",
                              "least_probability": 0}}

    def quantization_job(self):
        """One that gets samples."""
        return {"name": "edge", "kind": "quantization", "on": KEY,
                "inputs": [{"name": "in/net.onnx", "sha256": self.file}, {"name": "in/data/0.npy", "sha256": self.own_file}],
                "settings": {"model": "in/net.onnx", "data": "in/data", "samples": 4, "max_drop": 0.01, "judged": 4,
                             "held_back": 4, "image_mean": "1,2,3", "image_scale": 1, "shapes": [],
                             "variants": [{"name": "a", "calibration": "mse", "percentile": 99.9, "clusters": 0}]},
                "agreement": {"accuracy_loss": 0.5, "least_probability": 0}}

    def program_job(self):
        """One of a program that its runner has."""
        return {"name": "edge", "kind": "program", "inputs": [{"name": "in/x", "sha256": self.file}],
                "settings": {"program": "study", "files": ["in/x"], "settings": {"a": 1}}}


class Target:
    """A target of the fuzzer, and how to tell that it still works."""

    def __init__(self, fleet, admin):
        self._fleet, self._admin = fleet, admin
        self._folder = str(fleet.state())
        self.tenants = [Tenant(admin, name) for name in (TENANT, OTHER)]
        self.document = Document(admin.ask("GET", "/v1/openapi.json").json())
        self.operations = [one for one in self.document.operations() if not is_stream(one[2])]
        self._local, self._lock, self.statuses = threading.local(), threading.Lock(), collections.Counter()
        own, other = self.tenants
        # Not the other tenant's name: an administrator may delete it.
        self.foreign = (other.own_file, other.job, other.model, own.own_file)
        self.known = (own.file, own.own_file, own.job, own.model, own.name, "in/net.onnx", "in/x", KEY, "mock", *self.foreign[:3])
        self._parameters = {"id": own.job, "name": "in/x", "sha256": own.file, "tenant": TENANT, "task": "0" * 64,
                            "most": 10, "state": "done", "key": KEY, "device": "none", "Upload-Offset": 0, "from": "2026-01-01",
                            "to": "2026-01-02", "issuer": "none"}

    def bodies(self, operation):
        """Valid bodies of an operation."""
        own = self.tenants[0]
        jobs = [own.mock_job(), own.tuning_job(), own.quantization_job(), own.program_job()]
        files = [{"name": "data/x", "sha256": own.own_file}]
        return {"submitJob": jobs, "predict": jobs[1:3],
                "addModel": [{"name": "net.onnx", "sha256": own.file, "files": files, "shapes": ["x=1x3x8x8"], "signature": "s"}],
                "beginUpload": [{"sha256": hashlib.sha256(b"new").hexdigest(), "bytes": 3}],
                "createToken": [{"name": "edge", "role": "member", "tenant": TENANT, "days": 1}],
                "setQuota": [QUOTA], "createTenant": [{"name": "edge", "quota": QUOTA}]}.get(operation) or [
                    self.document.example(next(iter(self._declaration(operation)["requestBody"]["content"].values()))["schema"])]

    def _declaration(self, operation):
        return next(declaration for _, _, declaration in self.operations if declaration["operationId"] == operation)

    def value_of(self, parameter):
        """A valid value of a parameter; None leaves it out."""
        if parameter["name"] in self._parameters and (parameter["required"] or parameter["in"] == "path"):
            return self._parameters[parameter["name"]]
        return self.document.example(parameter["schema"]) if parameter["required"] else None

    def with_body(self):
        """The operations that take JSON."""
        return [one for one in self.operations if "application/json" in one[2].get("requestBody", {}).get("content", {})]

    def edges_of(self, operation, chance):
        """Requests without an end that are valid but for one field of the body."""
        valid = self.bodies(operation[2]["operationId"])
        while True:
            body = edge_body(chance.choice(valid), self.foreign, chance).encode("utf-8", "surrogatepass")
            yield operation, self.document.request(operation, self.value_of, body, str)

    def edges_of_parameters(self, chance):
        """Requests without an end that are valid but for one parameter."""
        operations = [one for one in self.operations if one[2].get("parameters")]
        while True:
            operation = chance.choice(operations)
            at_edge = chance.choice(operation[2]["parameters"])["name"]

            def value(parameter, at_edge=at_edge):
                if parameter["name"] != at_edge:
                    return self.value_of(parameter)
                return edge_value(chance.choice(self.known), self.foreign, chance)

            content = operation[2].get("requestBody", {}).get("content", {})
            body = b"x" if content else None
            if "application/json" in content:
                body = to_json(chance.choice(self.bodies(operation[2]["operationId"]))).encode()
            yield operation, self.document.request(operation, value, body, plain_text)

    def drawn(self, chance):
        """Requests without an end that mostly follow the document."""
        while True:
            operation = chance.choice(self.operations)
            yield operation, self.document.drawn_request(operation, self.known, chance)

    def send(self, requests):
        """Sends them, some at once. Raises Violation."""
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            for _ in pool.map(self._send, requests):
                pass

    def _send(self, one):
        operation, request = one
        answer = self._answer(request)
        while answer.status == 429:
            time.sleep(int(answer.headers.get("Retry-After", "1")))
            answer = self._answer(request)
        with self._lock:
            self.statuses[answer.status] += 1
        self._judge(request, answer)
        if answer.status < 300:
            try:
                self._undo(operation[2]["operationId"], answer)
            except (http.client.HTTPException, ConnectionError) as error:
                raise Violation(f"the server does not answer ({error}) after {request}") from None

    def _judge(self, request, answer):
        method, path, headers, body = request
        told = f"{method} {path} {headers} {(body or b'')[:2000]}: {answer.status} {answer.body[:500]}"
        if answer.status >= 500:
            raise Violation(told)
        if self._folder.encode() in answer.body:
            raise Violation(f"tells a path of the server: {told}")
        if answer.status >= 400 and (answer.headers["Content-Type"] != "application/problem+json" or
                                     not json.loads(answer.body)["detail"]):
            raise Violation(f"is no problem with a sentence: {told}")

    def _answer(self, request):
        """The answer; on a new connection, if the server has closed the old one."""
        method, path, headers, body = request
        for _ in range(2):
            connection = getattr(self._local, "connection", None) or self._admin.connect()
            self._local.connection = connection
            try:
                connection.request(method, path, body, self.tenants[0].client.headers(headers))
            except (BrokenPipeError, ConnectionResetError):
                pass  # it may have answered before it has read all
            except OSError as error:
                raise Violation(f"the server does not listen ({error}) after {method} {path} {(body or b'')[:2000]}") from None
            try:
                return Answer(connection.getresponse())
            except (http.client.HTTPException, ConnectionError):
                connection.close()
                self._local.connection = None
        raise Violation(f"no answer to {method} {path} {headers} {(body or b'')[:2000]}")

    def _undo(self, operation, answer):
        """Takes back what would fill or bind the tenant."""
        client, own = self.tenants[0].client, self.tenants[0]
        told = json.loads(answer.body) if answer.headers.get("Content-Type") == "application/json" and answer.body else {}
        if operation == "submitJob":
            client.ask("POST", f"/v1/jobs/{told['id']}/cancel")
        elif operation == "createToken":
            client.ask("DELETE", f"/v1/tokens/{told['token']['id']}")
        elif operation == "createTenant" and told["name"] not in (TENANT, OTHER, "server"):
            client.ask("DELETE", f"/v1/tenants/{told['name']}")
        elif operation == "setQuota":
            self._admin.ask("PUT", f"/v1/tenants/{TENANT}/quota", QUOTA)
        elif operation == "beginUpload" and told["sha256"] not in (own.file, own.own_file):
            client.ask("DELETE", f"/v1/uploads/{told['sha256']}")
        elif operation == "addModel" and told["id"] != own.model:
            client.ask("DELETE", f"/v1/models/{told['id']}")
        elif operation in ("removeUpload", "removeModel"):
            self._restore(own)

    @staticmethod
    def _restore(own):
        """Sends the tenant's things again, unless other requests remove them at the same time."""
        with contextlib.suppress(AssertionError):
            own.client.upload(MODEL.read_bytes())
            own.client.upload(own.content)
            own.client.imported("net.onnx", own.file)

    def check(self):
        """Raises Violation unless all lists, an upload, a prediction and a job of each tenant work."""
        if self._fleet.members["server"].ended() is not None:
            raise Violation(f"the server has ended: {self._fleet.server_log()[-2000:]}")
        for tenant in self.tenants:
            client = tenant.client
            self._restore(tenant)
            for method, path, declaration in self.operations:
                is_needed = any(one["required"] for one in declaration["parameters"])
                if method == "GET" and "{" not in path and declaration["security"] and not is_needed:
                    self._expect(200, path, client.ask("GET", path))
            content = f"{random.random()}".encode()
            digest = client.upload(content)
            self._expect(204, "the upload's end", client.ask("DELETE", f"/v1/uploads/{digest}"))
            self._expect(200, "a prediction", client.ask("POST", "/v1/predictions", tenant.tuning_job()))
            job = client.ask("POST", "/v1/jobs", tenant.mock_job())
            self._expect(201, "a job", job)
            ended = client.await_end(job.json()["id"])
            if ended["state"] != "done":
                raise Violation(f"a job of {tenant.name} has {ended['state']}: {ended['error']}")

    @staticmethod
    def _expect(status, what, answer):
        if answer.status != status:
            raise Violation(f"{what} should be {status}: {answer.status} {answer.body[:1000]}")


def start(folder):
    """A fleet whose server people and programs can ask."""
    return Fleet(folder, PROGRAM, 2, ["--http", "127.0.0.1:0"])


def prepare(fleet):
    """The targets in a fleet."""
    admin = first_client(fleet)
    for tenant in (TENANT, OTHER):
        fleet.add_runner(f"runner-{tenant}", tenant)
        fleet.add_agent(f"agent-{tenant}", KEY, owner=tenant)
    return Target(fleet, admin)


def fuzz_edges(target, count, seed, tell=lambda what: None):
    """Sends `count` requests for each operation with a body, and as many for parameters."""
    kinds = [(operation[2]["operationId"], target.edges_of(operation, random.Random(f"{seed} {operation[2]['operationId']}")))
             for operation in target.with_body()]
    kinds.append(("parameters", target.edges_of_parameters(random.Random(f"{seed} parameters"))))
    for name, requests in kinds:
        send_in_batches(target, requests, count)
        tell(f"{name}: {count} requests at edges")


def fuzz_drawn(target, count, seed):
    """Sends `count` requests that are drawn from the document."""
    send_in_batches(target, target.drawn(random.Random(f"{seed} drawn")), count)


def send_in_batches(target, requests, count):
    """Sends the first `count`, and checks after each batch."""
    for begin in range(0, count, BATCH):
        target.send(list(itertools.islice(requests, min(BATCH, count - begin))))
        target.check()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--drawn", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=10_000, help="for each operation with a body, and for parameters")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, start(pathlib.Path(folder)) as fleet:
        target = prepare(fleet)
        try:
            fuzz_drawn(target, options.drawn, options.seed)
            print(f"{options.drawn} requests drawn from the document", flush=True)
            fuzz_edges(target, options.edges, options.seed, lambda what: print(what, flush=True))
        except Violation as error:
            print(f"violated: {error}\nthe server's log ends so:\n{fleet.server_log()[-2000:]}", file=sys.stderr)
            return 1
    print(f"answers: {dict(sorted(target.statuses.items()))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
