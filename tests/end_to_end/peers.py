"""Shared by the scripts that compare this program with the engines that models come from.

An engine runs in a process of its own: it may abort, and its libraries may not get along with those of another.
"""
import collections
import contextlib
import multiprocessing
import os
import pathlib
import re
import sys
import tempfile
import wave

import numpy

from checks import MODELS, need
from common.program import NOT_SUPPORTED, Failed, attune_json, print_table
from comparing import compare_all


class PeerFailed(Exception):
    """The other engine gave no result; the message is its reason, on one line."""


# ---- Processes

def isolated(function, *arguments, seconds=600):
    """Calls the function in a process of its own and returns its result. Raises PeerFailed if it raises or aborts."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    with tempfile.TemporaryFile() as log:
        process = context.Process(target=report_result, args=(sender, log.fileno(), function, arguments), daemon=True)
        process.start()
        sender.close()
        try:
            if not receiver.poll(seconds):
                raise PeerFailed(f"no result after {seconds} s")
            good, result = receiver.recv()
        except EOFError:
            process.join()
            log.seek(0)
            lines = log.read().decode(errors="replace").strip().splitlines() or [""]
            raise PeerFailed(f"aborts with code {process.exitcode}: {one_line(lines[-1])}") from None
        finally:
            receiver.close()
            process.kill()
            process.join()
    if not good:
        raise PeerFailed(result)
    return result


def report_result(sender, log, function, arguments):
    """Sends (True, the function's result) or (False, why there is none)."""
    for stream in (1, 2):
        os.dup2(log, stream)
    try:
        message = (True, function(*arguments))
    except Exception as error:  # whatever the engine raises
        message = (False, one_line(str(error) or type(error).__name__))
    sender.send(message)
    sender.close()


def one_line(text):
    return " ".join(text.split())[:200]


# ---- Inputs

def noise(*shape):
    """Standard normal floats, the same in each call."""
    return numpy.random.default_rng(0).standard_normal(shape).astype(numpy.float32)


def photo(name, *shape, low=0.0, high=1.0, dtype=numpy.float32):
    """A photo of any size as [1,C,height,width] or [1,height,width,C], with C 3, or 1 in shades of grey; samples range
    from low to high."""
    import PIL.Image  # not every environment has it

    channels_first = shape[-3] in (1, 3)
    channels, height, width = shape[-3:] if channels_first else (shape[-1], *shape[-3:-1])
    image = PIL.Image.open(need(MODELS / "images" / name)).convert("L" if channels == 1 else "RGB")
    samples = numpy.asarray(image.resize((width, height), PIL.Image.Resampling.BILINEAR), dtype=numpy.float64)
    samples = samples.reshape(height, width, channels)
    if channels_first:
        samples = samples.transpose(2, 0, 1)
    samples = low + (high - low) / 255 * samples
    if numpy.issubdtype(dtype, numpy.integer):
        samples = numpy.rint(samples)
    return samples.reshape(shape).astype(dtype)


def speech(*shape):
    """Samples of a recording, which repeats if they are more. Not a pure tone: some networks take the logarithm of the
    rest in silent bands, which would be rounding errors."""
    with wave.open(str(need(MODELS / "audio/speech.wav"))) as file:
        samples = numpy.frombuffer(file.readframes(file.getnframes()), dtype=numpy.int16)
    return (numpy.resize(samples, shape) / 32768).astype(numpy.float32)


def is_image(shape):
    """Whether this is the shape of one picture, in either order of the axes."""
    if len(shape) != 4 or shape[0] != 1:
        return False
    return (shape[3] in (1, 3) and min(shape[1:3]) >= 28) or (shape[1] in (1, 3) and min(shape[2:]) >= 28)


def random_input(generator, shape, dtype):
    """Standard normal floats, small integers over the whole type, larger ones from 1 to 99: they may be indices."""
    dtype = numpy.dtype(dtype)
    if dtype.kind == "f":
        return generator.standard_normal(shape).astype(dtype)
    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(dtype)
    if dtype.kind not in "iu":
        raise PeerFailed(f"an input is of type {dtype.name}")
    if dtype.itemsize <= 2:
        return generator.integers(numpy.iinfo(dtype).min, numpy.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)
    return generator.integers(1, 100, shape).astype(dtype)


# ---- This program

def input_flags(folder, inputs):
    """Writes arrays, given by the names of a model's inputs, to `folder` and returns the command line's flags for them.
    The name of a single input does not matter."""
    flags = []
    for index, (name, values) in enumerate(inputs.items()):
        path = pathlib.Path(folder) / f"input{index}.npy"
        numpy.save(path, values)
        flags += ["--input", path if len(inputs) == 1 else f"{name}={path}"]
    return flags


def run_attune(model, inputs):
    """Runs the model on arrays given by the names of its inputs, and returns [(name, array)] of its outputs, in order.
    Raises Failed."""
    with tempfile.TemporaryDirectory() as folder:
        results = attune_json("run", model, *input_flags(folder, inputs), "--output",
                              pathlib.Path(folder) / "outputs")["outputs"]
        return [(result["name"], numpy.load(result["file"])) for result in results]


def verify_attune(model, inputs):
    """The report of `attune verify` about the model on these arrays. Raises Failed if an output is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        return attune_json("verify", model, *input_flags(folder, inputs))


def compile_attune(model):
    """Compiles the model, to see whether it can be compiled. Raises Failed."""
    with tempfile.TemporaryDirectory() as folder:
        attune_json("compile", model, "-o", pathlib.Path(folder) / "model.atn")


def not_supported(error):
    """The unsupported operators in an error, "Operator: reason" each; empty if the error is a different one."""
    reasons = {}
    for line in str(error).splitlines():
        match = re.match(NOT_SUPPORTED + r"(\S+).*?: (.*)", line)
        if match:
            reasons[f"{match[1]}: {match[2]}"] = None
    return list(reasons)


# ---- Reports

def is_asked_for(name):
    """Whether the command line names a part of the name, or names nothing and so asks for everything."""
    return not sys.argv[1:] or any(text in name for text in sys.argv[1:])


class Report:
    """Prints one line for each model when it is done, and the counts at the end."""

    def __init__(self, peer):
        self.peer = peer
        self.statuses = collections.Counter()
        self.reasons = collections.Counter()

    def compare(self, name, actual, expected, loose=0.0):
        """Compares the outputs and adds the verdict."""
        good, text = compare_all(actual, expected, loose)
        self.add("pass" if good else "wrong", name, text)

    def add(self, status, name, text, reasons=()):
        """`status`: pass, NS, wrong, contested, or refused (by the peer). Equal reasons are counted together."""
        self.statuses[status] += 1
        self.reasons.update((status, reason) for reason in reasons)
        print(f"{status:<9} {name}: {text}", flush=True)

    @contextlib.contextmanager
    def model(self, name, path):
        """A context in which a model is compared. If nothing can be compared, the code within raises Failed or
        PeerFailed."""
        try:
            yield
        except Failed as error:
            reasons = not_supported(error)
            self.add("NS" if reasons else "wrong", name, "; ".join(reasons) or one_line(str(error)), reasons[:1])
        except PeerFailed as error:
            good, fate = self.fate(path)
            self.add("refused" if good else "wrong", name, f"{self.peer}: {error}; attune: {fate}")

    @staticmethod
    def fate(path):
        """This program's reaction to a model that the peer cannot run. It may refuse it, but must not crash."""
        try:
            compile_attune(path)
        except Failed as error:
            reasons = "; ".join(f"{NOT_SUPPORTED}{reason}" for reason in not_supported(error))
            return "exit code 1" in str(error), reasons or one_line(str(error).splitlines()[-1])
        return True, "compiles it"

    def finish(self):
        """Prints the counts and exits: with 1 if something is wrong, or if nothing was compared."""
        print()
        for (status, reason), count in self.reasons.most_common():
            if count > 1:
                print(f"{status} {count}  {reason}")
        statuses = ("pass", "NS", "wrong", "contested", "refused")
        print_table([["", *statuses], ["models", *(str(self.statuses[status]) for status in statuses)]])
        sys.exit(1 if self.statuses["wrong"] or not self.statuses.total() else 0)
