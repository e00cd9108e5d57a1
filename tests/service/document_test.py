"""The service against its own OpenAPI document, whatever that has: who may do what, and what strangers' requests do.

document_test.py    starts a server with two tenants. Every operation is asked by every role of the owner's tenant, of
                    another one and of none; Schemathesis sends requests that follow the document and such that do not;
                    valid requests are sent with one field at an edge; damaged models are sent.
"""
import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import yaml

from attackers import fuzz_requests, fuzz_uploads
from attackers.request_edges import Document, is_stream
from common.fleet_members import Fleet
from common.program import PROGRAM, ROOT
from common.rest_client import Answer, Client, first_client

ROLES = ("viewer", "member", "operator", "admin")
MARK = "secret-of-the-owner"  # in all that the owner has
REQUESTS = int(os.environ.get("ATTUNE_SCHEMATHESIS_REQUESTS", "2000"))
# Others: status_code_conformance, content_type_conformance, response_schema_conformance.
CHECKS = os.environ.get("ATTUNE_SCHEMATHESIS_CHECKS", "not_a_server_error")
EDGES = int(os.environ.get("ATTUNE_EDGE_REQUESTS", "2000"))
DAMAGED_MODELS = int(os.environ.get("ATTUNE_DAMAGED_MODELS", "60"))
# Rights of an administrator to another tenant's things, and things that are no tenant's own.
FOR_ALL_TENANTS = ("revokeToken", "createTenant", "getTenant", "setQuota", "deleteTenant", "getArchive")
SHARED = ("devices",)


def least_role(declaration):
    """The least role that may do it; None: everybody."""
    for scheme in declaration.get("security", []):
        for roles in scheme.values():
            if roles:
                return roles[0]
    return None


class DocumentTest(unittest.TestCase):
    """One server for all tests."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.fleet = cls.enterClassContext(Fleet(cls.folder, PROGRAM, 2, ["--http", "127.0.0.1:0", "--metrics", "127.0.0.1:0"]))
        admin = first_client(cls.fleet)
        cls.clients = {(tenant, role): admin.token(tenant, role) for tenant in ("owner", "other") for role in ROLES}
        cls.nobody = Client(cls.fleet)
        cls.document = Document(cls.nobody.ask("GET", "/v1/openapi.json").json())

    @classmethod
    def populate(cls):
        """Gives the owner one of everything; returns values of path parameters by the path's first part."""
        owner = cls.clients["owner", "operator"]
        digest = owner.upload(f"{MARK} upload".encode())
        model = owner.imported(f"{MARK}.onnx", digest)["id"]
        job = owner.ask("POST", "/v1/jobs", {
            "name": MARK, "kind": "mock", "inputs": [{"name": f"in/{MARK}", "sha256": digest}],
            "settings": {"stages": [{"name": "work", "seconds": 0}]}}).json()["id"]
        token = owner.ask("POST", "/v1/tokens", {"name": MARK, "role": "viewer", "tenant": "owner"})
        assert token.status == 201, token.body
        token = token.json()["token"]["id"]
        return {"jobs": {"id": job, "name": f"in%2F{MARK}"}, "uploads": {"sha256": digest}, "models": {"id": model},
                "tokens": {"id": token}}

    def values(self, path, things):
        """The path's parameters: those of the owner's things, or of the first thing that the owner's list has."""
        collection = path.split("/")[2]
        if collection in things:
            return things[collection]
        listed = self.clients["owner", "admin"].ask("GET", f"/v1/{collection}")
        answer = listed.json() if listed.status == 200 and listed.body else {}
        items = next((value for value in answer.values() if isinstance(value, list) and value), [{}])
        return items[0] if isinstance(items[0], dict) else {}

    def request(self, path, declaration, things):
        """The path, the headers and the body of a request for the owner's things."""
        values = self.values(path, things) if "{" in path else {}
        headers, body, query = {}, None, []
        for parameter in declaration.get("parameters", []):
            value = self.document.example(parameter["schema"])
            if parameter["in"] == "path":
                path = path.replace("{%s}" % parameter["name"], str(values.get(parameter["name"], value)))
            elif parameter["required"] and parameter["in"] == "query":
                query.append(f"{parameter['name']}={value}")
            elif parameter["required"] and parameter["in"] == "header":
                headers[parameter["name"]] = "0" if parameter["schema"].get("type") == "integer" else str(value)
        for content_type, content in declaration.get("requestBody", {}).get("content", {}).items():
            headers["Content-Type"] = content_type
            schema = content.get("schema")
            body = json.dumps(self.document.example(schema)).encode() if schema else b"x"
        return path + ("?" + "&".join(query) if query else ""), headers, body

    def ask(self, client, method, request, declaration):
        """Returns the answer; for a stream, its start."""
        path, headers, body = request
        if not is_stream(declaration):
            return client.ask(method, path, body, headers)
        connection = client.connect()
        connection.request(method, path, body, client.headers(headers))
        response = connection.getresponse()
        response.read = lambda: b""  # it has no end
        answer = Answer(response)
        connection.close()
        return answer

    def snapshot(self):
        """All that the owner sees by operations without parameters in their paths."""
        owner, seen = self.clients["owner", "operator"], {}
        for method, path, declaration in self.document.operations():
            if method == "GET" and "{" not in path and least_role(declaration) in ROLES[:3] and not is_stream(declaration):
                seen[path] = owner.ask("GET", path).body
        return seen

    def test_every_role_of_every_tenant(self):
        """Reads and writes go as far as the document says, and never to another tenant."""
        things, cells = self.populate(), 0
        before = self.snapshot()
        operations = sorted(self.document.operations(), key=lambda one: (one[0] == "DELETE", one[1]))
        for method, path, declaration in operations:
            least = least_role(declaration)
            request = self.request(path, declaration, things)
            name = f"{method} {request[0]}"
            cells += 1
            answer = self.ask(self.nobody, method, request, declaration)
            self.assertLess(answer.status, 500, name)
            if least is not None:
                self.assertEqual(answer.status, 401, name)
            for role in ROLES:
                if role == "admin" and declaration["operationId"] in FOR_ALL_TENANTS:
                    continue
                cells += 1
                answer = self.ask(self.clients["other", role], method, request, declaration)
                self.check_cell(answer, least, role, name)
                if answer.status < 300:
                    self.assertNotIn(MARK.encode(), answer.body, f"{role} of another tenant, {name}")
                if "{" in path and least is not None and self.is_owners(path, things):
                    self.assertIn(answer.status, (400, 403, 404), f"{role} of another tenant, {name}: {answer.body}")
        self.assertEqual(self.changes(before), {})
        for method, path, declaration in operations:
            for role in ROLES:
                cells += 1
                request = self.request(path, declaration, things)
                answer = self.ask(self.clients["owner", role], method, request, declaration)
                self.check_cell(answer, least_role(declaration), role, f"{method} {request[0]}")
                if answer.status < 300 and method != "GET" and "{" in path:
                    things = self.populate()
        print(f"{cells} cells of {len(operations)} operations", file=sys.stderr)

    def is_owners(self, path, things):
        """Whether the request names a thing of the owner's tenant alone."""
        collection = path.split("/")[2]
        return collection in things or (collection not in SHARED and bool(self.values(path, things)))

    def changes(self, before):
        """Returns the changes that others have made to the owner's view; the audit log and usage may have grown."""
        after = self.snapshot()
        return {path: (before[path], after[path]) for path in before
                if before[path] != after[path] and not re.search("audit|usage|session|devices", path)}

    def check_cell(self, answer, least, role, name):
        """The role decides alike for each tenant."""
        self.assertLess(answer.status, 500, f"{role}, {name}: {answer.body}")
        if least is not None and ROLES.index(role) < ROLES.index(least):
            self.assertEqual(answer.status, 403, f"{role}, {name}: {answer.body}")
        elif least is not None:
            self.assertNotEqual(answer.status, 401, f"{role}, {name}: {answer.body}")

    def test_requests_that_nobody_has_chosen(self):
        """Schemathesis finds no answer that is a 5xx; with more checks, none that the document does not have."""
        operations = list(self.document.operations())
        examples = -(-REQUESTS // len(operations))
        streams = [f"--exclude-operation-id={declaration['operationId']}" for _, _, declaration in operations
                   if is_stream(declaration)]
        headers = [f"--header={name}: {value}" for name, value in self.clients["other", "admin"].headers().items()]
        command = [pathlib.Path(sys.executable).parent / "schemathesis", "run",
                   f"http://{self.nobody.address()}/v1/openapi.json", *headers, *streams, "--phases=fuzzing", "--mode=all",
                   f"--max-examples={examples}", "--seed=1", "--generation-database=none", "--request-timeout=3600",
                   "--suppress-health-check=all", "--continue-on-failure", "--no-color",
                   f"--checks={CHECKS}"]
        if not command[0].exists():
            self.assertNotEqual(os.environ.get("CI"), "true", "tools/setup.sh python installs Schemathesis")
            self.skipTest("tools/setup.sh python installs Schemathesis")
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=self.folder,
                              env={**os.environ, "SCHEMATHESIS_HOOKS": "schemathesis_hooks",
                                   "PYTHONPATH": str(pathlib.Path(__file__).parent)})
        self.assertEqual(done.returncode, 0, done.stdout[-6000:] + done.stderr[-2000:])
        print(done.stdout[-400:], file=sys.stderr)
        self.assertEqual(self.nobody.ask("GET", "/healthz").status, 200)

    def test_requests_at_the_edge(self):
        """Valid but for one field: each is answered, none by a 5xx, and both tenants' lists, uploads and jobs still work."""
        with tempfile.TemporaryDirectory() as folder, fuzz_requests.start(pathlib.Path(folder)) as fleet:
            target = fuzz_requests.prepare(fleet)
            kinds = len(target.with_body()) + 1
            fuzz_requests.fuzz_edges(target, -(-EDGES // kinds), seed=1)
        print(f"requests at edges: {dict(target.statuses)}", file=sys.stderr)
        for status in (200, 201, 400, 404):
            self.assertGreater(target.statuses[status], 0, status)

    def test_alerts_name_metrics_that_there_are(self):
        """The guide's rules are in the form of Prometheus, and no metric has another name by now."""
        self.populate()
        address = re.findall(r"metrics at http://(\S+)/metrics", self.fleet.server_log())[-1]
        connection = http.client.HTTPConnection(address)
        connection.request("GET", "/metrics")
        told = set(re.findall(r"^# TYPE (\w+)", connection.getresponse().read().decode(), re.MULTILINE)) | {"up"}
        connection.close()
        guide = (ROOT / "docs/guides/alerts.md").read_text()
        rules = [rule for block in re.findall(r"```yaml\n(.*?)```", guide, re.DOTALL)
                 for group in yaml.safe_load(block)["groups"] for rule in group["rules"]]
        self.assertGreater(len(rules), 9)
        for rule in rules:
            self.assertLessEqual(rule.keys(), {"alert", "expr", "for", "annotations"})
            self.assertEqual(rule["annotations"].keys(), {"summary", "action"}, rule["alert"])
            for name in re.findall(r"\b(?:attune|process|up)\w*\b", re.sub(r"\{.*?\}", "", rule["expr"])):
                self.assertIn(re.sub("_(bucket|sum|count)$", "", name), told, rule["alert"])

    def test_damaged_models(self):
        """Each is ready or refused with a sentence, and the server lives on."""
        ends, crashes = fuzz_uploads.fuzz(self.clients["other", "member"], fuzz_uploads.models(self.folder, zoo=()),
                                          DAMAGED_MODELS, seed=1)
        self.assertEqual(sum(ends.values()), DAMAGED_MODELS)
        self.assertGreater(ends["refused"], 0)
        print(f"damaged models: {dict(ends)}, importers that crashed: {crashes}", file=sys.stderr)
        self.assertEqual(self.nobody.ask("GET", "/healthz").status, 200)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
