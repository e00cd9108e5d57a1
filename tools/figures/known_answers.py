"""How fast submissions are answered that what is known answers.

known_answers.py MODEL MOCKS    starts a server, a runner and a device that MOCKS plays

A job is tuned once; then the same agreement comes again and again, in new jobs. Requests are sent at their times,
whether earlier ones are answered or not, and a latency counts from when its request should have been sent.
"""
import argparse
import asyncio
import contextlib
import json
import pathlib
import re
import sys
import tempfile
import time

from common.fleet_members import KEY, Fleet
from common.postgres_server import PostgresServer
from common.program import PROGRAM
from common.rest_client import first_client

CONNECTIONS = 64
READY_S = 120


def body_of(digest):
    """The submission, whose agreement the first job keeps."""
    return {"name": "net", "kind": "tuning", "on": KEY, "inputs": [{"name": "in/net.onnx", "sha256": digest}],
            "settings": {"model": "in/net.onnx", "trials": 8, "batch": 8, "candidate_seconds": 0.05, "layouts": False},
            "agreement": {"latency_ms": {"mean": 100, "p99": 200}}}


def teach(client, body):
    """Has the job done, and waits until it is known."""
    client.await_end(client.told("POST", "/v1/jobs", body)["id"])
    deadline = time.monotonic() + READY_S
    while client.told("POST", "/v1/predictions", body)["verdict"] != "known":
        if time.monotonic() > deadline:
            raise TimeoutError("the job's result does not become known")
        time.sleep(0.1)


class Load:
    """Connections that send one request after another, each at its time."""

    def __init__(self, client, body):
        self._host, self._port = client.address().rsplit(":", 1)
        content = json.dumps(body).encode()
        headers = client.headers({"Host": client.address(), "Content-Type": "application/json",
                                  "Content-Length": len(content)})
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self._request = f"POST /v1/jobs HTTP/1.1\r\n{head}\r\n".encode() + content
        self.latencies, self.refused = [], []

    async def _connection(self, times):
        reader, writer = await asyncio.open_connection(self._host, int(self._port))
        for wanted in times:
            await asyncio.sleep(max(0, wanted - time.monotonic()))
            writer.write(self._request)
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            answer = await reader.readexactly(int(re.search(r"(?i)content-length: (\d+)", head)[1]))
            self.latencies.append(time.monotonic() - wanted)
            if not head.startswith("HTTP/1.1 201") or b'"state":"done"' not in answer:
                self.refused.append(head + answer.decode())
        writer.close()

    async def run(self, rate, seconds):
        """Sends `rate` requests a second."""
        begin = time.monotonic() + 1
        times = [begin + number / rate for number in range(rate * seconds)]
        await asyncio.gather(*(self._connection(times[first::CONNECTIONS]) for first in range(CONNECTIONS)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("mocks", type=pathlib.Path)
    parser.add_argument("--rate", type=int, default=500)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], default="sqlite")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        flags = ["--http", "127.0.0.1:0"]
        if options.database == "postgresql":
            flags += ["--database", stack.enter_context(PostgresServer(folder / "postgresql")).url]
        fleet = stack.enter_context(Fleet(folder, PROGRAM, 30, flags))
        fleet.add_mocks("agent", options.mocks, 0.001)
        fleet.add_runner("runner")
        client = first_client(fleet)
        body = body_of(client.upload(options.model.read_bytes()))
        teach(client, body)
        load = Load(client, body)
        asyncio.run(load.run(options.rate, options.seconds))
    latencies = sorted(load.latencies)
    quantiles = {name: 1e3 * latencies[int(share * (len(latencies) - 1))]
                 for name, share in (("p50", 0.5), ("p99", 0.99), ("most", 1))}
    print(f"{len(latencies)} answers, {len(load.refused)} not at once, "
          + ", ".join(f"{name} {value:.1f} ms" for name, value in quantiles.items()))
    if load.refused:
        print(load.refused[0], file=sys.stderr)
    return 1 if load.refused else 0


if __name__ == "__main__":
    sys.exit(main())
