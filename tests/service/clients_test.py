"""The command line's client and the Python one, against the service and its OpenAPI document.

clients_test.py MODEL MOCKS    starts a server, a runner and a device that MOCKS plays; both clients reach the server
                               through a proxy that keeps what they send and breaks some of it
"""
import contextlib
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import urllib.request

from common import program
from common.fleet_members import KEY, Fleet
from common.program import PROGRAM, Failed, attune, attune_json
from common.waiting import await_true
from recording_proxy import Document, RecordingProxy

MODEL, MOCKS = (pathlib.Path(argument) for argument in sys.argv[1:3])
SETTINGS = {"trials": 8, "batch": 8, "candidate_seconds": 0.05, "layouts": False, "transfer_runs": False}

# The client alone, without the compiler that the package brings.
package = types.ModuleType("attune")
package.__path__ = [str(pathlib.Path(__file__).resolve().parents[2] / "python/attune")]
sys.modules["attune"] = package
from attune import errors  # noqa: E402
from attune._rest import part  # noqa: E402
from attune.client import Client  # noqa: E402

# Operations that neither client calls, and why, or paths that these are below. A new one belongs here or into a client.
UNREACHED = (pathlib.Path(__file__).parent / "unreached_operations.txt").read_text().splitlines()
UNREACHED = {line.split()[0] for line in UNREACHED if line and not line.startswith("#")}


def is_listed(name, path):
    """Whether no client needs to call an operation."""
    return name in UNREACHED or any(path == known or path.startswith(f"{known}/") for known in UNREACHED)


class ClientsTest(unittest.TestCase):
    """One server for all tests."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.fleet = cls.enterClassContext(Fleet(cls.folder, PROGRAM, 2, ["--http", "127.0.0.1:0"]))
        cls.fleet.add_mocks("agent", MOCKS, 0.001)
        cls.fleet.add_runner("runner")
        cls.proxy = cls.enterClassContext(contextlib.closing(RecordingProxy(cls.address)))
        token = attune("server", "token", "clients").strip()
        own = {"ATTUNE_SERVERS": str(cls.folder / "servers.json"), "ATTUNE_SUBMISSIONS": str(cls.folder / "submissions")}
        os.environ.update(own)
        program.ENVIRONMENT.update(own)
        file = cls.folder / "token"
        file.write_text(token)
        file.chmod(0o600)
        cls.login = attune("login", cls.proxy.url, "--token-file", file)
        cls.client = Client()

    @classmethod
    def address(cls):
        """Where the server that runs now listens."""
        return re.findall(r"REST at http://([^/]+)/", cls.fleet.server_log())[-1]

    def submit(self, **more):
        """Submits the model by the Python client."""
        return self.client.submit(MODEL, on=KEY, **{**SETTINGS, **more})

    def submit_by_command(self, *more):
        """Submits the model by the command line, and returns the job's id."""
        settings = [f"--set={name}={json.dumps(value)}" for name, value in SETTINGS.items()]
        return attune("jobs", "submit", MODEL, "--on", KEY, *settings, *more).strip()

    def await_device(self):
        """A server that was started anew knows the device when its agent has called."""
        await_true("the device is there", lambda: any(device.state != "away" for device in self.client.devices(KEY)))

    def test_a_login_is_shared(self):
        """The Python client finds what the command line has kept."""
        self.assertIn("tenant server, with the role member", self.login)
        self.assertEqual(self.client.me()["role"], "member")

    def check_records(self, job):
        """The database of a job is one file, which has everything alone."""
        names = [file.name for file in job.files]
        self.assertFalse([name for name in names if name.endswith("-wal")])
        name, = (name for name in names if name.endswith(".db"))
        with self.client._rest.open(f"/v1/jobs/{job.id}/files/{part(name)}") as content:
            (self.folder / "records.db").write_bytes(content.read())
        with contextlib.closing(sqlite3.connect(self.folder / "records.db")) as database:
            count, = database.execute("SELECT count(*) FROM records").fetchone()
        self.assertGreater(job.facts["result"]["trials"], 0)
        self.assertGreaterEqual(count, job.facts["result"]["trials"])

    def test_a_network_is_tuned_from_python(self):
        """Answers are lost on the way, and one job comes of it."""
        self.proxy.fail("POST", "/v1/jobs", 2)
        self.proxy.fail("PATCH", "/v1/uploads/.*", 1)
        self.proxy.fail("GET", "/v1/jobs/.*", 1, 503)
        before = len(list(self.client.jobs()))
        job = self.submit(name="python")
        self.assertEqual(len(list(self.client.jobs())), before + 1)
        job.wait()
        self.assertEqual((job.status, job.error), ("done", ""))
        self.check_records(job)
        self.proxy.fail("GET", "/v1/jobs/[^/]*/files/.*", 1)
        brought = job.download(self.folder / "python")
        self.assertIn("result.atn", [path.name for path in brought])
        result = attune_json("inspect", self.folder / "python/result.atn")
        self.assertTrue(result)
        self.assertEqual(self.client.job(job.id).status, "done")
        self.assertEqual([KEY in device.keys for device in self.client.devices(KEY)], [True])

    def test_a_network_is_tuned_from_the_command_line(self):
        """As from Python."""
        self.proxy.fail("POST", "/v1/jobs", 2)
        self.proxy.fail("PATCH", "/v1/uploads/.*", 1)
        job = self.submit_by_command("--wait").splitlines()[0]
        self.assertIn(job, [each["id"] for each in attune_json("jobs", "list", "--all")["jobs"]])
        self.assertEqual(attune_json("jobs", "show", job)["state"], "done")
        self.assertIn("done", attune("jobs", "logs", job, "--follow"))
        self.proxy.fail("GET", "/v1/jobs/[^/]*/files/.*", 1)
        shown = attune_json("jobs", "result", job, "-o", self.folder / "command")
        self.assertTrue(any(file["name"].endswith(".atn") for file in shown["files"]))

    def test_the_same_key_is_the_same_job(self):
        """A client that calls again."""
        jobs = {self.submit(name="key", key="of the test").id for _ in range(3)}
        self.assertEqual(len(jobs), 1)
        self.assertEqual(self.client.job(jobs.pop()).cancel().wait().is_over, True)

    def test_a_server_that_is_killed_is_waited_for(self):
        """Amid the upload, the submission and the wait: nothing is lost, and nothing is there twice."""
        content = self.folder / "large.bin"
        content.write_bytes(os.urandom(40 << 20))
        before = len(list(self.client.jobs()))
        ended = threading.Event()

        def kill():
            for pause in (0.3, 0.6, 0.9):
                if ended.wait(pause):
                    return
                self.fleet.members["server"].kill()
                self.fleet.members["server"].start()
                self.fleet.await_server()

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            job = self.submit(name="killed", cost_model=str(content), trials=100_000)
            seen = [event["state"] for event, _ in zip(job.events(), range(2))]
            killer.join()
            job.cancel()
            self.assertTrue(seen)
            # The server says why it does not like the file, or cancels the job before.
            self.assertIn(job.wait().status, ("failed", "cancelled"))
        finally:
            ended.set()
            killer.join()
        self.assertEqual(len(list(self.client.jobs())), before + 1)

    def test_a_command_that_is_killed_is_given_again(self):
        """The job that the server has taken already is not submitted twice."""
        before = len(list(self.client.jobs()))
        self.proxy.fail("POST", "/v1/jobs", 10**6)
        settings = [f"--set={name}={json.dumps(value)}" for name, value in SETTINGS.items()]
        command = [PROGRAM, "jobs", "submit", MODEL, "--on", KEY, *settings]
        with subprocess.Popen([str(part) for part in command], env=program.ENVIRONMENT, stderr=subprocess.DEVNULL) as cut:
            while len(list(self.client.jobs())) == before:
                self.assertIsNone(cut.poll())
                time.sleep(0.05)
            cut.kill()
        self.proxy.heal()
        self.submit_by_command()
        self.assertEqual(len(list(self.client.jobs())), before + 1)

    def test_promises_are_predicted_and_kept(self):
        """Both clients ask for the same."""
        if "/v1/predictions" not in json.loads(self.ask_document())["paths"]:
            self.skipTest("this server promises nothing")
        self.await_device()
        agreed = {"latency": "10s", "deadline": "10h"}
        predicted = self.client.predict(MODEL, on=KEY, **SETTINGS, **agreed)
        self.assertEqual({promise.name for promise in predicted.promises}, {"latency_mean", "deadline_seconds"})
        flags = [part for name, value in agreed.items() for part in (f"--{name}", value)]
        settings = [f"--set={name}={json.dumps(value)}" for name, value in SETTINGS.items()]
        again = attune_json("jobs", "predict", MODEL, "--on", KEY, *settings, *flags)["predictions"][0]
        self.assertEqual(again["verdict"], predicted.verdict)
        job = self.submit(name="promised", **agreed)
        self.assertEqual(len(job.promises), 2)
        job.cancel()

    def test_what_is_wrong_is_said(self):
        """In the server's sentences, as exceptions of their kinds."""
        with self.assertRaisesRegex(errors.NotFoundError, "there is no job"):
            self.client.job("none")
        with self.assertRaisesRegex(errors.NotFoundError, "no device has the key"):
            self.client.submit(MODEL, on="attic")
        with self.assertRaisesRegex(errors.NotFoundError, "is not a file"):
            self.client.submit("none.onnx", on=KEY)
        with self.assertRaisesRegex(errors.AccessError, "is unknown"):
            Client(self.proxy.url, "attune_other").me()
        with self.assertRaisesRegex(errors.InvalidError, "in the clear"):
            Client("http://example.org", "x")
        with self.assertRaisesRegex(Failed, "there is no job"):
            attune("jobs", "show", "none")
        job = self.submit(trials=100_000)
        with self.assertRaises(errors.WaitTimeoutError):
            job.wait(0.2)
        with self.assertRaisesRegex(errors.JobFailedError, "is cancelled"):
            job.cancel().wait().result()
        attune("jobs", "cancel", job.id)

    def test_zz_all_that_was_sent_is_in_the_document(self):
        """Each request of the tests before, which run in the order of their names; each operation is reached or listed."""
        document = Document(json.loads(self.ask_document()))
        reached = {document.check(request) for request in self.proxy.requests}
        listed = {name for name, (_, path, _) in document.operations.items() if is_listed(name, path)}
        self.assertEqual(document.operations.keys() - reached - listed, set(),
                         "call them from a client, or list them in unreached_operations.txt")
        self.assertEqual(listed & reached, set(), "unreached_operations.txt lists what clients call")

    def ask_document(self):
        """The document, which no client asks for."""
        with urllib.request.urlopen(f"http://{self.address()}/v1/openapi.json") as answer:
            return answer.read()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
