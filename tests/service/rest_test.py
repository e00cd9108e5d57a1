"""From a token to a tuned network over REST, though the server is killed on the way.

rest_test.py MODEL MOCKS    starts a server, a runner and a device that MOCKS plays, whose answers take no measuring
"""
import array
import concurrent.futures
import hashlib
import http.client
import json
import os
import pathlib
import re
import signal
import ssl
import struct
import sys
import tempfile
import time
import types
import unittest

from common.fleet_members import KEY, Fleet, Member
from common.program import PROGRAM, Failed, attune, run_tool
from common.rest_client import Client, first_client
from common.waiting import await_true

MODEL, MOCKS = (pathlib.Path(argument) for argument in sys.argv[1:3])
PIECE = 1 << 12  # bytes
SAMPLE_SHAPE, SAMPLE_VALUES = (1, 16, 14, 14), 16 * 14 * 14  # of the model's input


class RestTest(unittest.TestCase):
    """One server for all tests."""

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.fleet = cls.enterClassContext(Fleet(folder, PROGRAM, 2, ["--http", "127.0.0.1:0"]))
        cls.fleet.add_mocks("agent", MOCKS, 0.001)
        cls.fleet.add_runner("runner")
        cls.admin = first_client(cls.fleet)
        cls.member = cls.admin.token("server", "member")
        cls.stranger = cls.admin.token("stranger", "member")
        cls.content = MODEL.read_bytes()
        cls.digest = hashlib.sha256(cls.content).hexdigest()

    def job(self, **settings):
        """The body that submits a tuning job."""
        return {"name": "net", "kind": "tuning", "on": KEY,
                "inputs": [{"name": "in/net.onnx", "sha256": self.digest}],
                "settings": {"model": "in/net.onnx", "trials": 8, "batch": 8, "candidate_seconds": 0.05,
                             "layouts": False, "transfer_runs": False, **settings}}

    def test_a_document_describes_it(self):
        """Every client gets it."""
        document = Client(self.fleet).ask("GET", "/v1/openapi.json")
        self.assertEqual(document.status, 200)
        self.assertIn("/v1/jobs/{id}/files/{name}", document.json()["paths"])
        self.assertEqual(Client(self.fleet).ask("GET", "/v1/me").status, 401)

    def test_a_model_becomes_a_tuned_network(self):
        """The upload breaks off, the server is killed, and one job comes of many submissions."""
        self.member.ask("DELETE", f"/v1/uploads/{self.digest}")  # other tests may have sent it
        begun = self.member.ask("POST", "/v1/uploads", {"sha256": self.digest, "bytes": len(self.content)})
        self.assertEqual(begun.headers["Location"], f"/v1/uploads/{self.digest}")
        self.assertEqual(self.member.append(self.digest, 0, self.content[:PIECE]).status, 204)
        self.fleet.members["server"].kill()
        self.fleet.members["server"].start()
        self.fleet.await_server()
        known = self.member.ask("HEAD", f"/v1/uploads/{self.digest}")
        self.assertEqual(known.headers["Upload-Offset"], str(PIECE))
        self.member.upload(self.content)

        def submit(_):
            return self.member.ask("POST", "/v1/jobs", self.job(), {"Idempotency-Key": "the tuned network"})
        with concurrent.futures.ThreadPoolExecutor(10) as pool:
            answers = list(pool.map(submit, range(100)))
        self.assertEqual({answer.status for answer in answers}, {201}, answers[0].body)
        jobs = {answer.json()["id"] for answer in answers}
        self.assertEqual(len(jobs), 1)
        job = jobs.pop()

        events = self.member.events(job)
        self.assertEqual(events[-1]["state"], "done", events[-1])
        self.assertGreater(len({event["stage"] for event in events}), 1)
        shown = self.member.ask("GET", f"/v1/jobs/{job}").json()
        files = {file["name"]: file for file in shown["files"]}
        tuned = self.member.ask("GET", f"/v1/jobs/{job}/files/out%2Fresult.atn")
        self.assertEqual(tuned.status, 200)
        self.assertEqual(hashlib.sha256(tuned.body).hexdigest(), files["out/result.atn"]["sha256"])
        self.assertTrue(shown["result"])
        self.assertGreater(self.admin.told("GET", "/v1/tenants/server")["used"]["device_seconds"], 0)

        for path in ("", "/events", "/files/out%2Fresult.atn"):
            self.assertEqual(self.stranger.ask("GET", f"/v1/jobs/{job}{path}").status, 404)
        self.assertEqual(self.stranger.ask("GET", "/v1/jobs").json()["jobs"], [])

    def test_promises_are_kept_and_known_afterwards(self):
        """A job keeps what it promised; the next one is answered by it, and the impossible is refused."""
        self.member.upload(self.content)
        body = self.job()
        body["agreement"] = {"latency_ms": {"mean": 100, "p99": 200}, "accuracy_loss": 0, "size_bytes": 1e9,
                             "deadline_seconds": 36_000, "priority": "high"}
        body["settings"]["seed"] = 7
        submitted = self.member.ask("POST", "/v1/jobs", body)
        self.assertEqual(submitted.status, 201, submitted.body)
        promises = {promise["name"]: promise for promise in submitted.json()["promises"]}
        self.assertEqual(set(promises), {"latency_mean", "latency_p99", "accuracy_loss", "size_bytes",
                                         "deadline_seconds"})
        self.assertTrue(all(promise["evidence"] for promise in promises.values()))
        ended = self.member.events(submitted.json()["id"])[-1]
        self.assertEqual(ended["state"], "done", ended)
        self.assertEqual({promise["state"] for promise in ended["promises"]}, {"met"}, ended["promises"])

        await_true("the answer is known",
                   lambda: self.member.ask("POST", "/v1/predictions", body).json()["verdict"] == "known")
        again = self.member.ask("POST", "/v1/jobs", body).json()
        self.assertEqual(again["state"], "done")
        self.assertEqual({promise["state"] for promise in again["promises"]}, {"met"})
        self.assertEqual(self.member.ask("GET", f"/v1/jobs/{again['id']}/files/out%2Fresult.atn").status, 200)

        # No kernel is faster than its bound, and what rules the answer out does not rule out what was measured.
        result = self.member.ask("GET", f"/v1/jobs/{submitted.json()['id']}").json()["result"]
        for task in result["tasks"]:
            self.assertLessEqual(task["bound_ms"], task["tuned_ms"] * (1 + 1e-9), task)
        measured = result["judged"]["mean_ms"][0]
        body["agreement"] = {"latency_ms": {"mean": 1.5 * measured}, "size_bytes": 1, "least_probability": 0}
        told = self.member.ask("POST", "/v1/predictions", body).json()
        self.assertEqual(told["verdict"], "accepted", told)
        self.assertLessEqual(told["bound_ms"], measured)
        self.assertLessEqual(told["bound_ms"], told["latency_ms"]["low"])
        self.assertGreater(told["promises"][0]["probability"], 0.8)

        body["agreement"] = {"latency_ms": {"mean": 1e-9}}
        refused = self.member.ask("POST", "/v1/jobs", body)
        self.assertEqual(refused.status, 409)
        self.assertIn("roofline", refused.json()["detail"])

    def test_a_job_is_cancelled(self):
        """It ends early, and stays listed."""
        self.member.upload(self.content)
        job = self.member.ask("POST", "/v1/jobs", self.job(trials=100_000)).json()["id"]
        self.assertEqual(self.member.ask("POST", f"/v1/jobs/{job}/cancel").status, 200)
        self.assertEqual(self.member.events(job)[-1]["state"], "cancelled")
        listed = self.member.ask("GET", "/v1/jobs?state=cancelled").json()["jobs"]
        self.assertIn(job, [other["id"] for other in listed])

    def confined(self, job):
        """For each process that has run the job: whether no thread of it may gain rights any more, as they were last."""
        known = {}
        while self.member.told("GET", f"/v1/jobs/{job}")["ended"] is None:
            for process in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    command = (process / "cmdline").read_bytes().split(b"\0")
                    if command[2:3] != [b"runner"] or not self.is_of_fleet(process):
                        continue
                    statuses = [(thread / "status").read_text() for thread in (process / "task").iterdir()]
                    known[process.name] = all("\nNoNewPrivs:\t1\n" in status for status in statuses)
                except OSError:
                    continue  # it has ended meanwhile
            time.sleep(0.02)
        return known

    def is_of_fleet(self, process):
        """Whether the runner has started it."""
        parent = re.search(r"^PPid:\t(\d+)$", (process / "status").read_text(), re.MULTILINE)[1]
        return int(parent) == self.fleet.members["runner"].pid()

    def test_jobs_are_confined(self):
        """Whole jobs of both kinds end well in their fences, which hold for all threads of their processes."""
        samples = []
        for number in range(8):
            values = array.array("f", [((number + 3) * index % 17) / 17 for index in range(SAMPLE_VALUES)])
            header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {SAMPLE_SHAPE}, }}".encode()
            header += b" " * (-(len(header) + 11) % 64) + b"\n"
            samples.append(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + values.tobytes())
        self.member.upload(self.content)
        quantization = {"name": "quantized", "kind": "quantization", "on": KEY,
                        "inputs": [{"name": "in/net.onnx", "sha256": self.digest}] +
                                  [{"name": f"in/data/{number}.npy", "sha256": self.member.upload(sample)}
                                   for number, sample in enumerate(samples)],
                        "settings": {"model": "in/net.onnx", "data": "in/data", "measure_seconds": 0.1,
                                     "variants": [{"name": "small", "calibration": "min-max"}]}}
        for body in (self.job(seed=11), quantization):
            job = self.member.told("POST", "/v1/jobs", body)["id"]
            processes = self.confined(job)
            ended = self.member.told("GET", f"/v1/jobs/{job}")
            self.assertEqual(ended["state"], "done", ended)
            self.assertTrue(processes)
            self.assertTrue(all(processes.values()), processes)
        log = self.fleet.members["runner"].log.read_text()
        self.assertTrue("confined in part" not in log or "Linux 6." in log, log[-2000:])

    def test_a_bad_model_says_why(self):
        """The importer's sentence comes back, and the service lives on."""
        content = b"no model"
        digest = hashlib.sha256(content).hexdigest()
        self.member.ask("POST", "/v1/uploads", {"sha256": digest, "bytes": len(content)})
        self.assertEqual(self.member.append(digest, 0, content).status, 204)
        body = self.job()
        body["inputs"][0]["sha256"] = digest
        job = self.member.ask("POST", "/v1/jobs", body).json()["id"]
        ended = self.member.events(job)[-1]
        self.assertEqual(ended["state"], "failed")
        self.assertIn("net.onnx", ended["error"])

    def test_tokens_are_made_beside_the_server(self):
        """They count at once, and until they are revoked."""
        text = attune("server", "token", "beside", "--role", "viewer", "--tenant", "ann").strip()
        client = Client(self.fleet, text)
        me = client.ask("GET", "/v1/me").json()
        self.assertEqual((me["tenant"], me["role"]), ("ann", "viewer"))
        self.assertEqual(client.ask("POST", "/v1/jobs", self.job()).status, 403)
        self.assertEqual(self.admin.ask("DELETE", f"/v1/tokens/{me['id']}").status, 204)
        self.assertEqual(client.ask("GET", "/v1/me").status, 401)
        with self.assertRaisesRegex(Failed, "should match"):
            attune("server", "token", "x", "--tenant", "no/name")
        with self.assertRaisesRegex(Failed, "in the clear"):
            attune("server", "--http", "0.0.0.0:0")

    def test_a_certificate_encrypts(self):
        """A client that trusts it is answered, and the first token is told here too."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        chain, key = folder / "chain.pem", folder / "key.pem"
        run_tool("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
                 "1", "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", chain)
        server = Member([PROGRAM, "server", "--state", folder / "state", "--listen", "127.0.0.1:0", "--enrolment",
                         "127.0.0.1:0", "--http", "127.0.0.1:0", "--http-tls", chain, key], folder / "log")
        self.addCleanup(server.kill)
        pattern = re.compile(r"REST at https://([^/]+)/.*^(attune_\S{43})$", re.DOTALL | re.MULTILINE)
        while (found := pattern.search(server.log.read_text())) is None:
            self.assertIsNone(server.ended(), server.log.read_text())
            time.sleep(0.05)
        connection = http.client.HTTPSConnection(found[1], context=ssl.create_default_context(cafile=chain))
        connection.request("GET", "/v1/me", headers={"Authorization": f"Bearer {found[2]}"})
        self.assertEqual(json.loads(connection.getresponse().read())["role"], "admin")
        connection.close()

    def test_a_server_that_ends_says_so(self):
        """Streams are told, questions are answered, nothing new is begun."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        server = Member([PROGRAM, "server", "--state", folder / "state", "--listen", "127.0.0.1:0", "--enrolment",
                         "127.0.0.1:0", "--http", "127.0.0.1:0", "--drain-seconds", "3600"], folder / "log")
        self.addCleanup(server.kill)
        while not re.search(r"^attune_\S{43}$", server.log.read_text(), re.MULTILINE):
            self.assertIsNone(server.ended(), server.log.read_text())
            time.sleep(0.05)
        client = first_client(types.SimpleNamespace(server_log=server.log.read_text))
        self.assertEqual(client.ask("GET", "/readyz").status, 200)
        body = {"name": "mock", "kind": "mock", "settings": {"stages": [{"name": "build", "seconds": 1}]}}
        job = client.told("POST", "/v1/jobs", body)["id"]
        stream = client.connect()
        stream.request("GET", f"/v1/jobs/{job}/events", headers=client.headers())
        events = stream.getresponse()
        self.assertEqual(events.status, 200)
        os.kill(server.pid(), signal.SIGTERM)
        self.assertIn(b"event: ending\n", events.read())
        stream.close()
        self.assertEqual(client.ask("GET", "/readyz").status, 503)
        self.assertEqual(client.ask("GET", "/healthz").status, 200)
        self.assertEqual(client.ask("GET", f"/v1/jobs/{job}").status, 200)
        refused = client.ask("POST", "/v1/jobs", body)
        self.assertEqual(refused.status, 503)
        self.assertTrue(refused.headers["Retry-After"])

    def test_devices_are_listed(self):
        """With the key that jobs name."""
        devices = self.member.ask("GET", f"/v1/devices?key={KEY}").json()["devices"]
        self.assertEqual(len(devices), 1)
        self.assertIn(devices[0]["state"], ("free", "held"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
