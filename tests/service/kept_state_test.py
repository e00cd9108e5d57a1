"""The state that an older version of the server has left is opened, and its live job ends well.

kept_state_test.py STATE MOCKS    STATE: a folder of tools/attackers/kept_state.py; MOCKS plays devices
"""
import hashlib
import http.client
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

from attackers.kill_database import Server, ended_afterwards, free_port
from common import postgres_server, program
from common.fleet_members import KEY, Member
from common.program import PROGRAM, attune
from common.waiting import await_true
from attackers.kept_state import PASSPHRASE, Tenant

STATE, MOCKS = (pathlib.Path(argument) for argument in sys.argv[1:3])
EXPECTED = json.loads((STATE / "expected.json").read_text())


class KeptState(unittest.TestCase):
    """A state is opened, compared with what its version said, and worked on."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def unpack(self, archive):
        """Makes the folder of a server's state, and what else is in the archive."""
        with tarfile.open(STATE / archive) as opened:
            opened.extractall(self.folder)

    def serve(self, *flags):
        """The two tenants of a server of this version, once it serves the state."""
        server = Server(PROGRAM, self.folder, "server", [f"127.0.0.1:{free_port()}" for _ in range(2)], flags)
        self.members = self.enterContext(ended_afterwards([server]))
        os.environ["ATTUNE_SERVER"] = program.ENVIRONMENT["ATTUNE_SERVER"] = str(server.state)

        def tenant(name):
            token = attune("server", "token", "test", "--state", server.state, "--tenant", name, "--role", "admin", *flags)
            return Tenant(server, token.strip())

        def says_where():
            if server.ended() is not None:
                raise AssertionError(f"the server has ended: {server.text()[-2000:]}")
            return "REST at" in server.text()
        await_true("the server listens", says_where)
        return {name: tenant(name) for name in ("server", "laboratory")}

    def check_lists(self, tenants, expected, forgotten):
        """Each tenant has what it had; the live job may have progressed."""
        for name, lists in expected["tenants"].items():
            now = tenants[name].lists()
            for kind in lists.keys() - forgotten:
                for row in lists[kind]:
                    if row.get("id") == expected["live"]:
                        self.assertIn(row["id"], [known["id"] for known in now[kind]])
                    else:
                        self.assertIn(row, now[kind])

    def check_files(self, tenant, files):
        """The files of jobs are there, with their bytes."""
        for job, wanted in files.items():
            shown = tenant.told("GET", f"/v1/jobs/{job}")["files"]
            self.assertEqual([{field: file[field] for field in ("name", "sha256")} for file in shown], wanted)
            for file in wanted:
                connection = http.client.HTTPConnection(tenant.servers[0].address)
                path = file["name"].replace("/", "%2F")
                connection.request("GET", f"/v1/jobs/{job}/files/{path}",
                                   headers={"Authorization": f"Bearer {tenant.token}"})
                self.assertEqual(hashlib.sha256(connection.getresponse().read()).hexdigest(), file["sha256"], file)
                connection.close()

    def check_members(self, tenant, live):
        """New members end the job that was live, and a new one."""
        state = self.members[0].state
        invitation = attune("fleet", "invite", "--role", "runner", "--owner", "server").strip()
        self.members.append(Member([PROGRAM, "runner", invitation, "--state", self.folder / "runner"],
                                   self.folder / "runner.log"))
        self.members.append(Member([MOCKS, state, self.folder / "agent", KEY, 1, 0.001], self.folder / "agent.log"))
        ended = tenant.await_end(live)
        self.assertEqual(ended["state"], "done", ended)
        network = max(tenant.told("GET", "/v1/uploads")["uploads"], key=lambda upload: upload["bytes"])
        ended = tenant.await_end(tenant.submit_tuning("new", network["sha256"], seed=2))
        self.assertEqual(ended["state"], "done", ended)
        self.assertIn("out/result.atn", [file["name"] for file in ended["files"]])

    def check(self, tenants, expected, forgotten=frozenset()):
        """All of it. The members of before have ended since, and so may the certificates that they had."""
        self.check_lists(tenants, expected, {"devices", *forgotten})
        self.check_files(tenants["server"], expected["files"])
        self.check_members(tenants["server"], expected["live"])


class OfFiles(KeptState):
    """The usual state: a folder."""

    def test_it_is_opened(self):
        """By the server, as it was when its predecessor was killed."""
        self.unpack("files.tar.xz")
        self.check(self.serve(), EXPECTED["files"])

    def test_a_backup_is_restored(self):
        """Into files."""
        passphrase = self.folder / "passphrase"
        with open(os.open(passphrase, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="ascii") as file:
            file.write(PASSPHRASE)
        attune("restore", STATE / "server.backup", "--state", self.folder / "server", "--passphrase-file", passphrase)
        # Tokens of before a backup count no more.
        self.check(self.serve(), EXPECTED["backup"], {"tokens"})


@unittest.skipIf(postgres_server.is_missing(), "PostgreSQL is not installed")
class OfDatabase(KeptState):
    """The state of a server whose rows are in PostgreSQL."""

    def test_a_dump_is_opened(self):
        """As pg_dump wrote it."""
        self.unpack("database.tar.xz")
        sockets = self.folder / "postgresql"
        database = self.enterContext(postgres_server.PostgresServer(sockets))
        subprocess.run([postgres_server.programs() / "psql", "-h", sockets, "-U", "attune", "-q", "-v", "ON_ERROR_STOP=1",
                        "-f", self.folder / "database.sql", "attune"], check=True, stdout=subprocess.DEVNULL)
        self.check(self.serve("--database", database.url), EXPECTED["database"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
