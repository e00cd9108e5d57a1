"""The attune program, for scripts that drive it as a person does."""
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = pathlib.Path(os.environ.get("ATTUNE", ROOT / "build/release/bin/attune"))


class Failed(Exception):
    """The program's exit code was not 0; the message is what it wrote to stderr."""


def attune(*arguments):
    """Runs a command and returns what it printed."""
    command = [PROGRAM, *arguments]
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise Failed(f"attune {' '.join(map(str, arguments))}: exit code {result.returncode}\n{result.stderr.strip()}")
    return result.stdout


def attune_json(*arguments):
    """Runs a command and returns its result as Python values."""
    return json.loads(attune(*arguments, "--json", "-"))


def onnxruntime_session(model, threads=1):
    """The model in the engine that results are compared with."""
    import onnxruntime  # only the tests and the demo have it

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = threads
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
