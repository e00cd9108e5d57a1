#!/usr/bin/env python3
"""Measures what a server takes, and what one tenant sees while another one floods it.

service_load.py              starts a server without devices; says how much memory it takes idle, and with --streams
                             clients that follow as many jobs; then one tenant asks --rate times a second for --seconds,
                             alone and while another one asks as often as --flooders threads can, and the 99th percentile
                             of its answers' times is told

Exits with 1 if the idle server takes more than 150 MiB, with streams more than 300 MiB, or if the 99th percentile under
the flood is more than 50 ms; --no-limits only measures.
"""
import argparse
import pathlib
import resource
import socket
import sys
import tempfile
import threading
import time

from fleet_members import Fleet
from program import PROGRAM
from rest_client import first_client

IDLE_MIB, STREAMS_MIB, P99_MS = 150, 300, 50
SETTLE_S = 3


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


class Asker(threading.Thread):
    """Asks again and again, on one connection, and keeps the times of the answers by their status."""

    def __init__(self, client, seconds, rate=None):
        super().__init__(daemon=True)
        self._client, self._end, self._pause = client, time.monotonic() + seconds, 0 if rate is None else 1 / rate
        self.times = {}

    def run(self):
        connection, due = self._client.connect(), time.monotonic()
        while time.monotonic() < self._end:
            begin = time.monotonic()
            answer = self._client.ask("GET", "/v1/jobs?most=1", connection=connection)
            self.times.setdefault(answer.status, []).append(1000 * (time.monotonic() - begin))
            due += self._pause
            time.sleep(max(0, due - time.monotonic()))
        connection.close()


def percentile(times, share):
    """The value that so large a share of them do not exceed."""
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def asked(quiet, flooding, options, flooders):
    """The times of the quiet tenant's answers while so many threads of the other one ask; and how often they did."""
    threads = [Asker(flooding, options.seconds) for _ in range(flooders)]
    asker = Asker(quiet, options.seconds, options.rate)
    for thread in [*threads, asker]:
        thread.start()
    for thread in [*threads, asker]:
        thread.join()
    assert set(asker.times) == {200}, {status: len(times) for status, times in asker.times.items()}
    counts = {}
    for thread in threads:
        for status, times in thread.times.items():
            counts[status] = counts.get(status, 0) + len(times)
    return asker.times[200], counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rate", type=float, default=100)
    parser.add_argument("--flooders", type=int, default=8)
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
        with Fleet(pathlib.Path(folder), PROGRAM, 2, ["--http", "127.0.0.1:0"]) as fleet:
            server, admin = fleet.members["server"], first_client(fleet)
            quiet, flooding = admin.token("quiet", "member"), admin.token("flooding", "member")
            time.sleep(SETTLE_S)
            tell("memory, idle", memory_mib(server), "MiB", IDLE_MIB)
            streams = [follow(quiet, submit(quiet, number)) for number in range(options.streams)]
            time.sleep(SETTLE_S)
            tell(f"memory with {len(streams)} idle streams", memory_mib(server), "MiB", STREAMS_MIB)
            before, begin = cpu_seconds(server), time.monotonic()
            time.sleep(10)
            print(f"processors, with {len(streams)} idle streams: "
                  f"{(cpu_seconds(server) - before) / (time.monotonic() - begin):.3f}", flush=True)
            for stream in streams:
                stream.close()
            alone, _ = asked(quiet, flooding, options, 0)
            print(f"answers, alone: median {percentile(alone, 0.5):.1f} ms, p99 {percentile(alone, 0.99):.1f} ms", flush=True)
            flooded, counts = asked(quiet, flooding, options, options.flooders)
            print(f"the other tenant asked {sum(counts.values()) / options.seconds:.0f} times a second: {counts}")
            tell("p99 while another tenant floods", percentile(flooded, 0.99), "ms", P99_MS)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
