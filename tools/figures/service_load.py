"""Measures what a server takes.

service_load.py    starts a server without devices; says how much memory it takes idle, and with --streams clients that
                   follow as many jobs

Exits with 1 if the idle server takes more than 150 MiB, or with streams more than 300 MiB; --no-limits only measures.
"""
import argparse
import pathlib
import resource
import socket
import sys
import tempfile
import time

from common.fleet_members import Fleet
from common.program import PROGRAM
from common.rest_client import first_client

IDLE_MIB, STREAMS_MIB = 150, 300
SETTLE_S, WATCH_S = 3, 10


def memory_mib(member):
    """The resident memory of a process."""
    for line in pathlib.Path(f"/proc/{member.pid()}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise SystemExit("the server has ended")


def cpu_seconds(member):
    """The processor time that a process has used."""
    fields = pathlib.Path(f"/proc/{member.pid()}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def submit(client, number):
    """A job that waits, since its tenant has no runner."""
    answer = client.ask("POST", "/v1/jobs", {"name": f"rests-{number}", "kind": "mock",
                                             "settings": {"stages": [{"name": "work", "seconds": 1}]}})
    assert answer.status == 201, answer.body
    return answer.json()["id"]


def follow(client, job):
    """A connection that follows a job, once its first event has come."""
    host, port = client.address().split(":")
    connection = socket.create_connection((host, int(port)))
    lines = [f"GET /v1/jobs/{job}/events HTTP/1.1", f"Host: {host}", *(f"{k}: {v}" for k, v in client.headers().items())]
    connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
    seen = b""
    while b"event: job" not in seen:
        piece = connection.recv(4096)
        assert piece, seen
        seen += piece
    return connection


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--no-limits", action="store_true")
    options = parser.parse_args()
    files = options.streams + 200
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, max(files, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
    broken = []

    def tell(what, value, unit, most):
        print(f"{what}: {value:.1f} {unit} (at most {most})", flush=True)
        if value > most and not options.no_limits:
            broken.append(what)

    with tempfile.TemporaryDirectory() as folder:
        # One token at one address has them all.
        limits = ["--connections", 2 * files, "--address-connections", 0, "--token-streams", files, "--tenant-streams", files]
        with Fleet(pathlib.Path(folder), PROGRAM, 2, ["--http", "127.0.0.1:0", *limits]) as fleet:
            server, admin = fleet.members["server"], first_client(fleet)
            client = admin.token("rests", "member")
            time.sleep(SETTLE_S)
            tell("memory, idle", memory_mib(server), "MiB", IDLE_MIB)
            streams = [follow(client, submit(client, number)) for number in range(options.streams)]
            time.sleep(SETTLE_S)
            tell(f"memory with {len(streams)} idle streams", memory_mib(server), "MiB", STREAMS_MIB)
            before, begin = cpu_seconds(server), time.monotonic()
            time.sleep(WATCH_S)
            print(f"processors, with {len(streams)} idle streams: "
                  f"{(cpu_seconds(server) - before) / (time.monotonic() - begin):.3f}", flush=True)
            for stream in streams:
                stream.close()
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
