"""Has this program become slower? Two programs take turns on the same networks.

In each round both run in a process of their own, one after the other, and the round's ratio is that of their medians: a
disturbance that is longer than a round hits both and cancels out. The noise is the scatter of the rounds' ratios,
whatever its distribution. A network counts as changed if the confidence interval of their median (order statistics, see
stats.ranks_of_interval) excludes 1, and if the median itself differs from 1 by LEAST_CHANGE: code that only moved by
some bytes makes a real difference that means nothing.
"""
import statistics
import subprocess
from dataclasses import dataclass

from bench.measure import ARTIFACTS, compile_case, input_flags
from common import machine, stats
from common.program import ROOT, Failed
from common.timing import Artifact, take_turns

# The suite makes 24 comparisons on two thread counts: if nothing has changed, one run in eighty calls a network slower.
CONFIDENCE = 0.999
LEAST_CHANGE = 0.01
FEWEST_ROUNDS = stats.least_count(CONFIDENCE)


@dataclass(frozen=True)
class Comparison:
    """The comparison of a case on a number of threads. `ratio` is new latency over old, within `low` and `high` with
    CONFIDENCE; the latencies are medians in ms."""
    case: str
    threads: int
    old_ms: float
    new_ms: float
    ratio: float
    low: float
    high: float

    @property
    def verdict(self):
        if self.low > 1 and self.ratio > 1 + LEAST_CHANGE:
            return "slower"
        if self.high < 1 and self.ratio < 1 - LEAST_CHANGE:
            return "faster"
        return "same"


def compare(case, threads, old, new):
    """The Comparison of two programs' rounds, each a list of latencies in ms."""
    old_medians, new_medians = ([statistics.median(values) for values in rounds] for rounds in (old, new))
    ratios = [after / before for before, after in zip(old_medians, new_medians, strict=True)]
    ratio, low, high = stats.median_interval(ratios, CONFIDENCE)
    return Comparison(case, threads, statistics.median(old_medians), statistics.median(new_medians), ratio, low, high)


def build(commit):
    """The program of another commit, built in a separate work tree. Raises Failed."""
    folder = ROOT / f"build/bench/against-{commit[:12]}"
    program = folder / "build/release/bin/attune"
    if program.exists():
        return program
    try:
        if not folder.exists():
            # With --force, since git remembers work trees that were removed with build/.
            machine.git("worktree", "add", "--force", "--detach", folder, commit)
        for step in (["--preset", "release", "-Wno-dev"], ["--build", "--preset", "release", "--target", "attune"]):
            subprocess.run(["cmake", *step], cwd=folder, check=True, capture_output=True, text=True)
    except subprocess.CalledProcessError as error:
        raise Failed(f"cannot build {commit[:12]}: {(error.stderr or error.stdout).strip()}") from None
    return program


def resolve(commit):
    """The full hash of a commit. Raises Failed if there is no such commit."""
    try:
        return machine.git("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
    except subprocess.CalledProcessError:
        raise Failed(f"there is no commit {commit}") from None


def compare_case(case, thread_counts, programs, lab):
    """Compares {"old": program, "new": program}. Returns a Comparison for each number of threads, and {side: reason}
    for the programs that fail. A failure ends the comparison."""
    artifacts = {side: ARTIFACTS / f"{case.name}.{side}.atn" for side in programs}
    comparisons, failures = [], {}
    for side, program in programs.items():
        try:
            compile_case(case, artifacts[side], lab.bf16, program)
        except Failed as error:
            failures[side] = str(error)
    if failures:
        return [], failures
    for threads in thread_counts:
        contestants = {side: Artifact(artifacts[side], threads, programs[side], input_flags(case))
                       for side in programs}
        latencies, failures = take_turns(contestants, lab.rounds, lab.seconds)
        if failures:
            return comparisons, failures
        comparisons.append(compare(case.name, threads, latencies["old"], latencies["new"]))
    return comparisons, {}


def rows(comparisons):
    """A header and one row per comparison, for the terminal."""
    table = [["network", "threads", "old, ms", "new, ms", "new ÷ old", "interval", "verdict"]]
    for c in comparisons:
        table.append([c.case, str(c.threads), f"{c.old_ms:.3f}", f"{c.new_ms:.3f}", f"{c.ratio:.3f}",
                      f"{c.low:.3f} to {c.high:.3f}", c.verdict])
    return table
