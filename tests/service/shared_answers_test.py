"""Data of one tenant that reaches another, and files that a runner hands in, with jobs that run.

shared_answers_test.py MODEL MOCKS    starts a server, a runner for each of two tenants, and a device that MOCKS plays
"""
import contextlib
import hashlib
import json
import os
import pathlib
import sys
import tempfile
import threading
import unittest

from common.fleet_members import KEY, Fleet
from common.program import PROGRAM, attune, attune_json
from common.rest_client import first_client
from common.waiting import await_true

MODEL, MOCKS = (pathlib.Path(argument) for argument in sys.argv[1:3])
SHARED = "in/shared-records.jsonl"
NATIVE_CODE = (b"\x8fATN", b"\x7fELF", b"!<arch>")


class SharedAnswersTest(unittest.TestCase):
    """One server for all tests."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.fleet = cls.enterClassContext(Fleet(cls.folder, PROGRAM, 2, ["--http", "127.0.0.1:0"]))
        cls.fleet.add_mocks("agent", MOCKS, 0.001)
        cls.admin = first_client(cls.fleet)
        cls.clients = {}
        for tenant in ("ann", "bob", "carl", "dora"):
            cls.clients[tenant] = cls.admin.token(tenant, "operator")
            cls.clients[tenant].upload(MODEL.read_bytes())
            cls.fleet.add_runner(f"runner-{tenant}", tenant)

    def body(self, **settings):
        """The body that submits a tuning job with an agreement."""
        return {"name": "net", "kind": "tuning", "on": KEY,
                "inputs": [{"name": "in/net.onnx", "sha256": hashlib.sha256(MODEL.read_bytes()).hexdigest()}],
                "agreement": {"latency_ms": {"mean": 100}},
                "settings": {"model": "in/net.onnx", "trials": 8, "batch": 8, "candidate_seconds": 0.05,
                             "judge_seconds": 0.1, "layouts": False, **settings}}

    def share(self, tenant, answers):
        """Sets the tenant's consent."""
        self.clients[tenant].told("PUT", f"/v1/tenants/{tenant}/consent", {"answers": answers, "cost_model": False})

    def files(self, tenant, job):
        """The contents of all files of a job, by their names."""
        shown = self.clients[tenant].told("GET", f"/v1/jobs/{job}")["files"]
        contents = {}
        for file in shown:
            path = f"/v1/jobs/{job}/files/{file['name'].replace('/', '%2F')}"
            contents[file["name"]] = self.clients[tenant].ask("GET", path).body
            self.assertEqual(hashlib.sha256(contents[file["name"]]).hexdigest(), file["sha256"])
        return contents

    def begins_with_records(self, tenant):
        """Whether a job of the tenant's, which is cancelled early, begins with others' records."""
        job = self.clients[tenant].told("POST", "/v1/jobs", self.body(trials=100_000))["id"]
        files = {name for name in self.files(tenant, job) if name.startswith("in/")}
        self.clients[tenant].told("POST", f"/v1/jobs/{job}/cancel")
        self.assertEqual(self.clients[tenant].await_end(job)["state"], "cancelled")
        self.assertLessEqual(files, {"in/net.onnx", SHARED})
        predicted = self.clients[tenant].told("POST", "/v1/predictions", self.body())
        self.assertEqual(predicted["verdict"], "accepted")
        is_said = any("another tenant shares" in line for line in predicted["promises"][0]["evidence"])
        self.assertEqual(is_said, SHARED in files)
        return is_said

    def inspected(self, content):
        """The metadata of an artifact."""
        path = self.folder / "inspected.atn"
        path.write_bytes(content)
        return attune_json("inspect", path)

    def keys(self, tenant):
        """The tenant's keys."""
        return [key["key"] for key in self.clients[tenant].told("GET", "/v1/signing-keys")["keys"]]

    def tune(self, tenant, **settings):
        """The id of a job of the tenant's that is done, and known."""
        job = self.clients[tenant].told("POST", "/v1/jobs", self.body(**settings))["id"]
        ended = self.clients[tenant].await_end(job)
        self.assertEqual(ended["state"], "done", ended)
        self.assertEqual({promise["state"] for promise in ended["promises"]}, {"met"}, ended["promises"])
        await_true("the answer is known",
                   lambda: self.clients[tenant].told("POST", "/v1/predictions", self.body())["verdict"] == "known")
        return job

    def test_records_cross_by_consent_and_native_code_never(self):
        """Each way: a consent that is off, on, and withdrawn."""
        first = self.tune("ann")
        made = {hashlib.sha256(content).hexdigest() for name, content in self.files("ann", first).items()
                if content and not name.startswith("in/")}
        self.assertFalse(self.begins_with_records("carl"))
        self.share("ann", True)
        self.assertTrue(self.begins_with_records("carl"))

        second = self.tune("bob")
        files = self.files("bob", second)
        records = files[SHARED].decode()
        self.assertEqual({json.loads(line)["run"] for line in records.splitlines()}, {"shared"})
        for secret in ("runner-ann", first, "net.onnx"):
            self.assertNotIn(secret, records)
        for name, content in files.items():
            self.assertNotIn(hashlib.sha256(content).hexdigest(), made, name)
            if name != "out/result.atn":
                self.assertFalse(content.startswith(NATIVE_CODE), name)
        self.assertEqual(self.inspected(files["out/result.atn"])["signed_by"], self.keys("bob"))
        self.assertNotEqual(self.keys("bob"), self.keys("ann"))
        shown = self.clients["bob"].told("GET", f"/v1/jobs/{second}")
        self.assertNotIn("is_known", shown["result"])
        self.assertGreater(shown["result"]["judged"]["runs"], 0)

        self.share("ann", False)
        self.assertFalse(self.begins_with_records("carl"))
        # The other way: bob may not pass on records from ann, but may share those of bob's own jobs.
        self.share("bob", True)
        self.assertTrue(self.begins_with_records("carl"))
        self.share("bob", False)
        self.assertFalse(self.begins_with_records("carl"))
        # Within the tenant, the artifact is there at once.
        again = self.clients["bob"].told("POST", "/v1/jobs", self.body())
        self.assertEqual(again["state"], "done")
        self.assertEqual(self.files("bob", again["id"]), {"out/result.atn": files["out/result.atn"]})

    def test_another_networks_artifact_is_refused(self):
        """A file that is replaced on the runner's disk is lost with a sentence, and the job continues without it."""
        attune("zoo", "squeezenet1_1", "-o", self.folder / "other.onnx")
        attune("compile", self.folder / "other.onnx", "-o", self.folder / "other.atn")
        other = (self.folder / "other.atn").read_bytes()
        member = self.clients["dora"]
        job = member.told("POST", "/v1/jobs", self.body())["id"]
        is_over = threading.Event()

        def replace():
            beside = self.folder / "beside.atn"
            while not is_over.is_set():
                with contextlib.suppress(FileNotFoundError):  # the runner removes a job's folder
                    for path in (self.folder / "runner-dora").rglob("out/result.atn"):
                        if path.stat().st_size != len(other):
                            beside.write_bytes(other)
                            os.replace(beside, path)
        attacker = threading.Thread(target=replace)
        attacker.start()
        sentence = "out/result.atn: is not the artifact that the job has built: it has"
        try:
            await_true("the file is refused", lambda: any(
                sentence in stage["reason"] for stage in member.told("GET", f"/v1/jobs/{job}")["stages"]))
        finally:
            is_over.set()
            attacker.join()
        ended = member.await_end(job)
        if ended["state"] == "failed":
            self.assertIn(sentence, ended["error"])
            return
        artifact = self.inspected(self.files("dora", job)["out/result.atn"])
        self.assertEqual(artifact["model"]["sha256"], hashlib.sha256(MODEL.read_bytes()).hexdigest())
        self.assertEqual(artifact["signed_by"], self.keys("dora"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
