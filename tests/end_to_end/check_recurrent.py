#!/usr/bin/env python3
"""check_recurrent.py [--seed N] [--count N]    ONNX's RNN, GRU and LSTM give what onnxruntime gives

Draws operators with sequences of different lengths, 0 among them, directions, layouts, initial states and attributes.
Both refuse lengths that are negative or above the number of steps.
"""
import pathlib
import tempfile

import numpy
import onnxruntime

from checks import check_drawn
from common.program import Failed, onnxruntime_session
from comparing import Expected, compare_all
from onnx_writer import Model
from peers import run_attune

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


class Case:
    """An operator, with arrays that have the time before the batch."""

    def __init__(self, random):
        self.op = str(random.choice([*GATES]))
        self.direction = str(random.choice(["forward", "reverse", "bidirectional"]))
        self.batch_first = random.random() < 0.4
        steps, batch, size, hidden = (int(random.integers(1, most)) for most in (6, 5, 5, 6))
        directions, rows = 1 + (self.direction == "bidirectional"), GATES[self.op] * hidden

        def maybe(probability, array):
            return array if random.random() < probability else None

        def floats(*shape):
            return random.standard_normal(shape).astype(numpy.float32)

        lengths = random.integers(0, steps, batch, endpoint=True).astype(numpy.int32)
        is_lstm = self.op == "LSTM"
        self.inputs = [floats(steps, batch, size), floats(directions, rows, size), floats(directions, rows, hidden),
                       maybe(0.7, floats(directions, 2 * rows)), maybe(0.85, lengths),
                       maybe(0.6, floats(directions, batch, hidden)), maybe(0.6, floats(directions, batch, hidden)),
                       maybe(0.3, floats(directions, 3 * hidden))][:8 if is_lstm else 6]
        self.constant_lengths = random.random() < 0.3
        self.attributes = {"hidden_size": hidden, "direction": self.direction}
        if self.op == "GRU":
            self.attributes["linear_before_reset"] = int(random.integers(0, 2))
        if random.random() < 0.3:
            self.attributes["clip"] = 0.5

    def write(self, path, batch_first):
        """Writes the model and returns its inputs by their names."""
        model, values, names = Model(opset=14), {}, []
        for index, array in enumerate(self.inputs):
            if array is None:
                names.append(None)
                continue
            if batch_first and index in (0, 5, 6):  # the sequences and the initial states
                array = numpy.ascontiguousarray(array.swapaxes(0, 1))
            if index in (1, 2, 3, 7) or (index == 4 and self.constant_lengths):
                names.append(model.constant(array))
            else:
                names.append(model.input(*array.shape, dtype=str(array.dtype)))
                values[names[-1]] = array
        layout = {"layout": 1} if batch_first else {}
        outputs = model.node_of(self.op, 3 if self.op == "LSTM" else 2, *names, **self.attributes, **layout)
        model.write(path, outputs)
        return values

    def expected(self, path):
        """onnxruntime's outputs, which has one layout only."""
        inputs = self.write(path, False)
        session, quiet = onnxruntime_session(path), onnxruntime.RunOptions()
        quiet.log_severity_level = 4
        outputs = session.run(None, inputs, quiet)
        if self.batch_first:
            outputs = [outputs[0].transpose(2, 0, 1, 3), *(state.swapaxes(0, 1) for state in outputs[1:])]
        return [Expected(output.name, values, "float") for output, values in zip(session.get_outputs(), outputs)]

    def lengthen(self, random):
        """Makes the length of one sequence wrong."""
        lengths, steps = self.inputs[4], len(self.inputs[0])
        lengths[random.integers(0, len(lengths))] = random.choice([-1, -steps, steps + 1, 2**31 - 1])

    def describe(self):
        return f"{self.op} {self.attributes}, batch first {self.batch_first}, lengths {self.inputs[4]}"


def check_refusal(case, path):
    """Returns None, or what is wrong."""
    try:
        case.expected(path)
        return f"onnxruntime takes {case.describe()}"
    except Exception:  # it has classes of its own for errors
        pass
    try:
        run_attune(path, case.write(path, case.batch_first))
        return f"takes {case.describe()}"
    except Failed as error:
        return None if ", lengths up to " in str(error) else f"{case.describe()}\n{error}"


def check_case(seed):
    """Returns None, or what is wrong."""
    random = numpy.random.default_rng(seed)
    case = Case(random)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        expected = case.expected(path)
        try:
            actual = run_attune(path, case.write(path, case.batch_first))
        except Failed as error:
            return f"seed {seed}: {case.describe()}\n{error}"
        good, text = compare_all(actual, expected)
        if not good:
            return f"seed {seed}: {case.describe()}\n{text}"
        if case.inputs[4] is None:
            return None
        case.lengthen(random)
        wrong = check_refusal(case, path)
    return None if wrong is None else f"seed {seed}: {wrong}"


check_drawn(__doc__, "operators", check_case)
