"""Checks that what people add most often stays small: applies patches that each add one thing, and runs their tests.

    ./do probes [--check] [PROBE...]

tools/probes/patches has a patch for each kind of thing: a REST field, a metric, a pass, an operator. Each is applied to a
work tree of the last commit in a temporary folder, its files are counted against its bound (tests and pages count,
generated files do not), its targets are built, and its tests run. Prints one line each: name, files, bound, and ok or
what failed. Exits with 1 if one has failed. With --check: applies and counts alone, on the files as they are now.
"""
import argparse
import contextlib
import pathlib
import re
import subprocess
import sys
import tempfile

from common.program import ROOT, Failed
from probes.probe import fault, git_apply, read_all, touched

SHOWN_LINES = 20  # of the output of what failed

NO_TESTS = re.compile(r"^\[  PASSED  \] 0 tests\.$", re.MULTILINE)


def call(command, folder):
    """Runs a command. Raises Failed with the end of its output."""
    result = subprocess.run([str(part) for part in command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, check=False)
    if result.returncode != 0:
        end = "\n".join(result.stdout.splitlines()[-SHOWN_LINES:])
        raise Failed(f"{' '.join(map(str, command))} failed:\n{end}")
    return result.stdout


@contextlib.contextmanager
def work_tree():
    """Yields a work tree of the last commit, whose build all probes share."""
    with tempfile.TemporaryDirectory(prefix="attune-probes-") as folder:
        tree = pathlib.Path(folder) / "tree"
        call(["git", "worktree", "add", "--detach", tree, "HEAD"], ROOT)
        try:
            yield tree
        finally:
            call(["git", "worktree", "remove", "--force", tree], ROOT)


def build_and_run(probe, tree):
    """Raises Failed if the build or a test fails, or if a test program finds none of its tests."""
    call(["cmake", "--preset", "release", "-Wno-dev", "-DATTUNE_TESTS=ON", "-DATTUNE_PAGE=OFF"], tree)
    call(["cmake", "--build", "--preset", "release", "--target", *probe.targets], tree)
    for program, *arguments in probe.runs:
        if NO_TESTS.search(call([tree / "build/release/bin" / program, *arguments], tree)):
            raise Failed(f"{program} {' '.join(arguments)}: runs no test")


def problem(probe, tree):
    """Applies the patch to a clean work tree, tests it, and takes it back. Returns what failed, or an empty text."""
    if reason := fault(probe, tree):
        return reason
    git_apply(probe, tree)
    try:
        build_and_run(probe, tree)
    except Failed as error:
        return str(error)
    finally:
        call(["git", "reset", "--hard", "--quiet"], tree)
        call(["git", "clean", "-fdq"], tree)  # what .gitignore names, such as the build, stays
    return ""


def report(probe, reason):
    """Prints the line of a probe; returns whether it is ok."""
    print(f"{probe.name:12} {len(touched(probe)):2} files, bound {probe.bound:2}: {reason or 'ok'}", flush=True)
    return not reason


def main():
    parser = argparse.ArgumentParser(prog="./do probes", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="apply and count alone, without building")
    parser.add_argument("probes", nargs="*", metavar="PROBE", help="name of a patch; default: all")
    options = parser.parse_args()
    try:
        probes = read_all(options.probes)
        if options.check:
            return 0 if all([report(probe, fault(probe)) for probe in probes]) else 1
        with work_tree() as tree:
            return 0 if all([report(probe, problem(probe, tree)) for probe in probes]) else 1
    except Failed as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
