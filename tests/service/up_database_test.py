"""attune up, down, backup and restore with the state in PostgreSQL.

up_database_test.py MODEL MOCKS    as up_test.py
"""
import json
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

from common import postgres_server, program
from common.program import Failed, attune
from up_test import ANY_HTTP, ANY_PORTS, BackupCase, UpCase

SECRET = "hush-hush"  # the password of the database


@unittest.skipIf(postgres_server.is_missing(), "PostgreSQL is not installed")
class DatabaseTest(BackupCase):
    """The server keeps its state in a database, which is backed up, lost and restored."""

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.postgres = cls.enterClassContext(postgres_server.PostgresServer(folder / "postgresql"))

    def new_database(self, name):
        """The URL of an empty database, with a password."""
        self.postgres.create(name)
        return self.postgres.url_of(name, SECRET)

    def epoch(self, database):
        """The fleet's epoch."""
        return int(self.postgres.query("SELECT latest FROM epochs", database)[0])

    @staticmethod
    def has_secret(path):
        """Whether it is a file with the password."""
        try:
            return path.is_file() and SECRET.encode() in path.read_bytes()
        except FileNotFoundError:
            return False  # it was replaced just now

    def check_secret(self):
        """No other user sees the password: neither in a command line nor in a file."""
        for line in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                self.assertNotIn(SECRET, line.read_text(errors="replace"), line)
            except OSError:
                pass  # the process has ended
        having = [path for path in self.state.rglob("*") if self.has_secret(path)]
        self.assertEqual(having, [self.state / "database"])
        self.assertEqual(having[0].stat().st_mode & 0o077, 0)

    def test_nothing_acknowledged_is_lost(self):
        """Jobs that were acknowledged before the backup are in another database after it, and continue."""
        first, second = self.new_database("first"), self.new_database("second")
        with unittest.mock.patch.dict(program.ENVIRONMENT, {"ATTUNE_DATABASE": first}):
            shown = self.up(*ANY_PORTS, *ANY_HTTP, "--agents", "0")
        self.assertRegex(shown["database"], "^postgresql://attune@.*/first$")
        self.start_members()
        self.check_secret()
        done = self.await_done(self.submit("first"))
        running = self.submit("second", trials=60)
        self.await_first_stage(running)
        backup = self.folder / "state.backup"
        told = attune("backup", backup, "--passphrase-file", self.passphrase)
        self.assertRegex(told, r"/first at .* [0-9]+ rows and [0-9]+ files with ")
        self.assertNotIn(b"PRIVATE KEY", backup.read_bytes())
        self.assertNotIn(SECRET.encode(), backup.read_bytes())
        after = self.submit("third")
        old_token, old_epoch = self.token, self.epoch("first")
        late = attune("fleet", "invite", "--role", "client", "--owner", "ann").strip()
        attune("fleet", "join", late, "--credentials", self.folder / "late")

        attune("down", "--keep-state")
        restore = ["restore", backup, "--passphrase-file", self.passphrase]
        with self.assertRaisesRegex(Failed, "is there already, and restoring overwrites nothing"):
            attune(*restore)
        self.remove_server()
        with self.assertRaisesRegex(Failed, "has tables of attune already, and restoring overwrites nothing"):
            attune(*restore)
        self.token = attune(*restore, "--database", second).strip()
        self.assertGreater(self.epoch("second"), old_epoch + 2**31)
        self.up("--database", second)
        self.assertEqual(self.job(done["id"])["files"], done["files"])
        self.check_file(done)
        self.await_done(running)
        self.assertEqual(self.ask("GET", f"/v1/jobs/{after}")[0], 404)  # the backup is older
        new_token, self.token = self.token, old_token
        self.assertEqual(self.ask("GET", "/v1/me")[0], 401)
        self.token = new_token
        program.ENVIRONMENT["ATTUNE_FLEET"] = str(self.folder / "late")
        with self.assertRaisesRegex(Failed, "issued after the backup"):
            attune("fleet", "list")

        attune("down")
        self.assertFalse(self.state.exists())
        shown = self.up("--database", second, *ANY_PORTS, *ANY_HTTP, "--agents", "0")
        self.assertNotIn("token", shown)  # those of before count
        self.assertEqual(self.job(done["id"])["state"], "done")
        attune("down", "--drop-tables")
        tables = self.postgres.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'", "second")
        self.assertEqual(tables, [])

    def test_files_become_a_database(self):
        """By a backup, and not unasked."""
        url = self.new_database("moved")
        self.up(*ANY_PORTS, *ANY_HTTP, "--agents", "0")
        self.upload()
        uploads = json.loads(self.ask("GET", "/v1/uploads")[1])["uploads"]
        self.assertTrue(uploads[0]["is_complete"], uploads)
        with self.assertRaisesRegex(Failed, "has its state in SQLite files, and not in --database"):
            attune("up", "--database", url)
        backup = self.folder / "state.backup"
        attune("backup", backup, "--passphrase-file", self.passphrase)
        attune("down", "--keep-state")
        self.remove_server()
        restore = ["restore", backup, "--passphrase-file", self.passphrase, "--database", url]
        self.token = attune(*restore).strip()
        self.up("--database", url)
        self.assertEqual(json.loads(self.ask("GET", "/v1/uploads")[1])["uploads"], uploads)


class UnreachableTest(UpCase):
    """Commands that need no answer of the database."""

    def test_it_is_told_at_once(self):
        """And without the password."""
        with self.assertRaisesRegex(Failed, "is PostgreSQL running there") as refused:
            attune("up", *ANY_PORTS, *ANY_HTTP, "--database", f"postgresql://attune:{SECRET}@127.0.0.1:1/attune")
        self.assertNotIn(SECRET, str(refused.exception).split("\n", 1)[1])  # the command has it
        attune("down")
        self.assertFalse(self.state.exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
