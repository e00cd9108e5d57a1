"""attune up --containers, with a stand-in for the engine, on this machine alone.

containers_test.py MODEL MOCKS    as for up_test.py
"""
import hashlib
import json
import os
import pathlib
import signal
import stat
import sys
import unittest
import unittest.mock

from common import program
from common.program import PROGRAM, Failed, attune, attune_json
from common.waiting import await_true
from up_test import PASSPHRASE, UpCase, is_gone

ENGINE = pathlib.Path(__file__).resolve().parent / "stand_in_engine.py"
ANY_PORTS = ["--http", "127.0.0.1:0", "--metrics", "127.0.0.1:0"]
IMAGES = "registry.example/attune-{}:7"


class ContainersTest(UpCase):
    def setUp(self):
        self.enterContext(unittest.mock.patch.dict(program.ENVIRONMENT))
        super().setUp()
        self.engine, self.path = self.folder / "engine", self.folder / "path"
        (self.engine / "bin").mkdir(parents=True)
        (self.engine / "bin" / "attune").symlink_to(PROGRAM)
        self.path.mkdir()
        program.ENVIRONMENT["PATH"] = str(self.path)
        self.load(*[IMAGES.replace("{}", name) for name in ("server", "agent", "compiler")])

    def load(self, *images):
        """Says which images the engine has."""
        (self.engine / "images").write_text("\n".join(images))

    def install(self, name):
        """Puts the engine on the PATH by this name."""
        script = self.path / name
        script.write_text(f'#!/bin/sh\nexec {sys.executable} -ISB {ENGINE} {self.engine} {name} "$@"\n')
        script.chmod(0o755)

    def kept(self, kind):
        """The names of what the engine has."""
        return list(json.loads((self.engine / "state.json").read_text())[kind])

    def pids(self, shown):
        return {service["name"]: service["pid"] for service in shown["services"]}

    def assert_ended(self, before):
        """No container, no network and no process is left."""
        self.assertEqual((self.kept("containers"), self.kept("network")), ([], []))
        self.assertTrue(all(map(is_gone, before.values())))

    def test_it_tunes_continues_and_goes(self):
        """From nothing to a tuned network, through a restart, a backup and its restoration."""
        self.install("podman")
        shown = self.up("--containers", "--images", IMAGES, *ANY_PORTS)
        self.assertEqual([service["name"] for service in shown["services"]], ["server", "agent-1", "runner"])
        self.assertTrue(all(service["is_healthy"] for service in shown["services"]), shown)
        self.assertEqual(shown["containers"]["engine"], "podman")
        prefix = shown["containers"]["name"]
        self.assertEqual(sorted(self.kept("volume")),
                         [f"{prefix}-{name}" for name in ("agent-1", "leases", "runner", "server")])
        logs = "".join(log.read_text() for log in (self.engine / "containers").glob("*/log"))
        self.assertNotIn(self.token, logs)
        again = attune_json("up")
        self.assertNotIn("token", again)
        self.assertEqual(self.pids(again), self.pids(shown))
        tuned = self.await_done(self.submit("net", trials=2, batch=2))

        before = self.pids(again)
        os.kill(before["server"], signal.SIGKILL)
        await_true("the engine starts it", lambda: self.pids(attune_json("up"))["server"] not in (0, before["server"]))
        await_true("health", lambda: all(service["is_healthy"] for service in attune_json("up")["services"]))
        before = self.pids(attune_json("up"))
        backup = self.back_up()
        attune("down", "--keep-state")
        self.assert_ended(before)
        with self.assertRaisesRegex(Failed, "nothing runs; attune up starts it again"):
            attune("up", "--show")
        self.check_restored(backup, prefix, tuned)

    def back_up(self):
        """The file of a backup, and of its passphrase."""
        self.passphrase = self.folder / "passphrase"
        self.passphrase.write_text(PASSPHRASE + "\n")
        self.passphrase.chmod(0o600)
        backup = self.folder / "state.backup"
        said = attune("backup", backup, "--passphrase-file", self.passphrase)
        self.assertRegex(said, f"{backup}: the state of /state/server at .* files with")
        self.assertEqual(stat.S_IMODE(backup.stat().st_mode), 0o600)
        left = [path.name for folder in ("volumes", "containers") for path in (self.engine / folder).rglob("*")]
        self.assertFalse({"backup", "passphrase"} & set(left))
        return backup

    def check_restored(self, backup, prefix, tuned):
        """The backup replaces only the server's volume, once that is removed, and everything continues."""
        restore = ["restore", backup, "--passphrase-file", self.passphrase]
        with self.assertRaisesRegex(Failed, f"restoring overwrites nothing; podman volume rm {prefix}-server"):
            attune(*restore)
        attune("volume", "rm", f"{prefix}-server", program=self.path / "podman")
        old_token, self.token = self.token, attune(*restore).strip()
        self.assertEqual(self.kept("volume"), [f"{prefix}-server"])
        shown = self.up()
        self.assertNotIn("token", shown)
        self.assertEqual(self.job(tuned["id"])["files"], tuned["files"])
        self.token = old_token
        self.assertEqual(self.ask("GET", "/v1/me")[0], 401)
        with self.assertRaisesRegex(Failed, "attune down --keep-state ends them"):
            attune(*restore)
        attune("down")
        self.assert_ended(self.pids(shown))
        self.assertEqual(self.kept("volume"), [])
        self.assertFalse(self.state.exists())

    def test_a_server_that_cannot_start_says_why(self):
        """The command fails with the last lines of its log, and no container is left."""
        self.install("docker")
        prefix = f"attune-{hashlib.sha256(str(self.state).encode()).hexdigest()[:8]}"
        server = self.engine / "volumes" / f"{prefix}-server" / "server"
        server.mkdir(mode=0o700, parents=True)
        (server / "authorities.pem").write_text("no authority")
        (server / "authorities.pem").chmod(0o600)
        with self.assertRaisesRegex(Failed, f"server does not stay up .* docker logs {prefix}-server.*authorities.pem"):
            attune("up", "--containers", "docker", "--images", IMAGES, "--agents", "0", *ANY_PORTS)
        self.assert_ended({})
        self.assertEqual(sorted(self.kept("volume")), [f"{prefix}-leases", f"{prefix}-server"])
        with self.assertRaisesRegex(Failed, "holds a service that runs by docker; attune down removes it"):
            attune("up", "--containers", "podman")

    def test_what_cannot_be_done_is_told(self):
        """In one sentence, before anything is made."""
        with self.assertRaisesRegex(Failed, "neither podman nor docker is on the PATH; install"):
            attune("up", "--containers")
        self.install("docker")
        with self.assertRaisesRegex(Failed, "podman is not on the PATH; install"):
            attune("up", "--containers", "podman")
        for flags, why in ((["--listen", "0.0.0.0:9190"], "--listen: containers are reached from this machine alone"),
                           (["--http", "0.0.0.0:9193"], "give a port of 127.0.0.1")):
            with self.assertRaisesRegex(Failed, why):
                attune("up", "--containers", *flags)
        with self.assertRaisesRegex(Failed, "give --containers too"):
            attune("up", "--images", IMAGES)
        self.assertFalse(self.state.exists())
        with self.assertRaisesRegex(Failed, r"docker has no image attune-server:\S+; ./do images makes it"):
            attune("up", "--containers", *ANY_PORTS)
        self.assertEqual(self.kept("volume"), [])
        self.assertFalse(self.state.exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
