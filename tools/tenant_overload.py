#!/usr/bin/env python3
"""Measures what one tenant notices of another that asks far more often than it may.

tenant_overload.py [SECONDS [RATE [TIMES]]]    a tenant with a quota of RATE requests a second (default: 100) asks TIMES
                                               (10) times as often for SECONDS (20), while a second one asks 20 times
                                               a second; prints both tenants' latencies
"""
import http.client
import json
import pathlib
import re
import sys
import tempfile
import threading
import time

from fleet_members import Fleet
from program import PROGRAM

SECONDS, RATE, TIMES = (float(given) for given in (sys.argv[1:] + ["20", "100", "10"][len(sys.argv) - 1:])[:3])
QUIET_RATE, CLIENTS = 20, 8


class Tenant:
    """Asks as often as it is told to, with several connections."""

    def __init__(self, address, token, rate, clients):
        self.latencies, self.statuses = [], {}
        self._address, self._token, self._pause = address, token, clients / rate
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._ask, args=(index / rate,)) for index in range(clients)]
        for thread in self._threads:
            thread.start()

    def _ask(self, offset):
        connection = http.client.HTTPConnection(self._address, timeout=60)
        begin = time.monotonic() + offset
        for count in range(int(SECONDS / self._pause)):
            time.sleep(max(0, begin + count * self._pause - time.monotonic()))
            asked = time.perf_counter()
            connection.request("GET", "/v1/jobs?most=10", headers={"Authorization": f"Bearer {self._token}"})
            response = connection.getresponse()
            response.read()
            with self._lock:
                self.latencies.append(time.perf_counter() - asked)
                self.statuses[response.status] = self.statuses.get(response.status, 0) + 1

    def summary(self):
        """Once it has asked for the whole time."""
        for thread in self._threads:
            thread.join()
        ordered = sorted(self.latencies)
        return {"requests_per_second": round(len(ordered) / SECONDS, 1), "answers": self.statuses,
                **{f"p{share}_ms": round(1e3 * ordered[min(len(ordered) - 1, len(ordered) * share // 100)], 2)
                   for share in (50, 99)}}


def main():
    with tempfile.TemporaryDirectory() as folder, \
            Fleet(pathlib.Path(folder), PROGRAM, 2, ["--http", "127.0.0.1:0"]) as fleet:
        log = fleet.server_log()
        address, admin = re.search(r"REST at http://([^/]+)/", log)[1], re.search(r"^attune_\S{43}$", log, re.M)[0]

        def ask(method, path, body):
            connection = http.client.HTTPConnection(address)
            connection.request(method, path, None if body is None else json.dumps(body),
                               {"Authorization": f"Bearer {admin}", "Content-Type": "application/json"})
            response = connection.getresponse()
            answer = json.loads(response.read())
            assert response.status < 300, answer
            return answer
        tokens = {name: ask("POST", "/v1/tokens", {"name": "load", "tenant": name, "role": "member"})["text"]
                  for name in ("noisy", "quiet")}
        quota = ask("GET", "/v1/tenants/noisy", None)["quota"]
        ask("PUT", "/v1/tenants/noisy/quota", {**quota, "requests_per_second": int(RATE)})
        time.sleep(2)  # what the server knows of a quota is a second old
        alone = Tenant(address, tokens["quiet"], QUIET_RATE, 1).summary()
        noisy = Tenant(address, tokens["noisy"], RATE * TIMES, CLIENTS)
        beside = Tenant(address, tokens["quiet"], QUIET_RATE, 1).summary()
        print(json.dumps({"quiet, alone": alone, "quiet, beside noisy": beside, "noisy": noisy.summary()}, indent=2))


if __name__ == "__main__":
    main()
