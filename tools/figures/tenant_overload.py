"""Measures what one tenant notices of another that wants ten times as much as it may have.

tenant_overload.py    a tenant with a quota of --rate requests a second asks --times as often for --seconds, while a second
                      one asks 20 times a second; then the first, with a quota of --jobs jobs, submits --times as many,
                      and the second has a few, which all wait for one device. Prints the latencies of both, and the
                      second one's share of the device

Exits with 1 if the second tenant's 99th percentile is more than 50 ms, or if its share of the device is more than 5 points
away from one half.
"""
import argparse
import json
import pathlib
import sys
import tempfile
import threading
import time

from common.fleet_members import KEY, Fleet
from common.program import PROGRAM
from common.rest_client import first_client
from common.waiting import await_true

MOCKS = PROGRAM.parent / "mock_agents"
P99_MS, FAIR, POINTS = 50, 0.5, 0.05
QUIET_RATE, QUIET_JOBS, CONNECTIONS = 20, 4, 8
TENANTS = ("noisy", "quiet")
BEGIN_S = 5  # until jobs of both wait for the device
KNOWN_S = 2  # what the server knows of a quota is a second old
JOB = {"name": "load", "kind": "mock", "on": KEY,
       "settings": {"stages": [{"name": "time", "seconds": 0.2, "device": True}], "repeat": 10}}


class Asker:
    """Sends requests for a tenant, over several connections, at this rate and for this long."""

    def __init__(self, client, rate, connections, seconds):
        self._times, self._statuses, self._lock = [], {}, threading.Lock()
        self._client, self._pause, self._seconds = client, connections / rate, seconds
        self._threads = [threading.Thread(target=self._ask, args=(index / rate,)) for index in range(connections)]
        for thread in self._threads:
            thread.start()

    def _ask(self, offset):
        connection, begin = self._client.connect(), time.monotonic() + offset
        for count in range(int(self._seconds / self._pause)):
            time.sleep(max(0, begin + count * self._pause - time.monotonic()))
            asked = time.perf_counter()
            status = self._client.ask("GET", "/v1/jobs?most=10", connection=connection).status
            with self._lock:
                self._times.append(1000 * (time.perf_counter() - asked))
                self._statuses[status] = self._statuses.get(status, 0) + 1
        connection.close()

    def summary(self):
        """Once it has asked for the whole time."""
        for thread in self._threads:
            thread.join()
        ordered = sorted(self._times)
        return {"requests_per_second": round(len(ordered) / self._seconds, 1), "answers": self._statuses,
                **{f"p{share}_ms": round(ordered[min(len(ordered) - 1, len(ordered) * share // 100)], 2)
                   for share in (50, 99)}}


def used(admin, tenant):
    """The tenant's current use of its quota."""
    return admin.told("GET", f"/v1/tenants/{tenant}")["used"]


class Submitter:
    """Keeps this many jobs of a tenant waiting, or as many as it may have, until it is ended."""

    def __init__(self, admin, tenant, jobs):
        self._admin, self._tenant, self._wanted = admin, tenant, jobs
        self._client, self._end = admin.token(tenant, "member"), threading.Event()
        self._thread = threading.Thread(target=self._submit)
        self.refused = 0
        self._thread.start()

    def _submit(self):
        while not self._end.wait(0.2):
            for _ in range(self._wanted - used(self._admin, self._tenant)["jobs"]):
                self.refused += self._client.ask("POST", "/v1/jobs", JOB).status == 429

    def end(self):
        """No more jobs from now on."""
        self._end.set()
        self._thread.join()


def measure_requests(admin, options):
    """The latencies of both tenants."""
    # The first token of a tenant makes the tenant.
    noisy_client, quiet_client = (admin.token(name, "member") for name in TENANTS)
    quota = admin.told("GET", "/v1/tenants/noisy")["quota"]
    admin.told("PUT", "/v1/tenants/noisy/quota", {**quota, "requests_per_second": options.rate})
    time.sleep(KNOWN_S)
    alone = Asker(quiet_client, QUIET_RATE, 1, options.seconds).summary()
    noisy = Asker(noisy_client, options.times * options.rate, CONNECTIONS, options.seconds)
    beside = Asker(quiet_client, QUIET_RATE, 1, options.seconds).summary()
    admin.told("PUT", "/v1/tenants/noisy/quota", {**quota, "jobs": options.jobs})
    time.sleep(KNOWN_S)
    return {"quiet, alone": alone, "quiet, beside noisy": beside, "noisy": noisy.summary()}


def measure_share(admin, options):
    """The quiet tenant's share of the device, and how often the noisy one was refused a job."""
    submitters = [Submitter(admin, tenant, jobs)
                  for tenant, jobs in zip(TENANTS, (options.times * options.jobs, QUIET_JOBS))]
    time.sleep(BEGIN_S)
    before = [used(admin, tenant)["device_seconds"] for tenant in TENANTS]
    time.sleep(options.seconds)

    def worked():
        seconds = [used(admin, tenant)["device_seconds"] - had for tenant, had in zip(TENANTS, before)]
        return seconds if sum(seconds) > 0 else None

    noisy, quiet = await_true("the device works", worked)
    for submitter in submitters:
        submitter.end()
    return {"noisy, jobs refused": submitters[0].refused, "quiet, share of the device": round(quiet / (noisy + quiet), 3)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--rate", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=20)
    parser.add_argument("--times", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, \
            Fleet(pathlib.Path(folder), PROGRAM, 2, ["--http", "127.0.0.1:0"]) as fleet:
        fleet.add_mocks("agent", MOCKS, 0.001)
        for tenant in TENANTS:
            fleet.add_runner(f"runner of {tenant}", tenant)
        admin = first_client(fleet)
        measured = {**measure_requests(admin, options), **measure_share(admin, options)}
    print(json.dumps(measured, indent=2))
    is_fair = abs(measured["quiet, share of the device"] - FAIR) <= POINTS
    return 0 if is_fair and measured["quiet, beside noisy"]["p99_ms"] <= P99_MS else 1


if __name__ == "__main__":
    sys.exit(main())
