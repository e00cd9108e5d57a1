#!/usr/bin/env python3
"""check_hostile.py    every hostile file is refused with one sentence, or simply works, at little cost

Gives each file to the program as the kind of file that it claims to be. A refusal is exit code 1 and one line. The
program may also accept a file: each of these did harm once, but not each must be refused.
"""
import contextlib
import os
import pathlib
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

from checks import MODELS, end_to_end, need
from common.program import ENVIRONMENT, NOT_SUPPORTED, PROGRAM

# The largest resident set of the program, beyond what its code and libraries take anyway.
MOST_KIB = 28 << 10
# Only so that the test ends: this test does not judge how long a refusal takes.
SECONDS = 120


class Outcome:
    """The outcome of a run: exit code (negative: the signal), stderr, the largest resident set in KiB, seconds."""

    def __init__(self, arguments, folder):
        command = [str(part) for part in (PROGRAM, *arguments)]
        start = time.monotonic()
        with open(folder / "stderr", "w+b") as errors:
            # A session of its own: everything that it starts ends with it.
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, env=ENVIRONMENT,
                                  start_new_session=True) as process:
                timer = threading.Timer(SECONDS, os.killpg, (process.pid, signal.SIGKILL))
                timer.start()
                _, status, usage = os.wait4(process.pid, 0)
                timer.cancel()
                process.returncode = os.waitstatus_to_exitcode(status)
            self.seconds = time.monotonic() - start
            errors.seek(0)
            self.errors = errors.read().decode(errors="replace")
        self.code, self.kib = process.returncode, usage.ru_maxrss


def arguments_for(path, folder):
    """The command that reads a file of this kind."""
    if path.suffix == ".jpg":
        model = folder / "picture.onnx"
        subprocess.run([PROGRAM, "zoo", "squeezenet1_1", "-o", model], check=True, stdout=subprocess.DEVNULL)
        return ["run", model, "--input", path]
    if path.suffix == ".py":
        database = folder / "records.db"
        victim = folder / "victim"
        victim.write_text("still here\n")
        with contextlib.closing(sqlite3.connect(database)) as connection:
            connection.execute("CREATE TABLE records (id INTEGER)")
            connection.commit()
        subprocess.run([sys.executable, path, database, victim], check=True, stdout=subprocess.DEVNULL)
        return ["records", "list", "--records", database]
    if path.suffix == ".atn":
        return ["run", path]
    if path.is_dir():
        # The original folder is write-protected, which has nothing to do with this test.
        copy = folder / path.name
        shutil.copytree(path, copy, copy_function=shutil.copyfile)
        return ["compile", copy, "-o", folder / "out.atn", "--shape", "x=1x1"]
    return ["compile", path, "-o", folder / "out.atn"]


def row_of(command, path, outcome):
    """One line about the program's reaction to the file."""
    said = outcome.errors.strip().replace(f"{path.parent}/", "")
    said = said if len(said) <= 160 else said[:80] + " … " + said[-77:]
    return (f"{command:8}{path.name:20}exit {outcome.code}  {outcome.kib / 1024:5.1f} MiB  "
            f"{outcome.seconds * 1e3:5.0f} ms  {said!r}")


def faults(path, folder, outcome, idle):
    """Describes what is wrong with the program's reaction to the file; empty if nothing is. `idle`: the outcome of the
    program that reads nothing."""
    lines = outcome.errors.splitlines()
    found = []
    if outcome.code not in (0, 1):
        found.append(f"ends with {outcome.code}: {outcome.errors.strip()[-200:]}")
    elif outcome.code == 1 and (len(lines) != 1 or not lines[0].startswith(("attune: ", NOT_SUPPORTED))):
        found.append(f"is refused with {len(lines)} lines: {lines[:3]}")
    if re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", outcome.errors):
        found.append("sends control characters to the terminal")
    if outcome.code == 1 and outcome.kib > idle.kib + MOST_KIB:
        found.append(f"takes {outcome.kib >> 10} MiB to refuse, and {idle.kib >> 10} MiB to do nothing")
    victim = folder / "victim"
    if path.suffix == ".py" and (not victim.exists() or victim.read_text() != "still here\n"):
        found.append("another file is gone")
    return found


def check_all():
    root = need(MODELS / "hostile")
    paths = sorted(path for path in root.iterdir() if path.suffix not in (".md",))
    assert paths, f"{root} is empty"
    # A crash that a file causes must not fill the disk with a core dump.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    wrong = []
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        empty = scratch / "empty.onnx"
        empty.write_bytes(b"")
        idle = Outcome(["--version"], scratch)
        for path in (empty, *paths):
            folder = scratch / f"of_{path.name}"
            folder.mkdir()
            arguments = arguments_for(path, folder)
            outcome = Outcome(arguments, folder)
            print(row_of(arguments[0], path, outcome), flush=True)
            found = faults(path, folder, outcome, idle)
            if found:
                wrong.append(f"{path.name} {'; '.join(found)}")
    assert not wrong, "\n".join(wrong)


end_to_end(check_all)
