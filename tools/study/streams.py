"""Throughput: streams that run at once, each a process that runs inferences one after the other.

A process reports how long each of its inferences took, but not when. Since it runs them without a pause and then ends,
the last one ended when the process did, and each other one ended where the next began. Only the time in which all
streams ran counts: before it some still load, and after it some have the machine for themselves.

Each stream has processors of its own, as a person would assign them. Otherwise, engines that bind their threads to
processors would use the same ones in every process.
"""
import concurrent.futures
import contextlib
import os
import statistics
import time
from dataclasses import dataclass

from common import stats
from common.program import Failed, attune_json
from study.power import Meter


@dataclass(frozen=True)
class Stream:
    """A stream that has ended: when, by time.monotonic(), and the time of each inference, in ms."""
    end_s: float
    latencies: list[float]

    @property
    def start_s(self):
        return self.end_s - 1e-3 * sum(self.latencies)


@dataclass(frozen=True)
class Turn:
    """The result of all streams while they ran at once."""
    latencies: list[float]  # in ms, of inferences within this time
    per_second: float  # pictures
    watts: float | None


def common_time(streams):
    """(start, end) of the time in which all ran. Raises Failed if there is none."""
    start, end = max(stream.start_s for stream in streams), min(stream.end_s for stream in streams)
    if end <= start:
        raise Failed("the streams did not run at the same time; give --seconds more")
    return start, end


def within(stream, start_s, end_s):
    """A stream's (inferences, those at the ends counted in parts; latencies of the whole ones) within this time."""
    count, whole, begin = 0.0, [], stream.start_s
    for latency in stream.latencies:
        end = begin + 1e-3 * latency
        share = max(0.0, min(end, end_s) - max(begin, start_s)) / (end - begin)
        count += share
        if share > 1 - 1e-6:
            whole.append(latency)
        begin = end
    return count, whole


def turn_of(streams, batch, joules):
    """The Turn from streams that have ended. `joules` is a function of start and end, or None."""
    start, end = common_time(streams)
    counts, latencies = zip(*(within(stream, start, end) for stream in streams))
    latencies = [latency for own in latencies for latency in own]
    if not latencies:
        raise Failed("no inference lay in the time in which all streams ran; give --seconds more")
    return Turn(latencies, batch * sum(counts) / (end - start), joules(start, end) / (end - start) if joules else None)


def summary(turns):
    """Summarizes the rounds: stats.summary() of the latencies, pictures per second (the median of the rounds), and, if
    power is known, watts (likewise) and joules per picture."""
    rates = [turn.per_second for turn in turns]
    entry = {"latency": stats.summary([turn.latencies for turn in turns]), "per_second": statistics.median(rates),
             "round_per_second": rates}
    if any(turn.watts is None for turn in turns):
        return entry
    return entry | {"watts": statistics.median(turn.watts for turn in turns),
                    "joules": statistics.median(turn.watts / turn.per_second for turn in turns)}


def available_processors():
    return os.sched_getaffinity(0)


def processors_of(stream, setup, available):
    """The processors of one of the setup's streams; all of them if there is one stream or if they are too few."""
    available = sorted(available)
    if setup.streams == 1 or setup.streams * setup.threads > len(available):
        return set(available)
    return set(available[stream * setup.threads:(stream + 1) * setup.threads])


@contextlib.contextmanager
def bound_to(processors):
    """Processes that this thread starts in the block run on these processors."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, processors)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Compiled:
    """An artifact, on threads and processors, with a file as its input. measure() raises Failed."""

    def __init__(self, artifact, threads, sample, processors):
        self._arguments = ("bench", artifact, "--threads", threads, "--input", sample)
        self._processors = processors

    def measure(self, seconds):
        """Latencies in ms, after one inference that does not count, for `seconds` and at least 3 runs."""
        with bound_to(self._processors):
            return attune_json(*self._arguments, "--seconds", seconds)["latency_ms"]


class Streams:
    """Runners that measure at once, as one contestant. `zones`: the counters of power.packages(), or None."""

    def __init__(self, runners, batch, zones):
        self._runners, self._batch, self._zones = runners, batch, zones

    def measure(self, seconds):
        """Measures a Turn. Raises Failed."""
        def run(runner):
            latencies = runner.measure(seconds)
            return Stream(time.monotonic(), latencies)

        with contextlib.ExitStack() as stack:
            meter = stack.enter_context(Meter(self._zones)) if self._zones else None
            pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(len(self._runners)))
            streams = list(pool.map(run, self._runners))
        return turn_of(streams, self._batch, meter and meter.joules)
