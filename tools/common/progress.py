"""Messages for people while they wait."""
import signal
import sys


def progress(line):
    print(line, file=sys.stderr, flush=True)


def interrupt_on_terminate():
    """From now on SIGTERM ends this program as Ctrl-C does."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
