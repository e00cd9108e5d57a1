"""Measures what the Python package adds to an inference, and whether it keeps memory or holds threads back.

    python3 -m figures.python_figures [--network mobilenet_v2] [--runs 1000] [--seconds 3] [--turns 9]

Runs where the package is installed, on a quiet machine, beside the programs and libraries of the build that has $ATTUNE
(default: build/release):

overhead   the time of Session.run() less that of the C interface, which is called with ctypes in the same process; both
           set all inputs and copy all outputs, and take turns
memory     how much this process grows over so many runs, after as many to warm up
threads    inferences per second of Python's threads, each with a session, relative to those of as many threads of C++
           (benchmarks/sessions_bench.cc), in turns"""
import argparse
import ctypes
import os
import pathlib
import statistics
import subprocess
import tempfile
import threading
import time

import attune
import numpy

from common.program import PROGRAM
from common.runtime import c_interface

SESSIONS = PROGRAM.parent / "sessions_bench"


class CInterface:
    """A session of the C interface for a network of one input and one output."""

    CALLS = 4  # of ctypes in a run

    def __init__(self, artifact, given, expected):
        self._library = c_interface.library()
        self._given, self._copy = given, numpy.empty_like(expected)
        self._address, self._target = given.ctypes.data, self._copy.ctypes.data
        model, self._session = ctypes.c_void_p(), ctypes.c_void_p()
        self._error, self._output = c_interface.ErrorOfC(), c_interface.Output()
        self._check(self._library.attune_load(str(artifact).encode(), None, ctypes.byref(model), self._error))
        self._check(self._library.attune_session_create(model, 1, ctypes.byref(self._session), self._error))

    def run(self):
        """Sets the input, runs, and copies the output."""
        library, session = self._library, self._session
        self._check(library.attune_session_set_input(session, 0, self._address, self._given.nbytes, self._error))
        self._check(library.attune_session_run(session, self._error))
        self._check(library.attune_session_output(session, 0, self._output, self._error))
        ctypes.memmove(self._target, self._output.data, self._output.bytes)
        return self._copy

    def call_seconds(self, calls=10000):
        """The time that ctypes takes for a run's calls."""
        begin = time.perf_counter()
        for _ in range(calls):
            self._library.attune_model_free(None)
        return self.CALLS * (time.perf_counter() - begin) / calls

    def _check(self, code):
        if code != 0:
            raise SystemExit(self._error.message.decode(errors="replace"))


def overhead(network, artifact, runs):
    """Prints the microseconds that Session.run() adds."""
    inputs = {name: network.random_input(name) for name in network.inputs}
    session = network.session()
    given, expected = *inputs.values(), *session.run(inputs).values()
    c_session = CInterface(artifact, given, expected)
    numpy.testing.assert_array_equal(c_session.run(), expected)
    times = ([], [])
    for turn in range(2 * runs):
        begin = time.perf_counter()
        if turn % 2 == 0:
            session.run(inputs)
        else:
            c_session.run()
        times[turn % 2].append(time.perf_counter() - begin)
    calls = c_session.call_seconds()
    added = statistics.median(python - c for python, c in zip(*times)) + calls
    print(f"overhead: {1e6 * added:.1f} us of {1e6 * statistics.median(times[1]):.0f} us (Session.run() less the C interface, "
          f"the median of {runs} pairs; {1e6 * calls:.1f} us of the calls by ctypes are not counted for C)")


def resident_kib():
    """The resident memory of this process."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


def memory(network, runs):
    """How much the process grows."""
    inputs = {name: network.random_input(name) for name in network.inputs}
    sizes = []
    for _ in range(2):
        for _ in range(runs):
            network.run(inputs)
        sizes.append(resident_kib())
    print(f"memory: {sizes[1] - sizes[0]} KiB more after {runs} further runs (of {sizes[0]} KiB)")


def python_rate(network, count, seconds):
    """Returns inferences per second of this many threads."""
    inputs = {name: network.random_input(name) for name in network.inputs}
    runs = [0] * count
    sessions = [network.session() for _ in range(count)]
    begin = time.monotonic()

    def work(index):
        while time.monotonic() < begin + seconds:
            sessions[index].run(inputs)
            runs[index] += 1

    threads = [threading.Thread(target=work, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(runs) / (time.monotonic() - begin)


def threads(network, artifact, seconds, turns):
    """The share of C++'s rate that Python reaches."""
    count = len(os.sched_getaffinity(0))
    ratios = []
    for _ in range(turns):
        output = subprocess.run([SESSIONS, artifact, str(count), str(seconds)], check=True,
                                capture_output=True, text=True).stdout
        ratios.append(python_rate(network, count, seconds) / float(output))
    print(f"threads: {statistics.median(ratios):.4f} of the rate of C++ with {count} threads "
          f"(the median of {turns} turns, {min(ratios):.4f} to {max(ratios):.4f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--network", default="mobilenet_v2")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--turns", type=int, default=9)
    flags = parser.parse_args()
    network = attune.zoo(flags.network).compile(records="none")
    with tempfile.TemporaryDirectory() as folder:
        artifact = pathlib.Path(folder) / "net.atn"
        network.save(artifact)
        overhead(network, artifact, flags.runs)
        memory(network, flags.runs)
        threads(network, artifact, flags.seconds, flags.turns)


if __name__ == "__main__":
    main()
