"""attune up, down, backup and restore, as a person has them, on this machine alone.

up_test.py MODEL MOCKS    MOCKS plays devices, whose answers take no measuring
"""
import hashlib
import http.client
import json
import os
import pathlib
import signal
import socket
import sqlite3
import sys
import tempfile
import unittest

from common import program
from common.fleet_members import KEY, Member
from common.program import PROGRAM, Failed, attune, attune_json
from common.waiting import await_true

MODEL, MOCKS = (pathlib.Path(argument) for argument in sys.argv[1:3])
ANY_PORTS = [part for flag in ("--listen", "--enrolment", "--metrics") for part in (flag, "127.0.0.1:0")]
ANY_HTTP = ["--http", "127.0.0.1:0"]
PASSPHRASE = "correct horse battery staple"


def is_gone(pid):
    """Whether no such process runs."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return stat.rsplit(")", 1)[1].split()[0] == "Z"


class UpCase(unittest.TestCase):
    """A test with a folder of its own, and what `attune up` has made there."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.state = self.folder / "up"
        own = {"ATTUNE_UP": str(self.state), "ATTUNE_SERVER": str(self.state / "server"),
               "ATTUNE_FLEET": str(self.folder / "nobody"), "ATTUNE_LEASES": str(self.folder / "leases"),
               "ATTUNE_SERVERS": str(self.folder / "servers.json")}
        os.environ.update(own)
        program.ENVIRONMENT.update(own)
        self.addCleanup(self.down)
        self.token = None

    def up(self, *flags):
        """Sets up, and keeps the token if it is told."""
        shown = attune_json("up", *flags)
        self.token = shown.get("token", self.token)
        self.address = shown["address"].removeprefix("http://")
        return shown

    def down(self):
        """Ends it if it is there."""
        if (self.state / "installation.json").exists():
            attune("down")

    def ask(self, method, path, body=None, headers=None):
        """The status and the body of an answer."""
        headers = {"Authorization": f"Bearer {self.token}", **(headers or {})}
        if body is not None and not isinstance(body, bytes):
            body, headers["Content-Type"] = json.dumps(body), "application/json"
        connection = http.client.HTTPConnection(self.address)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, content

    def upload(self):
        """Sends the model; returns its digest."""
        content = MODEL.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        self.assertEqual(self.ask("POST", "/v1/uploads", {"sha256": digest, "bytes": len(content)})[0], 201)
        self.ask("PATCH", f"/v1/uploads/{digest}", content,
                 {"Content-Type": "application/offset+octet-stream", "Upload-Offset": "0"})
        return digest

    def submit(self, name, **settings):
        """Sends the model and submits a tuning job; returns its id."""
        digest = self.upload()
        status, body = self.ask("POST", "/v1/jobs", {
            "name": name, "kind": "tuning", "on": KEY, "inputs": [{"name": "in/net.onnx", "sha256": digest}],
            "settings": {"model": "in/net.onnx", "trials": 8, "batch": 4, "candidate_seconds": 0.05, "layouts": False,
                         "transfer_runs": False, **settings}}, {"Idempotency-Key": name})
        self.assertEqual(status, 201, body)
        return json.loads(body)["id"]

    def job(self, job):
        """The job as it is now."""
        return json.loads(self.ask("GET", f"/v1/jobs/{job}")[1])

    def await_done(self, job):
        """The job once it is done."""
        done = await_true(f"{job} ends", lambda: (now := self.job(job))["state"] in ("done", "failed", "cancelled") and now)
        self.assertEqual(done["state"], "done", done)
        return done


class UpTest(UpCase):
    """Services that watch over themselves."""

    def pids(self):
        """The processes of the services, by name."""
        return {service["name"]: service["pid"] for service in attune_json("up")["services"]}

    def test_it_tunes_survives_and_goes(self):
        """From nothing to a tuned network that runs, with processes killed on the way."""
        shown = self.up(*ANY_PORTS, *ANY_HTTP, "--trust", "server")
        self.assertEqual([service["name"] for service in shown["services"]], ["server", "agent-1", "runner"])
        self.assertTrue(all(service["is_healthy"] for service in shown["services"]), shown)
        self.assertNotIn(self.token, "".join(log.read_text() for log in (self.state / "logs").iterdir()))
        # The token is a login, too, for commands and for Python.
        self.assertEqual(attune_json("jobs", "list")["jobs"], [])
        self.assertEqual(json.loads((self.folder / "servers.json").read_text())["default"], shown["address"])
        again = attune_json("up")
        self.assertNotIn("token", again)
        self.assertEqual([service["pid"] for service in again["services"]],
                         [service["pid"] for service in shown["services"]])

        before = self.pids()
        os.kill(before["server"], signal.SIGKILL)
        await_true("the server is started again", lambda: self.pids()["server"] not in (0, before["server"]))
        await_true("health", lambda: all(service["is_healthy"] for service in attune_json("up")["services"]))
        tuned = self.await_done(self.submit("net"))
        status, artifact = self.ask("GET", f"/v1/jobs/{tuned['id']}/files/out%2Fresult.atn")
        self.assertEqual(status, 200)
        (self.folder / "net.atn").write_bytes(artifact)
        keys = json.loads(self.ask("GET", "/v1/signing-keys")[1])["keys"]
        (self.folder / "server.pub").write_text(keys[0]["pem"])
        attune("run", self.folder / "net.atn", "--trust", self.folder / "server.pub", "--input", "x=random:1")
        self.assertEqual(attune_json("inspect", self.folder / "net.atn")["signed_by"], [keys[0]["key"]])

        supervisor = int((self.state / "supervisor.json").read_text().split()[0])
        before = self.pids()
        os.kill(supervisor, signal.SIGKILL)
        await_true("services end with their supervisor", lambda: all(map(is_gone, before.values())))
        with self.assertRaisesRegex(Failed, "nothing runs; attune up starts it again"):
            attune("up", "--show")
        self.up()
        self.assertEqual(self.job(tuned["id"])["state"], "done")
        before = self.pids()
        attune("down", "--keep-state")
        self.assertTrue(all(map(is_gone, before.values())))
        self.assertTrue((self.state / "server" / "fleet.db").exists())
        self.assertIn(self.token, (self.folder / "servers.json").read_text())
        attune("down")
        self.assertFalse(self.state.exists())
        self.assertNotIn(self.token, (self.folder / "servers.json").read_text())
        with self.assertRaisesRegex(Failed, "no server is known"):
            attune("jobs", "list")
        with self.assertRaisesRegex(Failed, "nothing is set up there"):
            attune("down")

    def test_a_second_tenant_needs_nobodys_help(self):
        """Upload, job and result of a tenant that has nothing but a token, beside the first one's."""
        self.up(*ANY_PORTS, *ANY_HTTP, "--trust", "server", "--trust", "ann")
        first = self.token
        status, body = self.ask("POST", "/v1/tokens", {"name": "ann", "role": "member", "tenant": "ann"})
        self.assertEqual(status, 201, body)
        self.token = json.loads(body)["text"]
        [device] = json.loads(self.ask("GET", "/v1/devices")[1])["devices"]
        self.assertEqual((device["owner"], device["is_usable"]), ("server", True))
        job = self.submit("net")
        waits = set()

        def ended():
            now = self.job(job)
            waits.add(now["waits_for"])
            return now["state"] in ("done", "failed", "cancelled") and now
        done = await_true(f"{job} ends", ended)
        self.assertEqual(done["state"], "done", done)
        self.assertFalse([text for text in waits if "none has joined" in text or "no machine" in text], waits)
        status, artifact = self.ask("GET", f"/v1/jobs/{job}/files/out%2Fresult.atn")
        self.assertEqual(status, 200)
        (self.folder / "net.atn").write_bytes(artifact)
        keys = json.loads(self.ask("GET", "/v1/signing-keys")[1])["keys"]
        self.assertEqual(attune_json("inspect", self.folder / "net.atn")["signed_by"], [keys[0]["key"]])
        # Neither sees what is the other's.
        self.token = first
        self.assertEqual(self.ask("GET", f"/v1/jobs/{job}")[0], 404)
        self.assertNotIn(keys[0]["key"], [key["key"] for key in json.loads(self.ask("GET", "/v1/signing-keys")[1])["keys"]])

    def test_an_address_in_use_is_told(self):
        """With the flag that names another one, and nothing is left running."""
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            with self.assertRaisesRegex(Failed, f"{address}: is in use .* --http"):
                attune("up", *ANY_PORTS, "--http", address)
        self.assertFalse(self.state.exists())

    def test_a_service_that_cannot_start_says_why(self):
        """The command fails with the last lines of its log, and nothing keeps running."""
        self.state.mkdir(parents=True)
        (self.state / "server").mkdir(mode=0o700)
        (self.state / "server" / "authorities.pem").write_text("no authority")
        (self.state / "server" / "authorities.pem").chmod(0o600)
        with self.assertRaisesRegex(Failed, "server does not stay up .*authorities.pem"):
            attune("up", *ANY_PORTS, *ANY_HTTP)
        supervisor = int((self.state / "supervisor.json").read_text().split()[0])
        self.assertTrue(is_gone(supervisor))


class BackupCase(UpCase):
    """A test with members that come back by themselves, and a passphrase."""

    def setUp(self):
        super().setUp()
        self.passphrase = self.folder / "passphrase"
        self.passphrase.write_text(PASSPHRASE + "\n")
        self.passphrase.chmod(0o600)
        self.members = {}
        self.addCleanup(lambda: [member.kill() for member in self.members.values() if member.ended() is None])

    def start_members(self):
        """Devices that MOCKS plays, and a runner, which come back by themselves."""
        command = [MOCKS, self.state / "server", self.folder / "mocks", KEY, 1, 0.05]
        self.members["mocks"] = Member(command, self.folder / "mocks.log")
        invitation = attune("fleet", "invite", "--role", "runner", "--owner", "server").strip()
        self.members["runner"] = Member([PROGRAM, "runner", invitation, "--state", self.folder / "runner"],
                                        self.folder / "runner.log")
        await_true("the runner", lambda: "running jobs" in self.members["runner"].log.read_text())

    def await_first_stage(self, job):
        """Waits until the job runs."""
        await_true("the job's first stage", lambda: (now := self.job(job))["stage"] or now["ended"] is not None)

    def remove_server(self):
        """The server's folder is lost."""
        for path in sorted((self.state / "server").rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)

    def check_file(self, done):
        """The first file of a job that is done has its digest."""
        name = done["files"][0]
        status, content = self.ask("GET", f"/v1/jobs/{done['id']}/files/{name['name'].replace('/', '%2F')}")
        self.assertEqual((status, hashlib.sha256(content).hexdigest()), (200, name["sha256"]))


class BackupTest(BackupCase):
    """A server is backed up while it works, is lost, and is restored."""

    def epoch(self):
        """The fleet's epoch, as the server's database has it."""
        with sqlite3.connect(self.state / "server" / "fleet.db") as database:
            return database.execute("SELECT latest FROM epochs").fetchone()[0]

    def test_nothing_acknowledged_is_lost(self):
        """Jobs that were acknowledged before the backup are there after it, and run to their end."""
        self.up(*ANY_PORTS, *ANY_HTTP, "--agents", "0")
        self.start_members()
        done = self.await_done(self.submit("first"))
        running = self.submit("second", trials=60)
        self.await_first_stage(running)
        backup = self.folder / "state.backup"
        attune("backup", backup, "--passphrase-file", self.passphrase)
        self.assertEqual(backup.stat().st_mode & 0o077, 0)
        self.assertNotIn(b"PRIVATE KEY", backup.read_bytes())
        self.assertFalse(list((self.state / "server").glob(".backup-*")))
        after = self.submit("third")
        old_token, old_epoch = self.token, self.epoch()
        late = attune("fleet", "invite", "--role", "client", "--owner", "ann").strip()
        attune("fleet", "join", late, "--credentials", self.folder / "late")

        attune("down", "--keep-state")
        self.check_refusals(backup)
        self.remove_server()
        self.token = attune("restore", backup, "--passphrase-file", self.passphrase).strip()
        self.assertGreater(self.epoch(), old_epoch + 2**31)
        self.up()
        self.assertEqual(self.job(done["id"])["files"], done["files"])
        self.check_file(done)
        self.await_done(running)
        self.assertEqual(self.ask("GET", f"/v1/jobs/{after}")[0], 404)  # the backup is older
        self.await_done(self.submit("third"))
        self.token = old_token
        self.assertEqual(self.ask("GET", "/v1/me")[0], 401)
        program.ENVIRONMENT["ATTUNE_FLEET"] = str(self.folder / "late")
        with self.assertRaisesRegex(Failed, "issued after the backup"):
            attune("fleet", "list")

    def check_refusals(self, backup):
        """A backup is restored neither over a state, nor by another passphrase, nor from a damaged file."""
        with self.assertRaisesRegex(Failed, "is there already, and restoring overwrites nothing"):
            attune("restore", backup, "--passphrase-file", self.passphrase)
        elsewhere = ["--state", self.folder / "elsewhere", "--passphrase-file", self.passphrase]
        damaged, content = self.folder / "damaged", backup.read_bytes()
        for change in (content[:-1], content + b"x", content[:len(content) // 2], content[:100],
                       content[:-20] + bytes([content[-20] ^ 1]) + content[-19:]):
            damaged.write_bytes(change)
            with self.assertRaisesRegex(Failed, "was cut off or changed|passphrase is another one"):
                attune("restore", damaged, *elsewhere)
        other = self.folder / "other"
        other.write_text("another passphrase\n")
        other.chmod(0o600)
        with self.assertRaisesRegex(Failed, "the passphrase is another one"):
            attune("restore", backup, "--state", self.folder / "elsewhere", "--passphrase-file", other)
        other.write_text("short\n")
        with self.assertRaisesRegex(Failed, "shorter than 12"):
            attune("backup", self.folder / "more", "--passphrase-file", other)
        self.assertFalse((self.folder / "elsewhere").exists())
        self.assertFalse((self.folder / "elsewhere.restoring").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
