"""Watts and joules, from the energy counters of the processor's packages (RAPL, through Linux's powercap).

They count everything that a package does, for any process and while idle, but nothing of memory, fans or the power
supply. If a machine has none, like most virtual ones, or hides them from its users, power is not known and not guessed.

A counter is read many times a second, so that the energy between two points of time is known even if these are only
known later. Counters are in microjoules and wrap around at their range.
"""
import pathlib
import threading
import time
from dataclasses import dataclass

import numpy

FOLDER = pathlib.Path("/sys/class/powercap")
INTERVAL_S = 0.02


class NoSensor(Exception):
    """There is no counter; the message is why."""


@dataclass(frozen=True)
class Zone:
    """The counter of a package."""
    name: str
    path: pathlib.Path
    range_uj: int

    def read(self):
        return int(self.path.read_text())


def packages(folder=FOLDER):
    """The Zone of each package. Raises NoSensor."""
    found = {}
    for path in sorted(folder.glob("*rapl*:*")):
        try:
            name = (path / "name").read_text().strip()
            # Other zones are parts of a package, or the whole machine; a package may be listed twice.
            if not name.startswith("package") or name in found:
                continue
            zone = Zone(name, path / "energy_uj", int((path / "max_energy_range_uj").read_text()))
            zone.read()
        except PermissionError:
            raise NoSensor(f"the energy counters in {folder} are not for this user to read") from None
        except (OSError, ValueError) as error:
            raise NoSensor(f"an energy counter in {folder} cannot be read: {error}") from None
        found[name] = zone
    if not found:
        raise NoSensor(f"no energy counter of a processor in {folder}")
    return list(found.values())


def describe(folder=FOLDER):
    """For the results: the counters in use, or why there are none."""
    try:
        return {"status": "ran", "zones": [zone.name for zone in packages(folder)]}
    except NoSensor as reason:
        return {"status": "NS", "reason": str(reason)}


class Meter:
    """Reads the zones from the start of a with block to its end. `clock` gives seconds."""

    def __init__(self, zones, clock=time.monotonic, interval_s=INTERVAL_S):
        self._zones, self._clock, self._interval_s = zones, clock, interval_s
        self._last = [zone.read() for zone in zones]
        self._times, self._joules = [], []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self):
        self.read()
        self._thread.start()
        return self

    def __exit__(self, *exception):
        self._stop.set()
        self._thread.join()
        self.read()

    def read(self):
        """Adds the energy used since the last call."""
        used = self._joules[-1] if self._joules else 0.0
        for index, zone in enumerate(self._zones):
            now = zone.read()
            step = now - self._last[index]
            used += 1e-6 * (step if step >= 0 else step + zone.range_uj)
            self._last[index] = now
        self._times.append(self._clock())
        self._joules.append(used)

    def joules(self, start_s, end_s):
        """The energy used between two times of the clock within the block."""
        start, end = numpy.interp([start_s, end_s], self._times, self._joules)
        return float(end - start)

    def _watch(self):
        while not self._stop.wait(self._interval_s):
            self.read()
