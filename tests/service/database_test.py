"""Two servers on one PostgreSQL: both answer, either may be killed, and so may PostgreSQL.

database_test.py MODEL MOCKS    the fleet has a runner and a device that MOCKS plays
"""
import argparse
import hashlib
import os
import pathlib
import sys
import tempfile
import unittest

from attackers import kill_database
from common import postgres_server, program
from common.fleet_members import KEY, Member
from common.program import PROGRAM, attune
from common.waiting import await_true

MODEL, MOCKS = (pathlib.Path(argument) for argument in sys.argv[1:3])


class FewKills(unittest.TestCase):
    """The large run of tools/attackers/kill_database.py, small."""

    OPTIONS = argparse.Namespace(program=PROGRAM, jobs=60, repeats=20, at_once=8, kills=1)

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_sqlite(self):
        """One server, which is killed amid submissions."""
        kill_database.run_sqlite(self.OPTIONS, self.folder)

    @unittest.skipIf(postgres_server.is_missing(), "PostgreSQL is not installed")
    def test_postgresql(self):
        """The server that serves is killed amid submissions, then PostgreSQL is."""
        kill_database.run_postgresql(self.OPTIONS, self.folder)


@unittest.skipIf(postgres_server.is_missing(), "PostgreSQL is not installed")
class TwoServers(unittest.TestCase):
    """With a runner and a device."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.database = self.enterContext(postgres_server.PostgresServer(self.folder / "postgresql"))
        self.servers = self.enterContext(kill_database.ended_afterwards(
            kill_database.start_two(PROGRAM, self.folder, self.database.url, "still" in self.id())))
        self.service = kill_database.Service(self.servers)
        self.serving = kill_database.serving(self.servers, self.database)
        self.other = next(server for server in self.servers if server is not self.serving)
        program.ENVIRONMENT.update({"ATTUNE_SERVER": str(self.serving.state),
                                    "ATTUNE_FLEET": str(self.folder / "nobody")})
        os.environ.update({"ATTUNE_SERVER": str(self.serving.state)})

    def member(self, name, command):
        """A process that ends with the test."""
        member = Member(command, self.folder / f"{name}.log")
        self.enterContext(kill_database.ended_afterwards([member]))
        return member

    def await_devices(self):
        """Waits until the device is there, whichever server is asked."""
        def is_there():
            status, devices = self.service.ask("GET", f"/v1/devices?key={KEY}")
            return status == 200 and [device for device in devices["devices"] if device["state"] == "free"]
        await_true("the device is there", is_there)

    def send(self, server, content):
        """Uploads a file by way of one server."""
        digest = hashlib.sha256(content).hexdigest()
        begun = self.service.ask("POST", "/v1/uploads", {"sha256": digest, "bytes": len(content)}, servers=[server])
        self.assertEqual(begun[0], 201, begun)
        sent = self.service.ask("PATCH", f"/v1/uploads/{digest}", content,
                                {"Content-Type": "application/offset+octet-stream", "Upload-Offset": "0"}, [server])
        self.assertEqual(sent[0], 204, sent)
        return digest

    def await_done(self, job):
        """The job, once it is over."""
        def ended():
            status, shown = self.service.ask("GET", f"/v1/jobs/{job}")
            self.assertEqual(status, 200, shown)
            return shown["state"] in ("done", "failed", "cancelled") and shown
        return await_true(f"{job} ends", ended)

    def test_the_other_one_takes_over(self):
        """A running job continues, with the agents and runners of the server that was killed."""
        tenant = self.service.ask("GET", "/v1/me")[1]["tenant"]
        invitation = attune("fleet", "invite", "--role", "runner", "--owner", tenant).strip()
        self.member("runner", [PROGRAM, "runner", invitation, "--state", self.folder / "runner"])
        self.member("agent", [MOCKS, self.serving.state, self.folder / "agent", KEY, 1, 0.001])
        self.await_devices()
        digest = self.send(self.other, MODEL.read_bytes())
        body = {"name": "net", "kind": "tuning", "on": KEY, "inputs": [{"name": "in/net.onnx", "sha256": digest}],
                "settings": {"model": "in/net.onnx", "trials": 16, "batch": 8, "candidate_seconds": 0.05,
                             "layouts": False, "transfer_runs": False}}
        headers = {"Idempotency-Key": "net"}
        status, job = self.service.ask("POST", "/v1/jobs", body, headers)
        self.assertEqual(status, 201, job)
        token = int(self.database.query("SELECT token FROM server_leases")[0])
        self.serving.kill()
        self.assertIs(kill_database.serving([self.other], self.database), self.other)
        self.assertGreater(int(self.database.query("SELECT token FROM server_leases")[0]), token)
        self.assertEqual(self.service.ask("POST", "/v1/jobs", body, headers)[1]["id"], job["id"])
        ended = self.await_done(job["id"])
        self.assertEqual(ended["state"], "done", ended)
        self.serving.start()  # now it is the other one
        connection = kill_database.http.client.HTTPConnection(self.other.address)
        connection.request("GET", f"/v1/jobs/{job['id']}/files/out%2Fresult.atn",
                           headers={"Authorization": f"Bearer {self.service.token}"})
        content = connection.getresponse().read()
        connection.close()
        wanted = next(file for file in ended["files"] if file["name"] == "out/result.atn")
        self.assertEqual(hashlib.sha256(content).hexdigest(), wanted["sha256"])

    def test_one_that_stood_still_is_replaced(self):
        """It notices when it continues, and has changed nothing."""
        with self.serving.stopped():
            self.assertIs(kill_database.serving([self.other], self.database), self.other)
        job = self.service.submit("after")
        self.assertIn(job, self.service.jobs())
        self.assertIs(kill_database.serving(self.servers, self.database), self.other)

    def test_tables_go_back_and_forward(self):
        """A store's tables are migrated by hand while no server runs."""
        self.service.submit("job")  # now all tables are there
        for server in self.servers:
            server.kill()
        url = self.database.url
        shown = attune("server", "database", "show", "--database", url)
        self.assertRegex(shown, r"jobs +(\d+) +\1\n")
        back = attune("server", "database", "migrate", "--database", url, "--store", "jobs", "--to", 1)
        self.assertRegex(back, r"jobs +1 +\d+\n")
        self.assertRegex(attune("server", "database", "migrate", "--database", url), r"jobs +(\d+) +\1\n")
        self.database.query("UPDATE attune_versions SET version = 99 WHERE store = 'fleet'")
        with self.assertRaisesRegex(program.Failed, "newer attune"):
            attune("server", "database", "migrate", "--database", url)
        with self.assertRaisesRegex(program.Failed, "not a URL"):
            attune("server", "database", "show", "--database", "postgresql://:secret@[/")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
