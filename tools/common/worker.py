"""A peer in a process of its own.

So a crash affects only that peer, the thread pools of engines do not meet, and memory is returned. The timing happens
inside that process.
"""
import importlib
import multiprocessing
import os
import time

import numpy

from common.program import Failed

LOAD_LIMIT_S = 600
MEASURE_LIMIT_S = 600  # in addition to the requested time


def measure(run, seconds):
    """Latencies in ms, after one run that does not count, for `seconds` and at least 3 runs, as in `attune bench`."""
    run()
    latencies = []
    start = time.perf_counter()
    while len(latencies) < 3 or time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        run()
        latencies.append(1e3 * (time.perf_counter() - begin))
    return latencies


def reason_of(error):
    """The first line of the error, without OpenVINO's lines about where in its sources it was raised."""
    lines = [line for line in str(error).strip().splitlines() if not line.startswith("Exception from ")]
    return lines[0] if lines else type(error).__name__


def serve(pipe, peer, path, arrays, threads, bf16, log):
    """The child process: answers a load and then a measurement for each number of seconds, as (result, None) or (None,
    error)."""
    with open(log, "wb") as file:  # engines may print anything
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    try:
        importlib.import_module(peer.module)
    except ImportError as error:
        pipe.send((None, f"{peer.package} is not installed: {error}"))
        return
    try:
        start = time.perf_counter()
        run = peer.open(path, arrays, threads, bf16)
        outputs = run()
        load_s = time.perf_counter() - start
        flat = [numpy.array(output, dtype=numpy.float32).ravel() for output in outputs]
        pipe.send(((load_s, flat), None))
        while True:
            pipe.send((measure(run, pipe.recv()), None))
    except EOFError:  # the parent is done
        pass
    except Exception as error:  # any exception of an engine is its reason
        pipe.send((None, reason_of(error)))


class PeerProcess:
    """A peer with a model loaded and `arrays` as its inputs. `load_s`: how many seconds that took, with the first
    inference; `outputs`: the outputs of that inference, each flat. Every method raises Failed with the reason."""

    def __init__(self, peer, path, arrays, threads, bf16, log):
        context = multiprocessing.get_context("spawn")
        self._log = log
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=serve, args=(theirs, peer, path, arrays, threads, bf16, log), daemon=True)
        self._process.start()
        theirs.close()
        try:
            self.load_s, self.outputs = self._receive(LOAD_LIMIT_S)
        except Failed:
            self.close()
            raise

    def measure(self, seconds):
        """Latencies in ms."""
        try:
            self._pipe.send(seconds)
        except BrokenPipeError:
            pass  # the reason is read below
        return self._receive(seconds + MEASURE_LIMIT_S)

    def close(self):
        self._pipe.close()
        self._process.join(5)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    def _receive(self, limit_s):
        if not self._pipe.poll(limit_s):
            self._process.kill()
            raise Failed(f"no answer in {limit_s:.0f} s")
        try:
            result, error = self._pipe.recv()
        except (EOFError, ConnectionResetError):
            self._process.join(5)
            raise Failed(f"its process ended with code {self._process.exitcode}, see {self._log}") from None
        if error is not None:
            raise Failed(error)
        return result
