"""Waits for what other threads and processes do, for as long as that takes: how long is long depends on the machine,
and the runner of a test ends one that hangs."""
import sys
import time

UNUSUAL_S = 60


def await_true(what, holds, pause=0.1):
    """Waits until holds() is true, and returns what it is. Tells once what is awaited, if that is unusually late."""
    late = time.monotonic() + UNUSUAL_S
    while not (found := holds()):
        if time.monotonic() > late:
            print(f"still waiting: {what}", file=sys.stderr, flush=True)
            late = float("inf")
        time.sleep(pause)
    return found
