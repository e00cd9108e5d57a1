"""Shows how far a long call is: a line in a terminal or a notebook, nothing elsewhere."""
from __future__ import annotations

import sys
import time
from typing import Any


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


class Line:
    """One line that is drawn again and again, and erased in the end."""

    def __init__(self, wanted: bool | None = None) -> None:
        self._wanted = (sys.stderr.isatty() or _in_notebook()) if wanted is None else wanted
        self._width = 0
        self._next = 0.0

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()

    def draw(self, text: str) -> None:
        """Shows a text in the place of the one before."""
        now = time.monotonic()
        if not self._wanted or now < self._next:
            return
        self._next = now + 0.1
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def step(self, what: str, done: int, total: int) -> None:
        """A report of a step of the compiler."""
        self.draw(f"{what} {done} of {total}" if total else what)

    def tuning(self, stage: str, trials: int, elapsed: float, left: float, baseline: float, best: float) -> None:
        """A report of a tuning run."""
        gain = f", kernels {baseline / best:.2f} times as fast" if best > 0 else ""
        more = f", {left:.0f} s left" if left > 0 else ""
        self.draw(f"tuning: {trials} trials in {elapsed:.0f} s{more}{gain} ({stage})")
