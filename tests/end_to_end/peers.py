"""What the scripts share that compare this program with the engines that models come from.

An engine runs in a process of its own: it may abort, and its libraries may not get on with those of another.
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
from dataclasses import dataclass

import numpy

from checks import MODELS, need
from program import Failed, attune_json, print_table

# As `attune verify` has them, absolute and relative; the absolute part is in units of the output's root mean square.
TOLERANCES = {numpy.dtype(numpy.float64): (1e-9, 1e-7), numpy.dtype(numpy.float32): (1e-5, 1e-4),
              numpy.dtype(numpy.float16): (2.5e-3, 1e-3)}

# Of quantized values: the share that must be within one step; none may be further off than the other number says.
SHARE_WITHIN_ONE_STEP, MOST_STEPS = 0.995, 2

# Of floats that a quantized network computes, as `attune verify` has it.
LEAST_COSINE = 0.999

# Of objects that are looked for.
LEAST_SCORE, LEAST_OVERLAP, MOST_SCORE_DIFFERENCE = 0.3, 0.9, 0.02

# Larger tensors than this, in elements of all inputs together, are for machines with much memory.
MOST_ELEMENTS = 1 << 24


class PeerFailed(Exception):
    """The other engine gave no result; the message is its reason, on one line."""


@dataclass
class Expected:
    """An output as the other engine computes it, and how it is compared:

    "float"   within the tolerances; but the share `loose` of the elements may be up to ten times beyond
    "steps"   in units of `step`, the scale of quantized values
    "cosine"  floats of a network that quantizes what it computes
    "equal"   integers and truth values
    "mostly"  integers of a quantized network that are no values but indices: equal as often as steps must be right
    "detections"  the four outputs of an operator that finds objects, as sets
    """
    name: str
    values: numpy.ndarray
    rule: str
    step: float = 1.0


# ---- Processes

def isolated(function, *arguments, seconds=600):
    """What the function returns, called in a process of its own. Raises PeerFailed where it raises or aborts."""
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
    """Sends (True, what the function returns) or (False, why it does not)."""
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
    """Standard normal floats, the same each time."""
    return numpy.random.default_rng(0).standard_normal(shape).astype(numpy.float32)


def photo(name, *shape, low=0.0, high=1.0, dtype=numpy.float32):
    """A photo of any size as [1,C,height,width] or [1,height,width,C], C 3 or, in shades of grey, 1; samples are from
    low to high."""
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
    """As many samples, of a recording that starts again when it ends. Not a pure tone: some networks take the
    logarithm of what is left of the bands that are silent, which is rounding."""
    with wave.open(str(need(MODELS / "audio/speech.wav"))) as file:
        samples = numpy.frombuffer(file.readframes(file.getnframes()), dtype=numpy.int16)
    return (numpy.resize(samples, shape) / 32768).astype(numpy.float32)


def is_image(shape):
    """Whether it is the shape of one picture, in either order of its axes."""
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

def run_attune(model, inputs):
    """Computes the model on arrays by the names of its inputs, and returns [(name, array)] of its outputs, in order.
    The name of a single input does not matter. Raises Failed."""
    with tempfile.TemporaryDirectory() as folder:
        flags = []
        for index, (name, values) in enumerate(inputs.items()):
            path = pathlib.Path(folder) / f"input{index}.npy"
            numpy.save(path, values)
            flags += ["--input", path if len(inputs) == 1 else f"{name}={path}"]
        results = attune_json("run", model, *flags, "--output", pathlib.Path(folder) / "outputs")["outputs"]
        return [(result["name"], numpy.load(result["file"])) for result in results]


def compile_attune(model):
    """Compiles the model, to see whether that can be done. Raises Failed."""
    with tempfile.TemporaryDirectory() as folder:
        attune_json("compile", model, "-o", pathlib.Path(folder) / "model.atn")


def not_supported(error):
    """The list of what the program does not support, "Operator: reason" each; empty where the error is another."""
    reasons = {}
    for line in str(error).splitlines():
        match = re.match(r"NS (\S+).*?: (.*)", line)
        if match:
            reasons[f"{match[1]}: {match[2]}"] = None
    return list(reasons)


# ---- LiteRT

def run_litert(path, make_input, seconds=600):
    """Computes a .tflite model with LiteRT's reference kernels, on one thread. `make_input` gets what LiteRT says of an
    input and makes its value. Returns the inputs by name, and a list of Expected. Raises PeerFailed."""
    return isolated(litert_outputs, path, make_input, seconds=seconds)


def litert_outputs(path, make_input):
    interpreter = open_litert(path)
    details = interpreter.get_input_details()
    if sum(int(numpy.prod(detail["shape"])) for detail in details) > MOST_ELEMENTS:
        raise PeerFailed("its inputs are too large for a test")
    inputs = {}
    for name, detail in zip(input_names(details), details):
        inputs[name] = make_input(detail)
        interpreter.set_tensor(detail["index"], inputs[name])
    interpreter.invoke()
    rules = Rules(interpreter)
    outputs = []
    for detail in interpreter.get_output_details():
        rule, step = rules.of(detail)
        outputs.append(Expected(detail["name"], numpy.array(interpreter.get_tensor(detail["index"])), rule, step))
    return inputs, outputs


def open_litert(path):
    """Some operators have optimized kernels alone; models with these run on them."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    def open_with(kernels):
        interpreter = Interpreter(str(path), num_threads=1, experimental_op_resolver_type=kernels)
        interpreter.allocate_tensors()
        return interpreter

    try:
        return open_with(OpResolverType.BUILTIN_REF)
    except (ValueError, RuntimeError) as error:
        if "unresolved custom op" not in str(error):
            raise
    return open_with(OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)


def input_names(details):
    """The names that this program gives the inputs: their tensors', but one that has none, or one that is taken, is
    numbered."""
    names = []
    for index, detail in enumerate(details):
        taken = not detail["name"] or detail["name"] in names
        names.append(f"input{index}" if taken else detail["name"])
    return names


class Rules:
    """How the outputs of a LiteRT model are compared, which depends on what computes them."""

    def __init__(self, interpreter):
        self.tensors = {detail["index"]: detail for detail in interpreter.get_tensor_details()}
        self.makers = {}  # by output, the operator's name and its inputs
        self.quantized = False
        nodes = interpreter._interpreter  # what the class itself gives fails where tensors have no type
        for node in range(nodes.NumNodes()):
            name, inputs, outputs = nodes.NodeName(node), nodes.NodeInputs(node), nodes.NodeOutputs(node)
            for index in outputs:
                self.makers[int(index)] = (name, inputs)
            # What is dequantized to be computed with is floats already.
            if name != "DEQUANTIZE":
                self.quantized |= any(self.is_quantized(index) for index in (*inputs, *outputs))

    def scales(self, index):
        """Of an integer tensor that is quantized; else empty."""
        detail = self.tensors.get(int(index))
        if detail is None or numpy.dtype(detail["dtype"]).kind not in "iu":
            return numpy.array([])
        return numpy.asarray(detail["quantization_parameters"]["scales"])

    def is_quantized(self, index):
        """Scales of blocks stand elsewhere."""
        detail = self.tensors.get(int(index))
        return self.scales(index).size > 0 or (detail is not None
                                               and bool(detail["quantization_parameters"].get("block_size")))

    def of(self, detail):
        """The rule and the step of an output."""
        index, kind = int(detail["index"]), numpy.dtype(detail["dtype"]).kind
        if kind == "f":
            name, inputs = self.makers.get(index, ("", ()))
            if name == "TFLite_Detection_PostProcess":
                return "detections", 1.0
            if name == "DEQUANTIZE" and self.scales(inputs[0]).size == 1:
                return "steps", float(self.scales(inputs[0])[0])
            return ("cosine" if self.quantized else "float"), 1.0
        if self.scales(index).size > 0:
            return "steps", 1.0
        return ("mostly" if self.quantized and kind != "b" else "equal"), 1.0


# ---- Comparing

def compare(actual, expected, loose=0.0):
    """Whether an output is what is expected, and the figures."""
    if actual.shape != expected.values.shape or actual.dtype != expected.values.dtype:
        return False, f"{actual.dtype}{list(actual.shape)} is not {expected.values.dtype}{list(expected.values.shape)}"
    wide = numpy.float64 if actual.dtype.kind in "fb" else numpy.int64
    a, b = actual.astype(wide), expected.values.astype(wide)
    finite = numpy.isfinite(a) & numpy.isfinite(b)
    if not (finite | (a == b) | (numpy.isnan(a) & numpy.isnan(b))).all():
        return False, "not finite in other places"
    a, b = a[finite], b[finite]
    if a.size == 0:
        return True, "nothing finite to compare"
    checks = {"float": within_tolerance, "steps": within_steps, "cosine": alike, "equal": equal, "mostly": equal}
    return checks[expected.rule](a, b, expected, loose)


def within_tolerance(a, b, expected, loose):
    absolute, relative = TOLERANCES[expected.values.dtype]
    unit = numpy.sqrt((b * b).mean()) or 1
    bound = absolute * unit + relative * numpy.abs(b)
    error = numpy.abs(a - b)
    beyond = int((error > bound).sum())
    good = beyond <= loose * error.size and bool((error <= 10 * bound).all())
    return good, (f"largest error {error.max() / unit:.2e} of the root mean square, {beyond} of {error.size} beyond "
                  "the tolerance")


def within_steps(a, b, expected, _):
    steps = numpy.rint(numpy.abs(a - b) / expected.step)
    share = (steps <= 1).mean()
    good = share >= SHARE_WITHIN_ONE_STEP and steps.max() <= MOST_STEPS
    return bool(good), (f"{(steps == 0).mean():.2%} equal, {share:.2%} within a step, at most {int(steps.max())} off, "
                        f"of {steps.size}")


def alike(a, b, _, __):
    norm = numpy.sqrt((a * a).sum() * (b * b).sum())
    cosine = (a * b).sum() / norm if norm > 0 else float(not (a - b).any())
    return bool(cosine >= LEAST_COSINE), f"cosine {cosine:.6f}, largest error {numpy.abs(a - b).max():.2e}"


def equal(a, b, expected, _):
    share = (a == b).mean()
    good = share >= (SHARE_WITHIN_ONE_STEP if expected.rule == "mostly" else 1)
    return bool(good), f"{share:.2%} of {a.size} equal"


def overlap(a, b):
    """Of two boxes [top, left, bottom, right], the share of their union."""
    def area(box):
        return max(0, box[2] - box[0]) * max(0, box[3] - box[1])
    common = area((*numpy.maximum(a[:2], b[:2]), *numpy.minimum(a[2:], b[2:])))
    return common / max(area(a) + area(b) - common, 1e-12)


def detections(outputs, least_score):
    """(box, class, score) of what boxes, classes, scores and the count say."""
    boxes, classes, scores, count = outputs
    found = zip(boxes.reshape(-1, 4)[:int(count.item())], classes.ravel(), scores.ravel())
    return [detection for detection in found if detection[2] >= least_score]


def compare_detections(actual, expected):
    """As sets: whatever one side is sure of, the other has, of the same class, in the same place, about as likely."""
    def missing(some, others):
        return [found for found in detections(some, LEAST_SCORE) if not any(
            other[1] == found[1] and overlap(other[0], found[0]) >= LEAST_OVERLAP
            and abs(other[2] - found[2]) <= MOST_SCORE_DIFFERENCE
            for other in detections(others, LEAST_SCORE - MOST_SCORE_DIFFERENCE))]
    count = len(detections(expected, LEAST_SCORE))
    lost, added = len(missing(expected, actual)), len(missing(actual, expected))
    return lost + added == 0, f"{count} detections, {lost} missing, {added} that should not be"


def compare_all(actual, expected, loose=0.0):
    """Whether all outputs, which are given in order, are what is expected, and the figures."""
    if len(actual) != len(expected):
        return False, f"{len(actual)} outputs instead of {len(expected)}"
    if expected and expected[0].rule == "detections":
        return compare_detections([values for _, values in actual], [wanted.values for wanted in expected])
    verdicts = [compare(values, wanted, loose) for (_, values), wanted in zip(actual, expected)]
    return all(good for good, _ in verdicts), "; ".join(
        text if len(verdicts) == 1 else f"{wanted.name}: {text}" for (_, text), wanted in zip(verdicts, expected))


# ---- Reports

def is_asked_for(name):
    """Whether the command line has a part of the name, or asks for everything by having no names."""
    return not sys.argv[1:] or any(text in name for text in sys.argv[1:])


class Report:
    """A line for each model as it is done, and the counts at the end."""

    def __init__(self, peer):
        self.peer = peer
        self.statuses = collections.Counter()
        self.reasons = collections.Counter()

    def compare(self, name, actual, expected, loose=0.0):
        """Adds what compare_all() says."""
        good, text = compare_all(actual, expected, loose)
        self.add("pass" if good else "wrong", name, text)

    def add(self, status, name, text, reasons=()):
        """`status`: pass, NS, wrong, contested, or refused, which is by the peer. Equal reasons are counted."""
        self.statuses[status] += 1
        self.reasons.update((status, reason) for reason in reasons)
        print(f"{status:<9} {name}: {text}", flush=True)

    @contextlib.contextmanager
    def model(self, name, path):
        """For what compares a model: it raises Failed or PeerFailed where there is nothing to compare."""
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
        """What becomes of a model that there is no other result of. It may be refused, but nothing may crash."""
        try:
            compile_attune(path)
        except Failed as error:
            reasons = "; ".join(f"NS {reason}" for reason in not_supported(error))
            return "exit code 1" in str(error), reasons or one_line(str(error).splitlines()[-1])
        return True, "compiles it"

    def finish(self):
        """Prints the counts and exits: with 1 where something is wrong, or nothing was compared."""
        print()
        for (status, reason), count in self.reasons.most_common():
            if count > 1:
                print(f"{status} {count}  {reason}")
        statuses = ("pass", "NS", "wrong", "contested", "refused")
        print_table([["", *statuses], ["models", *(str(self.statuses[status]) for status in statuses)]])
        sys.exit(1 if self.statuses["wrong"] or not self.statuses.total() else 0)
