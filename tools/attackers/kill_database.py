"""Kills servers and their database amid many submissions, and checks that nothing that was acknowledged is lost.

kill_database.py --database sqlite        one server, which is killed and started anew
kill_database.py --database postgresql    two servers on one PostgreSQL; the one that serves is killed, and the other one
                                          takes over; then PostgreSQL itself is killed and started anew

Submits --jobs jobs (1000), --at-once at a time (100), each under a key of its own, until each is acknowledged, and one
job --repeats times (100) under one key. Then each acknowledged job must be there, and none twice. Prints a line for each
kill and exits with 0, or says what is wrong and exits with 1.
"""
import argparse
import concurrent.futures
import contextlib
import http.client
import json
import pathlib
import random
import re
import socket
import sys
import tempfile
import threading
import time

from common.fleet_members import Member
from common.postgres_server import PostgresServer
from common.program import PROGRAM
from common.waiting import await_true

JOB = {"kind": "mock", "settings": {"stages": [{"name": "work", "seconds": 0}]}}


class Violation(Exception):
    """Something that was acknowledged is lost, or is there twice."""


class Server(Member):
    """A server whose REST has always the same address."""

    def __init__(self, program, folder, name, listen, options):
        self.state = folder / name
        self.address = f"127.0.0.1:{free_port()}"
        super().__init__([program, "server", "--state", self.state, "--listen", listen[0], "--enrolment", listen[1],
                          "--http", self.address, "--lease-seconds", 2, *options], folder / f"{name}.log")

    def text(self):
        """Returns its output so far."""
        return self.log.read_text()


def free_port():
    """Returns a free port."""

    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def ask(address, token, method, path, body=None, headers=None):
    """Returns the status and the JSON of an answer; None without an answer, or while the server says so."""
    connection = http.client.HTTPConnection(address)
    try:
        content = body if body is None or isinstance(body, bytes) else json.dumps(body)
        connection.request(method, path, content,
                           {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **(headers or {})})
        answer = connection.getresponse()
        content = answer.read()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    if answer.status in (429, 503):
        return None
    return answer.status, json.loads(content) if content else None


class Service:
    """The servers, and who asks them."""

    def __init__(self, servers):
        self.servers = servers
        self.token = self.await_text(r"^(attune_\S{43})$")
        self.asked = 0

    def await_text(self, pattern):
        """Returns the first output of the server that matches."""
        def said():
            if all(server.ended() is not None for server in self.servers):
                raise Violation(f"no server has said {pattern}: {self.servers[0].text()[-1000:]}")
            matches = (re.search(pattern, server.text(), re.MULTILINE) for server in self.servers)
            return next(filter(None, matches), None)
        return await_true(f"a server says {pattern}", said, 0.05)[1]

    def ask(self, method, path, body=None, headers=None, servers=None):
        """The answer of any of the servers (all) that is alive."""
        servers = servers or self.servers

        def answer():
            self.asked += 1
            server = servers[self.asked % len(servers)]
            return ask(server.address, self.token, method, path, body, headers)
        return await_true(f"an answer to {method} {path}", answer, random.uniform(0.02, 0.2))

    def submit(self, key):
        """The id of the job that is acknowledged."""
        status, job = self.ask("POST", "/v1/jobs", {**JOB, "name": key}, {"Idempotency-Key": key})
        if status != 201:
            raise Violation(f"{key}: {status} {job}")
        return job["id"]

    def jobs(self):
        """All jobs, by id."""
        found, cursor = {}, ""
        while cursor is not None:
            status, page = self.ask("GET", f"/v1/jobs?most=500{cursor and '&cursor='}{cursor}")
            if status != 200:
                raise Violation(f"the list of jobs: {status} {page}")
            found.update({job["id"]: job for job in page["jobs"]})
            cursor = page["next_cursor"]
        return found


def submit_amid(service, options, begin, kills):
    """Submits all jobs, with the kills spread among them. Returns the acknowledged ids by key."""
    keys = [f"job-{begin + number}" for number in range(options.jobs)]
    keys += [f"same-{begin}"] * options.repeats
    random.Random(begin).shuffle(keys)
    acknowledged, lock, done = {}, threading.Lock(), threading.Event()

    def submit(key):
        job = service.submit(key)
        with lock:
            before = acknowledged.setdefault(key, job)
        if before != job:
            raise Violation(f"{key} is two jobs: {before} and {job}")

    def kill():
        for number, one in enumerate(kills, 1):
            while not done.is_set() and len(acknowledged) < len(set(keys)) * number / (len(kills) + 1):
                time.sleep(0.005)
            print(f"{len(acknowledged)} of {len(set(keys))} jobs are acknowledged: {one()}", flush=True)
    killer = threading.Thread(target=kill)
    killer.start()
    try:
        with concurrent.futures.ThreadPoolExecutor(options.at_once) as pool:
            for result in [pool.submit(submit, key) for key in keys]:
                result.result()
    finally:
        done.set()
        killer.join()
    return acknowledged


def check(service, acknowledged):
    """Each acknowledged job is there, and each key is one job."""
    there = service.jobs()
    lost = [key for key, job in acknowledged.items() if job not in there]
    if lost:
        raise Violation(f"{len(lost)} acknowledged jobs are lost, such as {lost[0]}")
    if len(there) != len(acknowledged):
        raise Violation(f"{len(acknowledged)} keys are {len(there)} jobs")
    print(f"{len(there)} jobs are there, one for each key", flush=True)


def restart(member):
    """Kills a process and starts it again."""
    member.kill()
    member.start()
    return f"{member.log.stem} is killed and started anew"


@contextlib.contextmanager
def ended_afterwards(members):
    """The members, which are killed in the end."""
    try:
        yield members
    finally:
        for member in members:
            if member.ended() is None:
                member.kill()


def run_sqlite(options, folder):
    """One server on files."""
    server = Server(options.program, folder, "server", [f"127.0.0.1:{free_port()}" for _ in range(2)], [])
    with ended_afterwards([server]):
        service = Service([server])
        acknowledged = submit_amid(service, options, 0, [lambda: restart(server)] * options.kills)
        check(service, acknowledged)


def start_two(program, folder, url, own_ports=False):
    """Two servers on one database; at the same ports for members, which only the one has that serves, or at others."""
    shared = [f"127.0.0.1:{free_port()}" for _ in range(2)]
    flags = ["--database", url, "--takeover-seconds", 2]
    return [Server(program, folder, name, [f"127.0.0.1:{free_port()}" for _ in range(2)] if own_ports else shared, flags)
            for name in ("first", "second")]


def serving(servers, database):
    """The server that serves the fleet."""
    def found():
        holder = database.query("SELECT holder FROM server_leases")[0]
        return [server for server in servers if holder.endswith(f" {server.pid()}") and server.ended() is None]
    return await_true("a server serves the fleet", found, 0.05)[0]


def run_postgresql(options, folder):
    """Two servers on one database."""
    with PostgresServer(folder / "postgresql") as database, \
            ended_afterwards(start_two(options.program, folder, database.url)) as servers:
        service = Service(servers)

        def kill_serving():
            return restart(serving(servers, database))

        def kill_database():
            database.kill()
            database.start()
            return "PostgreSQL is killed and started anew"
        acknowledged = submit_amid(service, options, 0, [kill_serving] * options.kills)
        check(service, acknowledged)
        acknowledged |= submit_amid(service, options, options.jobs, [kill_database] * options.kills)
        check(service, acknowledged)


def main(arguments=None):
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--program", type=pathlib.Path, default=PROGRAM)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--at-once", type=int, default=100)
    parser.add_argument("--kills", type=int, default=3, help="of each kind")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        try:
            run = run_sqlite if options.database == "sqlite" else run_postgresql
            run(options, pathlib.Path(folder))
        except Violation as violation:
            print(violation, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
