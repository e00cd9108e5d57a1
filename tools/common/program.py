"""The attune program, for scripts that drive it as a person does."""
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ.get("ATTUNE", ROOT / "build/release/bin/attune"))
NOT_SUPPORTED = "not supported: "  # what each line begins with that names an operator or a type that Attune lacks

# Results and figures do not depend on the user's own tuning.
ENVIRONMENT = {**os.environ, "ATTUNE_RECORDS": "none"}


class Failed(Exception):
    """A program failed; the message is its output on stderr."""


def attune_with_warnings(*arguments, program=PROGRAM):
    """Runs a command and returns its output, and the lines that it has written to stderr."""
    command = [program, *arguments]
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False,
                            env=ENVIRONMENT)
    if result.returncode != 0:
        raise Failed(f"attune {' '.join(map(str, arguments))}: exit code {result.returncode}\n{result.stderr.strip()}")
    return result.stdout, result.stderr.splitlines()


def attune(*arguments, program=PROGRAM):
    """Runs a command and returns its output."""
    return attune_with_warnings(*arguments, program=program)[0]


def attune_json(*arguments, program=PROGRAM):
    """Runs a command and returns its result as Python values."""
    return json.loads(attune(*arguments, "--json", "-", program=program))


def model_file(network, folder):
    """The file of a network: `network` is a model file, or a name of the zoo, which is then written into the folder."""
    model = pathlib.Path(network)
    if not model.exists():
        model = pathlib.Path(folder) / "network.onnx"
        attune("zoo", network, "-o", model)
    return model


def cpu_name():
    """The name of this machine's processor."""
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def run_tool(*command):
    """Runs another program and returns its output. Raises Failed, with the last line of what it has said."""
    command = [str(part) for part in command]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise Failed(f"{command[0]}: {error.strerror}") from None
    if result.returncode != 0:
        lines = (result.stderr or result.stdout).strip().splitlines() or [f"exit code {result.returncode}"]
        raise Failed(f"{' '.join([pathlib.Path(command[0]).name, *command[1:3]])} fails: {lines[-1]}")
    return result.stdout


def onnxruntime_session(model, threads=1):
    """A session of onnxruntime, with which results are compared, for the model."""
    import onnxruntime  # only the environments of the tests and the demo have it

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = threads
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def print_table(rows):
    """Aligned columns below the first row: the first column to the left, all others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [cell.ljust(width) if i == 0 else cell.rjust(width)
                 for i, (cell, width) in enumerate(zip(row, widths))]
        print("  " + "  ".join(cells).rstrip())
    print()


def print_missing(lacking):
    """Prints each (what results lack, why)."""
    for what, reason in lacking:
        print(f"missing: {what}: {reason}", file=sys.stderr)
