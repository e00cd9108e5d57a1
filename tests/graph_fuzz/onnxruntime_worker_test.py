"""Tests of what counts as a difference, and how a refusal is reported."""
import os
import sys
import unittest

try:
    import numpy
    import onnxruntime_worker as worker
except ImportError as error:
    print(f"{error}; this check needs it (tools/setup.sh python installs it)")
    sys.exit(1 if os.environ.get("CI") else 0)

INF, NAN = numpy.inf, numpy.nan


def difference(actual, expected, bound, kind=numpy.float32):
    return worker.difference(numpy.array(actual, kind), numpy.array(expected, kind), numpy.array(bound, numpy.float64))


class Difference(unittest.TestCase):
    def test_bounds_are_by_element(self):
        self.assertIsNone(difference([1, 2.5], [1, 2], [0, 0.5]))
        found = difference([1, 2.5], [1, 2], [0, 0.25])
        self.assertEqual((found["first"], found["actual"], found["expected"]), (1, 2.5, 2))

    def test_nan_and_infinities_equal_themselves_alone(self):
        self.assertIsNone(difference([NAN, INF], [NAN, INF], [0, 0]))
        self.assertIsNotNone(difference([0.0], [NAN], [1]))
        self.assertIsNotNone(difference([-INF], [INF], [1]))

    def test_what_is_undecided_is_no_difference(self):
        self.assertIsNone(difference([3, 2], [1, 2], [INF, 0]))
        self.assertIsNone(difference([1, 2, 3], [1, 2], INF))

    def test_shapes_and_types_have_to_be_the_same(self):
        self.assertIn("expected", difference([1, 2, 3], [1, 2], [0, 0])["what"])
        self.assertIsNotNone(worker.difference(numpy.zeros(1), numpy.zeros(1, numpy.float32), numpy.zeros(1)))

    def test_integers_are_exact(self):
        self.assertIsNotNone(difference([2**62], [2**62 + 1024], [0], numpy.int64))
        self.assertIsNone(difference([2**62], [2**62], [0], numpy.int64))

    def test_bf16_reads_back(self):
        values = numpy.array([1.5, -0.0078125, INF], numpy.float32)
        numpy.testing.assert_array_equal(worker.from_bf16(worker.to_bf16(values)), values)

    def test_refusals_are_told_without_names(self):
        text = "[ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : Could not find an implementation for Conv(22) node with name 'v3'"
        self.assertEqual(worker.refusal(text), "Could not find an implementation for Conv(#) node with name '_'")


if __name__ == "__main__":
    unittest.main()
