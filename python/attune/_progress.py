"""Shows the progress of a long call: a progress bar in a terminal or a notebook, nothing elsewhere."""
from __future__ import annotations

import dataclasses
import html
import importlib
import os
import sys
import time
import uuid
from collections.abc import Callable
from typing import Any

_DELAY_SECONDS = 0.5  # calls that are shorter show nothing
_SECONDS_BETWEEN = 0.05
_BAR_WIDTH = 24
_EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclasses.dataclass(frozen=True)
class _View:
    """The progress of a call: share of the work from 0 to 1, if it is known, and a text."""

    title: str
    share: float | None
    details: str

    def text(self, bar: str = "") -> str:
        parts = [self.title, bar, "" if self.share is None else f"{self.share:4.0%}", self.details]
        return " ".join(part for part in parts if part)


def _duration(seconds: float) -> str:
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60}:{whole % 60:02} min"
    return f"{whole // 3600}:{whole // 60 % 60:02} h"


class _Terminal:
    """A line of a terminal that is written again and again, without escape sequences, and erased in the end."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._is_unicode = (getattr(stream, "encoding", None) or "").lower().startswith("utf")
        self._drawn = 0

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or 80
        except OSError:
            return 80

    def _bar(self, share: float, width: int) -> str:
        if not self._is_unicode:
            return f"[{'#' * int(share * (width - 2)):{width - 2}}]"
        full, eighths = divmod(int(share * width * 8), 8)
        return ("█" * full + (_EIGHTHS[eighths] if full < width else "")).ljust(width)

    def show(self, view: _View) -> None:
        # A character in the last column would begin another line.
        most = self._columns() - 1
        text = view.text()
        room = min(_BAR_WIDTH, most - len(text) - 1)
        if view.share is not None and room >= 10:
            text = view.text(self._bar(view.share, room))
        self._replace(text[:most], most)

    def end(self, _: str) -> None:
        self._replace("", self._columns() - 1)
        self._stream.write("\r")
        self._stream.flush()

    def _replace(self, text: str, most: int) -> None:
        self._stream.write("\r" + text.ljust(min(self._drawn, most)))
        self._stream.flush()
        self._drawn = len(text)


class _Notebook:
    """An output of a notebook's cell that changes, and stays, with how long the call has taken."""

    def __init__(self) -> None:
        self._id = uuid.uuid4().hex
        self._is_there = False

    def show(self, view: _View) -> None:
        bar = "" if view.share is None else f"<progress value=\"{view.share:.4f}\" max=\"1\"></progress> "
        self._display(view.text(), f"{html.escape(view.title)} {bar}{html.escape(view.details)}")

    def end(self, text: str) -> None:
        self._display(text, html.escape(text))

    def _display(self, text: str, as_html: str) -> None:
        display = importlib.import_module("IPython.display")
        call = display.update_display if self._is_there else display.display
        call({"text/plain": text, "text/html": as_html}, raw=True, display_id=self._id)
        self._is_there = True


def _screen() -> _Terminal | _Notebook | None:
    """Returns the screen for progress, or None."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if getattr(shell, "kernel", None) is not None:
        return _Notebook()
    try:
        return _Terminal(sys.stderr) if sys.stderr.isatty() else None
    except (AttributeError, ValueError):  # there is none, or it is closed
        return None


class Line:
    """The progress of one call. wanted: False shows nothing; else it is shown where a person would see it."""

    def __init__(self, wanted: bool | None = None) -> None:
        self._screen = None if wanted is False else _screen()
        self._begin = time.monotonic()
        self._next = self._begin + _DELAY_SECONDS
        self._is_drawn = False
        self._step = ("", self._begin)  # the step that is done now, and when it was first heard of

    def __enter__(self) -> Line:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: Any) -> None:
        if self._is_drawn:
            text = f"{'done in' if error is None else 'ended after'} {_duration(time.monotonic() - self._begin)}"
            self._try(lambda screen: screen.end(text))

    def step(self, what: str, done: int, total: int) -> None:
        """Reports a step of the compiler; total 0: the total is not known."""
        now = time.monotonic()
        if what != self._step[0]:
            self._step = (what, now)
        taken = now - self._step[1]
        if total <= 0:
            self._draw(_View(what, None, _duration(taken)))
            return
        left = f", {_duration(taken / done * (total - done))} left" if 0 < done < total and taken >= 1 else ""
        self._draw(_View(what, min(done / total, 1.0), f"{done} of {total}{left}"))

    def tuning(self, stage: str, trials: int, elapsed: float, left: float, baseline: float, best: float) -> None:
        """Reports the progress of a tuning run."""
        gain = f", kernels {baseline / best:.2f} times as fast" if best > 0 else ""
        more = f", {_duration(left)} left" if left > 0 else ""
        share = elapsed / (elapsed + left) if left > 0 else None
        self._draw(_View("tuning", share, f"{trials} trials in {_duration(elapsed)}{more}{gain} ({stage})"))

    def _draw(self, view: _View) -> None:
        now = time.monotonic()
        if self._screen is None or now < self._next:
            return
        self._next = now + _SECONDS_BETWEEN
        self._is_drawn = True
        self._try(lambda screen: screen.show(view))

    def _try(self, call: Callable[[_Terminal | _Notebook], None]) -> None:
        """Draws; a terminal that goes away must not end the call."""
        try:
            if self._screen is not None:
                call(self._screen)
        except (OSError, ValueError):
            self._screen = None
