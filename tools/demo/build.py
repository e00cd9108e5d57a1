"""Builds the compiler alone, with all processors: the program attune, and the runtime library that networks run with."""
import collections
import re
import subprocess

from common.machine import processors
from common.program import ROOT, Failed

FOLDER = ROOT / "build/release"
TARGETS = ("attune", "attune_runtime_shared")
STEP = re.compile(r"\[(\d+)/(\d+)\] (.*)")
LAST_LINES = 40  # that are shown of a build that fails


def run(command, stages):
    """Runs a command of the build; `stages` shows each of its steps. Raises Failed."""
    last = collections.deque(maxlen=LAST_LINES)
    with subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        for line in process.stdout:
            last.append(line)
            if step := STEP.match(line):
                stages.show(int(step[1]), int(step[2]), step[3].rsplit("/", 1)[-1].strip())
    if process.returncode != 0:
        raise Failed(f"{''.join(last)}the build fails, see above")


def build(stages):
    """Configures and builds, or finds that all is built. Raises Failed."""
    run(["cmake", "--preset", "release", "-Wno-dev", "-DATTUNE_TESTS=OFF"], stages)
    run(["cmake", "--build", FOLDER, "--parallel", str(processors()), "--target", *TARGETS], stages)
