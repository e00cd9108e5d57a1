"""Contestants take turns while they are timed, so that a drift of the machine's speed hits all alike."""
import statistics
import time

from common.program import NOT_SUPPORTED, PROGRAM, ROOT, Failed, attune_json

# The thread pools of some engines spin for this long after a run.
SETTLE_S = 0.2


class Artifact:
    """An artifact's file on a number of threads; `inputs`: flags of `attune bench`, none if its own random inputs will
    do. Every method raises Failed with the reason."""

    def __init__(self, path, threads, program=PROGRAM, inputs=()):
        self._arguments = ("bench", path, "--threads", threads, *inputs)
        self._program = program

    def load(self):
        """Seconds from the program's start until its first inference is done."""
        start = time.perf_counter()
        counted_s = 1e-3 * sum(self.measure(0))
        return time.perf_counter() - start - counted_s

    def measure(self, seconds):
        """Latencies in ms, after one inference that does not count, for `seconds` and at least 3 runs."""
        return attune_json(*self._arguments, "--seconds", seconds, program=self._program)["latency_ms"]


def take_turns(contestants, rounds, seconds, settle_s=SETTLE_S):
    """Lets each of {name: contestant} measure for `seconds`, interleaved, `rounds` times.

    Returns {name: latencies in ms, one list per round} for those that succeeded, and {name: reason} for the others.
    Each round begins with another contestant, so that none always follows the same one.
    """
    latencies, failures = {name: [] for name in contestants}, {}
    for number in range(rounds):
        names = list(latencies)
        first = number % max(1, len(names))
        for name in names[first:] + names[:first]:
            time.sleep(settle_s)
            try:
                latencies[name].append(contestants[name].measure(seconds))
            except Failed as error:
                failures[name] = str(error)
                del latencies[name]
    return latencies, failures


def round_medians(rounds):
    """From {name: latencies in ms, one list per round}: {name: the median of each round}."""
    return {name: [statistics.median(values) for values in lists] for name, lists in rounds.items()}


def failed(error):
    """The entry for something that was supposed to work. "NS" if Attune does not support it, as its message says."""
    reason = str(error).replace(f"{ROOT}/", "")
    unsupported = any(line.startswith(NOT_SUPPORTED) for line in reason.splitlines())
    return {"status": "NS" if unsupported else "missing", "reason": reason}
