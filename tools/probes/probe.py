"""A probe: a patch that adds one thing to the tree, with a header that bounds how many files it touches.

The header stands before the diff: a sentence that says what is added, an empty line, and then

    Bound: 3                                     most files that the patch may touch
    Build: opt_test graph_fuzz_test              targets of the build
    Run: opt_test --gtest_filter=DropRectifiers.*     a test program with its arguments; any number of such lines

Each file counts: sources, tests and pages that a good change has. A file that a command of ./do writes does not.
"""
import dataclasses
import pathlib
import re
import subprocess

from common.program import ROOT, Failed

FOLDER = pathlib.Path(__file__).resolve().parent / "patches"

# Files that a command of ./do writes.
GENERATED = ("docs/options.md", "web/src/api/schema.d.ts")

LINE = re.compile(r"^(Bound|Build|Run): *(.*)$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Probe:
    path: pathlib.Path
    bound: int
    targets: list[str]
    runs: list[list[str]]  # command lines

    @property
    def name(self):
        return self.path.stem


def read(path):
    """Reads a patch. Raises Failed if its header lacks a line."""
    header, _, diff = path.read_text().partition("diff --git ")
    lines = {"Bound": [], "Build": [], "Run": []}
    for key, value in LINE.findall(header):
        lines[key].append(value)
    missing = [key for key in lines if not lines[key]]
    if missing or not diff:
        raise Failed(f"{path.name}: has no {'diff' if not missing else missing[0] + ' line'}")
    return Probe(path, int(lines["Bound"][0]), " ".join(lines["Build"]).split(), [run.split() for run in lines["Run"]])


def read_all(names=(), folder=FOLDER):
    """Reads the probes of these names, by default all. Raises Failed if there is no such probe."""
    probes = [read(path) for path in sorted(folder.glob("*.patch"))]
    known = [probe.name for probe in probes]
    for name in names:
        if name not in known:
            raise Failed(f"there is no probe {name}: choose from {', '.join(known)}")
    return [probe for probe in probes if not names or probe.name in names]


def git_apply(probe, tree, *options):
    return subprocess.run(["git", "apply", *options, str(probe.path)], cwd=tree, capture_output=True, text=True, check=False)


def touched(probe, tree=ROOT):
    """Lists the files that the patch touches, except generated ones."""
    lines = git_apply(probe, tree, "--numstat").stdout.splitlines()
    return [path for path in (line.split("\t")[2] for line in lines) if path not in GENERATED]


def fault(probe, tree=ROOT):
    """Returns why the patch does not fit the tree, or an empty text if it does. Takes milliseconds."""
    applied = git_apply(probe, tree, "--check")
    if applied.returncode != 0:
        return f"no longer applies, so make it anew on this tree: {applied.stderr.strip()}"
    count = len(touched(probe, tree))
    return f"touches {count} files, {count - probe.bound} more than its bound" if count > probe.bound else ""
