"""Measures Attune and its peers interleaved: they take turns, so that a drift of the machine's speed hits all alike."""
import contextlib
import datetime
import pathlib
import tempfile
from dataclasses import dataclass

import numpy

from bench.wide.networks import WideNetwork
from bench.wide.networks import ensure as ensure_wide
from common import machine, stats, timing
from common.engines import PEERS
from common.models import files
from common.models.cases import refusal
from common.program import PROGRAM, ROOT, Failed, attune_json
from common.timing import Artifact, take_turns
from common.worker import PeerProcess

ARTIFACTS = ROOT / "build/bench/artifacts"
LOGS = ROOT / "build/bench/logs"

# How far a peer's output may be from Attune's, relative to its root mean square, by the type it computes in. It is
# wide: it only has to catch a peer that computes another network, not different rounding. It is narrow if torch
# exported the network and gave the outputs too: engines are within 1e-5 of these, and a wrong edge of a feature map
# shows.
TOLERANCE = {"fp32": 0.02, "bf16": 0.2, "int8": 0.5, "torch": 1e-3}


def is_wide(case):
    """Whether the case is of the wide set, which comes with its inputs and torch's outputs."""
    return isinstance(case, WideNetwork)


def model_of(case, form):
    """The case's model file of this format, made if it is missing. Raises Failed."""
    return ensure_wide(case) if is_wide(case) else files.ensure(case, form)


def compile_case(case, artifact, bf16, program=PROGRAM):
    """Compiles the case's model. Returns the program's report."""
    artifact.parent.mkdir(parents=True, exist_ok=True)
    precision = ["--precision", "bf16"] if bf16 else []
    return attune_json("compile", model_of(case, case.formats[0]), "-o", artifact, *precision, program=program)


def random_input(case):
    """The case's input, the same in each call."""
    random = numpy.random.default_rng(0)
    if case.is_text:
        return random.integers(0, 100, case.shape)
    if case.network.dtype == "uint8":
        return random.integers(0, 256, case.shape, dtype=numpy.uint8)
    return random.standard_normal(case.shape, dtype=numpy.float32)


def inputs_of(case):
    """The case's inputs, in the model's order."""
    return case.inputs() if is_wide(case) else [random_input(case)]


def input_flags(case):
    """The flags that give `attune bench` the inputs; none if its own random inputs will do."""
    return [part for name, path in case.input_files().items() for part in ("--input", f"{name}={path}")] \
        if is_wide(case) else []


def attune_outputs(artifact, case):
    """Attune's outputs, each flat."""
    with tempfile.TemporaryDirectory() as name:
        folder, inputs = pathlib.Path(name), input_flags(case)
        if not inputs:
            numpy.save(folder / "input.npy", random_input(case))
            inputs = ["--input", folder / "input.npy"]
        report = attune_json("run", artifact, *inputs, "--output", folder / "outputs")
        return [numpy.load(output["file"]).ravel() for output in report["outputs"]]


def relative_difference(actual, expected, step=0.0):
    """The root mean square of the difference, relative to that of the expected output or, if larger, to `step`."""
    if actual.shape != expected.shape:
        return float("inf")
    difference = numpy.linalg.norm(actual - expected)
    scale = max(numpy.linalg.norm(expected), step * expected.size**0.5)
    return float(difference / scale) if difference else 0.0


def largest_difference(actual, expected, precision):
    """relative_difference() over lists of flat outputs, the largest. Engines that return only the first output are
    compared by it. NaN if an output has a NaN."""
    differences = []
    for one, other in zip(actual, expected):
        step = step_of(one, other) if precision == "int8" else 0.0
        differences.append(relative_difference(one, other, step))
    return float(numpy.max(differences))


def step_of(*outputs):
    """The least distance between different values; for quantized values, one integer step. Nearly all outputs of an
    8-bit softmax over a thousand classes are zero, so their root mean square would be no measure."""
    values = numpy.concatenate(outputs).astype(numpy.float64)
    largest = abs(values).max(initial=0)
    # Two engines' products of a scale and an integer may differ in their last digits.
    gaps = numpy.diff(numpy.unique(numpy.round(values / (largest or 1), 4)))
    return float(largest * gaps.min()) if gaps.size else 0.0


class Wrong(Failed):
    """An engine computes something else than the outputs that it is compared with."""


def check_difference(difference, tolerance, other):
    """Raises Wrong if the outputs differ from those of `other` by more than TOLERANCE[tolerance] explains."""
    if not difference <= TOLERANCE[tolerance]:
        raise Wrong(f"computes something else: its output differs from {other} by {difference:.2g} of the root mean "
                    "square")


def failed(error):
    """The entry for an engine that was supposed to run."""
    entry = timing.failed(error)
    return {**entry, "status": "wrong"} if isinstance(error, Wrong) else entry


@dataclass
class Prepared:
    """A case with everything that is the same for all thread counts."""
    case: object
    arrays: list[numpy.ndarray]  # the inputs
    report: dict  # of compiling, or why it failed
    artifact: pathlib.Path | None  # None if compiling failed, and then there are no outputs either
    outputs: list[numpy.ndarray] | None

    @property
    def judge(self):
        """The expected outputs: (outputs or None, whose they are, the key of TOLERANCE)."""
        expected = self.case.expected() if is_wide(self.case) else None
        return (expected, "torch's", "torch") if expected else (self.outputs, "Attune's", self.case.precision)


class Lab:
    """Settings that stay the same over a run: `peers` (names), `rounds`, `seconds` per turn, whether engines may
    compute in bfloat16, and whether the cases are networks of 8-bit integers."""

    def __init__(self, peers, rounds, seconds, bf16, int8=False):
        self.peers, self.rounds, self.seconds, self.bf16, self.int8 = peers, rounds, seconds, bf16, int8

    def measure(self, case, thread_counts, progress):
        """The case's record, see results.py. `progress` takes a line for the user."""
        progress(f"{case.name}: compiling")
        prepared = self._prepare(case)
        runs = []
        for threads in thread_counts:
            progress(f"{case.name}: measuring, threads: {threads}")
            runs.append(self._run(prepared, threads))
        return {"name": case.name, "network": case.network.name, "framework": case.network.framework,
                "shape": case.shape, "precision": case.precision, "standard": case.is_standard,
                "compile": prepared.report, "runs": runs}

    def _prepare(self, case):
        arrays, artifact = inputs_of(case), ARTIFACTS / f"{case.name}.atn"
        try:
            compiled = compile_case(case, artifact, self.bf16)
            outputs = attune_outputs(artifact, case)
        except Failed as error:
            return Prepared(case, arrays, failed(error), None, None)
        report = {"seconds": compiled["seconds"]["total"], "kernels": compiled["kernels"], "bytes": compiled["bytes"]}
        return Prepared(case, arrays, report, artifact, outputs)

    def _run(self, prepared, threads):
        """Runs all engines on `threads` threads."""
        contestants, entries = {}, {}
        with contextlib.ExitStack() as stack:
            for name in ("attune", *self.peers):
                refused = refusal(prepared.case, name)
                try:
                    if refused:
                        entries[name] = dict(zip(("status", "reason"), refused))
                    elif name == "attune":
                        contestants[name], entries[name] = self._open_artifact(prepared, threads)
                    else:
                        contestants[name], entries[name] = self._open_peer(prepared, PEERS[name], threads, stack)
                except Failed as error:
                    entries[name] = failed(error)
            latencies, failures = take_turns(contestants, self.rounds, self.seconds)
        for name, rounds in latencies.items():
            entries[name] |= stats.summary(rounds)
        entries |= {name: failed(reason) for name, reason in failures.items()}
        run = {"threads": threads, "engines": entries}
        if "attune" in latencies:
            run["profile"] = self._profile(prepared, threads, entries["attune"]["median_ms"])
        return run

    def _open_artifact(self, prepared, threads):
        """(contestant, entry)"""
        if not prepared.artifact:
            raise Failed(prepared.report["reason"])
        artifact = Artifact(prepared.artifact, threads, inputs=input_flags(prepared.case))
        entry = {"status": "ran", "format": prepared.case.formats[0], "load_s": artifact.load()}
        return artifact, entry | self._compare(prepared, prepared.outputs)

    def _open_peer(self, prepared, peer, threads, stack):
        """(contestant, entry); the process ends with `stack`."""
        case = prepared.case
        form = next(form for form in peer.formats if form in case.formats)
        path = model_of(case, form)
        LOGS.mkdir(parents=True, exist_ok=True)
        log = LOGS / f"{case.name}-{peer.name}.log"
        process = PeerProcess(peer, path, prepared.arrays, threads, self.bf16, log)
        stack.callback(process.close)
        entry = {"status": "ran", "format": form, "load_s": process.load_s}
        return process, entry | self._compare(prepared, process.outputs)

    def _compare(self, prepared, outputs):
        """The fields of an entry about the outputs. Raises Wrong."""
        case, (expected, name, tolerance) = prepared.case, prepared.judge
        if expected is None or outputs is expected:
            return {}
        difference = largest_difference(outputs, expected, case.precision)
        if not case.network.sorts:
            check_difference(difference, "bf16" if self.bf16 else tolerance, name)
        return {"difference": difference}

    def _profile(self, prepared, threads, latency_ms):
        """Attune's report by kernel, over about as many inferences as a turn has."""
        rounds = max(3, min(20, int(1e3 * self.seconds / latency_ms)))
        return attune_json("profile", prepared.artifact, "--threads", threads, "--rounds", rounds,
                           *input_flags(prepared.case))


def document(lab, thread_counts, command):
    """results.json before any measurement."""
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "command": command,
        "settings": {"threads": thread_counts, "rounds": lab.rounds, "seconds": lab.seconds, "bf16": lab.bf16,
                     "int8": lab.int8, "peers": lab.peers},
        "machine": machine.describe(),
        "attune": machine.program(),
        "versions": machine.versions(),
        "cases": [],
    }
