"""The stages of the demo, with a bar while each of them runs and the seconds that it took."""
import concurrent.futures
import contextlib
import sys
import time

BAR, LINE = 30, 79  # characters of the bar, and of the line that it stands in
TICK_S = 0.2


class Stages:
    """Times stages, one after the other. `seconds`: {title: seconds} of those that are over.

    On a terminal, stderr shows a bar; elsewhere, a line for each tenth of a stage."""

    def __init__(self):
        self._tenth = -1
        self._is_live = sys.stderr.isatty()
        self.seconds = {}

    @contextlib.contextmanager
    def stage(self, title):
        self._line(title, "\n")
        self._tenth = -1
        start = time.monotonic()
        yield
        self.seconds[title] = time.monotonic() - start
        self._line(f"{title} took {self.seconds[title]:.0f} s", "\n\n")

    def show(self, done, total, what):
        """Shows the share of the stage that is done, and what is under way. Call clear() before printing."""
        if self._is_live:
            filled = BAR * done // total
            self._line(f"[{'#' * filled}{'.' * (BAR - filled)}] {done}/{total} {what}"[:LINE], "")
        elif 10 * done // total != self._tenth:
            self._tenth = 10 * done // total
            self._line(f"  {done}/{total} {what}", "\n")

    def wait(self, seconds, what, function, *arguments):
        """Calls a function that takes about this long, and returns its result."""
        self._tenth = -1
        start = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            future = pool.submit(function, *arguments)
            while not future.done():
                self.show(min(round(time.monotonic() - start), seconds), seconds, f"s {what}")
                concurrent.futures.wait([future], TICK_S)
            return future.result()

    def clear(self):
        """Takes the bar away, before results are printed."""
        if self._is_live:
            self._line("", "")

    def _line(self, text, end):
        clear = "\r\x1b[K" if self._is_live else ""
        print(f"{clear}{text}", end=end, file=sys.stderr, flush=True)
