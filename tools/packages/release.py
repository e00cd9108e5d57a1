"""The release build that packages are made from, and commands that make them."""
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Callable, Mapping

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", ROOT / "build" / "release"))
# Apart from what is made of this Debian's libraries, under the same names.
DIST = ROOT / "build" / "dist" / ("portable" if BUILD.name == "portable" else "")


class Failed(Exception):
    """A command failed; the message is what it printed."""


def exit_status(work: Callable[[], None]) -> int:
    """The exit status of a script that does this work; says why if it fails."""
    try:
        work()
    except Failed as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def run(*command: object, env: Mapping[str, str] | None = None, cwd: pathlib.Path | None = None) -> str:
    """Returns the output of a command. `env` is added to this program's environment."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=cwd,
                          env={**os.environ, **(env or {})})
    if done.returncode != 0:
        raise Failed(f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}".strip())
    return done.stdout


def version() -> str:
    """As CMake has configured it."""
    found = re.search(r"^CMAKE_PROJECT_VERSION:STATIC=(.+)$", (BUILD / "CMakeCache.txt").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


def is_portable() -> bool:
    """Whether it runs on other systems than this one."""
    return "ATTUNE_PORTABLE:BOOL=ON\n" in (BUILD / "CMakeCache.txt").read_text()


def commit(form: str) -> str:
    """A fact of the commit that is checked out, by git's placeholder for it, such as %ct."""
    return run("git", "log", "-1", f"--format={form}", cwd=ROOT).strip()


def source_date() -> int:
    """The time that all files of packages have: the commit's, or $SOURCE_DATE_EPOCH. Seconds since 1970."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or commit("%ct"))
