"""Writes the state of a server, as a version leaves it, for the test that later versions open it.

    kept_state.py --program PROGRAM --mocks MOCKS --model MODEL -o FOLDER

PROGRAM and MOCKS (build/release/bin/mock_agents) are those of the version that writes. A server works for two tenants,
one of which has a network tuned under a promise, and lets a job fail; then the server is killed amid a long job. In FOLDER
are afterwards

    files.tar.xz       the folder of such a server
    database.tar.xz    the folder of one whose state is in PostgreSQL, and that state as database.sql
    server.backup      what `attune backup` has made of a third one amid a long job. Its jobs only wait, since a backup
                       cannot be compressed, and programs of tuned networks are large
    expected.json      by name of the state: what REST has said last, and the ids of the jobs
"""
import argparse
import contextlib
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

from attackers.kill_database import Server, Service, ended_afterwards, free_port
from common import postgres_server, program
from common.fleet_members import KEY, Member
from common.waiting import await_true

PASSPHRASE = "state of an older version"
LISTS = {"jobs": "/v1/jobs?most=500", "uploads": "/v1/uploads", "models": "/v1/models", "tokens": "/v1/tokens",
         "devices": "/v1/devices"}
# Later versions must still say these of each row.
FIELDS = {"jobs": ("id", "name", "kind", "state", "created", "ended"), "uploads": ("sha256", "bytes", "is_complete"),
          "models": ("id", "name", "state"), "tokens": ("id", "name", "role"), "devices": ("keys", "state")}


class Tenant(Service):
    """One who asks the server."""

    def __init__(self, server, token):
        self.servers, self.token, self.asked = [server], token, 0

    def told(self, method, path, body=None, headers=None):
        """The answer's body, as Python values."""
        status, answer = self.ask(method, path, body, headers)
        if status >= 400:
            raise RuntimeError(f"{method} {path}: {status} {answer}")
        return answer

    def upload(self, content):
        """Sends a file; returns its digest."""
        digest = hashlib.sha256(content).hexdigest()
        self.told("POST", "/v1/uploads", {"sha256": digest, "bytes": len(content)})
        self.ask("PATCH", f"/v1/uploads/{digest}", content,
                 {"Content-Type": "application/offset+octet-stream", "Upload-Offset": "0"})
        return digest

    def submit_tuning(self, name, digest, agreement=None, **settings):
        """Submits a tuning job of an upload; returns its id."""
        body = {"name": name, "kind": "tuning", "on": KEY, "inputs": [{"name": "in/net.onnx", "sha256": digest}],
                "settings": {"model": "in/net.onnx", "trials": 2, "batch": 2, "candidate_seconds": 0.05,
                             "layouts": False, "transfer_runs": False, **settings}}
        return self.submit_job(body | ({"agreement": agreement} if agreement else {}))

    def submit_waiting(self, name, stages):
        """Submits a job that only waits; returns its id."""
        return self.submit_job({"name": name, "kind": "mock",
                                "settings": {"stages": [{"name": "wait", "seconds": 0.05}], "repeat": stages}})

    def submit_job(self, body):
        """Returns its id."""
        return self.told("POST", "/v1/jobs", body, {"Idempotency-Key": body["name"]})["id"]

    def await_end(self, job):
        """The job, once it is over."""
        return await_true(f"{job} ends", lambda: (now := self.told("GET", f"/v1/jobs/{job}"))["ended"] and now)

    def await_progress(self, job):
        """Waits until a runner has done something for the job."""
        await_true(f"{job} has begun", lambda: any(
            stage["outcome"] == "done" for stage in self.told("GET", f"/v1/jobs/{job}")["stages"]))

    def lists(self):
        """The rows that it sees."""
        return {name: [{field: row.get(field) for field in FIELDS[name]} for row in self.told("GET", path)[name]]
                for name, path in LISTS.items()}


def token(server, database, name, *flags):
    """A token for the first tenant, or for one that the flags name."""
    flags = [*flags, *(["--database", database.url] if database else [])]
    return program.attune("server", "token", name, "--state", server.state, *flags, program=server.command[0]).strip()


@contextlib.contextmanager
def running(options, folder, database=None):
    """A server with a runner and a device, and the first tenant. All are killed in the end, the server first."""
    flags = ["--database", database.url] if database else []
    server = Server(options.program, folder, "server", [f"127.0.0.1:{free_port()}" for _ in range(2)], flags)
    os.environ["ATTUNE_SERVER"] = program.ENVIRONMENT["ATTUNE_SERVER"] = str(server.state)
    with ended_afterwards([server]) as members:
        admin = Tenant(server, Service([server]).token)
        invitation = program.attune("fleet", "invite", "--role", "runner", "--owner", "server",
                                    program=options.program).strip()
        members.append(Member([options.program, "runner", invitation, "--state", folder / "runner"],
                              folder / "runner.log"))
        members.append(Member([options.mocks, server.state, folder / "agent", KEY, 1, 0.01], folder / "agent.log"))
        await_true("the device is there", lambda: admin.told("GET", f"/v1/devices?key={KEY}")["devices"])
        yield server, admin


def work(options, server, admin, database=None, tunes=True):
    """Does all that precedes the live job. Returns the other tenant."""
    digest = admin.upload(options.model.read_bytes())
    model = admin.told("POST", "/v1/models", {"name": "net", "sha256": digest})
    await_true("the model is imported", lambda: admin.told("GET", f"/v1/models/{model['id']}")["state"] != "importing")
    promises = {"latency_ms": {"mean": 100}, "size_bytes": 1e9, "deadline_seconds": 3600}
    first = admin.submit_tuning("tuned", digest, promises) if tunes else admin.submit_waiting("waited", 3)
    ended = admin.await_end(first)
    if ended["state"] != "done":
        raise RuntimeError(f"the job ended as {ended}")
    admin.await_end(admin.submit_tuning("damaged", admin.upload(b"not a network")))
    other = Tenant(server, token(server, database, "ann", "--tenant", "laboratory", "--role", "admin"))
    other.submit_tuning("waiting", other.upload(options.model.read_bytes()))  # no runner is theirs
    return other


def live_job(options, admin, tunes=True):
    """A job that runs on, which is not over when the server is killed."""
    if tunes:
        job = admin.submit_tuning("live", admin.upload(options.model.read_bytes()), trials=16, seed=1)
    else:
        job = admin.submit_waiting("live", 200)
    admin.await_progress(job)
    return job


def said(admin, other, live):
    """The state as REST tells it."""
    ended = {job["id"]: job for job in admin.lists()["jobs"] if job["ended"]}
    files = {job: [{field: file[field] for field in ("name", "sha256")}
                   for file in admin.told("GET", f"/v1/jobs/{job}")["files"]] for job in ended}
    return {"live": live, "files": files, "tenants": {"server": admin.lists(), "laboratory": other.lists()}}


def pack(folder, file, extra=()):
    """Writes an archive of a folder, and of more files at its top; sockets are left out."""
    with tarfile.open(file, "w:xz") as archive:
        for path in (folder, *extra):
            archive.add(path, arcname=path.name)


def write_files(options, folder):
    """Writes a folder of files; returns what REST says of it."""
    with running(options, folder) as (server, admin):
        other = work(options, server, admin)
        expected = said(admin, other, live_job(options, admin))
        server.kill()
    pack(server.state, options.output / "files.tar.xz")
    return expected


def write_backup(options, folder):
    """The same of a backup."""
    passphrase = folder / "passphrase"
    with open(os.open(passphrase, os.O_CREAT | os.O_WRONLY, 0o600), "w", encoding="ascii") as file:
        file.write(PASSPHRASE)
    with running(options, folder) as (server, admin):
        other = work(options, server, admin, tunes=False)
        live = live_job(options, admin, tunes=False)
        program.attune("backup", options.output / "server.backup", "--state", server.state, "--passphrase-file", passphrase,
                       program=options.program)
        return said(admin, other, live)


def write_database(options, folder):
    """The same of a database, with the folder that goes with it."""
    with postgres_server.PostgresServer(folder / "postgresql") as database:
        with running(options, folder, database) as (server, admin):
            other = work(options, server, admin, database)
            expected = said(admin, other, live_job(options, admin))
            server.kill()
        dump = folder / "database.sql"
        with dump.open("wb") as file:
            subprocess.run([postgres_server.programs() / "pg_dump", "-h", folder / "postgresql", "-U", "attune",
                            "--no-owner", "attune"], check=True, stdout=file)
    pack(server.state, options.output / "database.tar.xz", [dump])
    return expected


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=program.PROGRAM)
    parser.add_argument("--mocks", type=pathlib.Path, required=True)
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    expected = {}
    for name, write in (("files", write_files), ("backup", write_backup), ("database", write_database)):
        with tempfile.TemporaryDirectory() as folder:
            expected[name] = write(options, pathlib.Path(folder))
    (options.output / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
