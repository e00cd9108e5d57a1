"""The progress of long calls in a terminal, in a notebook and elsewhere."""
import fcntl
import io
import os
import re
import struct
import sys
import termios
import types

import pytest

from attune import _progress


class Clock:
    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(_progress, "time", clock)
    return clock


class Terminal:
    """A terminal in the place of stderr."""

    def __init__(self, columns, encoding="utf-8"):
        self.master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.stream = open(slave, "w", encoding=encoding, errors="backslashreplace")

    def read(self):
        """All that was written since the last call, which may still be on its way."""
        self.stream.write("\a")
        self.stream.flush()
        written = b""
        while not written.endswith(b"\a"):
            written += os.read(self.master, 1 << 16)
        return written[:-1].decode()


@pytest.fixture
def make_terminal(monkeypatch):
    """Makes terminals. To be called by the test itself: pytest has a stderr of its own for each phase."""
    made = []

    def make(*arguments):
        made.append(Terminal(*arguments))
        monkeypatch.setattr(sys, "stderr", made[-1].stream)
        return made[-1]

    yield make
    for terminal in made:
        terminal.stream.close()
        os.close(terminal.master)


class Notebook:
    """An IPython that keeps what is displayed."""

    def __init__(self, monkeypatch):
        self.calls = []
        ipython, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
        ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())
        display.display = lambda data, raw, display_id: self.calls.append(("display", data, raw, display_id))
        display.update_display = lambda data, raw, display_id: self.calls.append(("update", data, raw, display_id))
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        monkeypatch.setitem(sys.modules, "IPython.display", display)


def test_a_bar_has_share_counts_and_time(clock, make_terminal):
    terminal = make_terminal(100)
    with _progress.Line() as line:
        line.step("compiling kernels", 0, 40)
        clock.now += 10
        line.step("compiling kernels", 10, 40)
    assert terminal.read().split("\r")[1] == "compiling kernels " + "█" * 6 + " " * 18 + "  25% 10 of 40, 30 s left"


def test_it_is_erased_in_the_end(clock, make_terminal):
    terminal = make_terminal(100)
    with _progress.Line() as line:
        clock.now += 1
        line.step("optimizing", 0, 0)
        assert terminal.read() == "\roptimizing 0 s"
    assert terminal.read() == "\r" + " " * len("optimizing 0 s") + "\r"


def test_a_shorter_line_covers_a_longer_one(clock, make_terminal):
    terminal = make_terminal(100)
    with _progress.Line() as line:
        clock.now += 1
        line.step("a long description", 0, 0)
        clock.now += 1
        line.step("short", 0, 0)
        assert terminal.read().split("\r")[2] == "short 0 s".ljust(len("a long description 0 s"))


@pytest.mark.parametrize("columns", [1, 20, 60, 79, 80, 200])
def test_it_never_wraps(clock, make_terminal, columns):
    terminal = make_terminal(columns)
    with _progress.Line() as line:
        for trials in range(50):
            clock.now += 1
            line.tuning("measure", trials, trials, 50 - trials, 1.0, 0.5)
    for text in terminal.read().split("\r"):
        assert len(text) < columns


def test_no_escape_sequence_is_needed(clock, make_terminal):
    terminal = make_terminal(100)
    with _progress.Line() as line:
        clock.now += 1
        line.step("calibrating", 3, 4)
    written = terminal.read()
    assert "75%" in written and "\x1b" not in written


def test_a_terminal_without_unicode_has_a_plain_bar(clock, make_terminal):
    terminal = make_terminal(100, "ascii")
    with _progress.Line() as line:
        clock.now += 1
        line.step("calibrating", 1, 2)
    assert "[###########           ]" in terminal.read()


def test_short_calls_show_nothing(clock, make_terminal):
    terminal = make_terminal(100)
    with _progress.Line() as line:
        for done in range(4):
            clock.now += 0.1
            line.step("compiling", done, 4)
    assert terminal.read() == ""


def test_ten_reports_a_second_are_all_shown_and_a_thousand_are_not(clock, make_terminal):
    terminal = make_terminal(100)
    with _progress.Line() as line:
        clock.now += 1
        for done in range(10):
            clock.now += 0.1
            line.step("compiling", done, 10)
        assert terminal.read().count("\r") == 10
        for done in range(1000):
            clock.now += 0.001
            line.step("compiling", done, 1000)
        assert terminal.read().count("\r") <= 20


def test_a_notebook_changes_one_output(clock, monkeypatch):
    notebook = Notebook(monkeypatch)
    with _progress.Line() as line:
        for done in range(3):
            clock.now += 1
            line.step("compiling <kernels>", done, 4)
    assert [call[0] for call in notebook.calls] == ["display", "update", "update", "update"]
    assert len({call[3] for call in notebook.calls}) == 1
    assert all(raw for _, _, raw, _ in notebook.calls)
    shown = notebook.calls[2][1]
    assert shown["text/plain"] == "compiling <kernels>  50% 2 of 4, 2 s left"
    assert re.search(r"&lt;kernels&gt; <progress value=\"0.5000\" max=\"1\"></progress> 2 of 4", shown["text/html"])
    assert notebook.calls[3][1]["text/plain"] == "done in 3 s"


def test_a_notebook_keeps_how_long_a_call_lived(clock, monkeypatch):
    notebook = Notebook(monkeypatch)
    with pytest.raises(KeyboardInterrupt), _progress.Line() as line:
        clock.now += 70
        line.step("compiling", 1, 4)
        raise KeyboardInterrupt
    assert notebook.calls[-1][1] == {"text/plain": "ended after 1:10 min", "text/html": "ended after 1:10 min"}


def test_tuning_without_a_limit_has_no_bar(clock, monkeypatch):
    notebook = Notebook(monkeypatch)
    with _progress.Line() as line:
        clock.now += 1
        line.tuning("measure", 64, 75.0, 0.0, 3.0, 2.0)
    assert notebook.calls[0][1]["text/plain"] == "tuning 64 trials in 1:15 min, kernels 1.50 times as fast (measure)"


@pytest.mark.parametrize("stream", [None, io.StringIO(), "closed"])
def test_without_a_terminal_nothing_is_shown(clock, monkeypatch, stream):
    if stream == "closed":
        stream = io.StringIO()
        stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    with _progress.Line(True) as line:
        clock.now += 1
        line.step("compiling", 1, 2)
    if stream is not None and not stream.closed:
        assert stream.getvalue() == ""


def test_false_shows_nothing(clock, make_terminal):
    terminal = make_terminal(100)
    with _progress.Line(False) as line:
        clock.now += 1
        line.step("compiling", 1, 2)
    assert terminal.read() == ""


def test_a_terminal_that_goes_away_ends_no_call(clock, make_terminal):
    terminal = make_terminal(100)
    with _progress.Line() as line:
        clock.now += 1
        line.step("compiling", 1, 2)
        terminal.stream.close()
        clock.now += 1
        line.step("compiling", 2, 2)


def test_a_replaced_stderr_is_left_alone(clock, make_terminal, monkeypatch):
    terminal = make_terminal(100)
    with _progress.Line() as line:
        clock.now += 1
        line.step("compiling", 1, 2)
        other = io.StringIO()
        monkeypatch.setattr(sys, "stderr", other)
    assert other.getvalue() == ""
    assert terminal.read().endswith("\r")
