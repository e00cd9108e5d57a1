"""What people are told while they wait."""
import signal
import sys


def progress(line):
    print(line, file=sys.stderr, flush=True)


def duration(seconds):
    """40 s, 12 min, 3:05 h"""
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60}:{minutes % 60:02} h"


def interrupt_on_terminate():
    """From now on SIGTERM ends this program as Ctrl-C does."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
