#!/usr/bin/env python3
"""Tests of how tools/accuracy compares two networks: metrics, and the boxes that detectors find."""
import unittest

import numpy

from accuracy import engines, lab
from common.agreement import boxes, metrics
from common.agreement.boxes import Detections
from common.program import Failed


def detections(*found):
    """Detections from (box, score, class) each."""
    lists = zip(*found) if found else ([], [], [])
    rows, scores, classes = (numpy.array(values) for values in map(list, lists))
    return Detections(rows.reshape(-1, 4).astype(float), scores.astype(float), classes.astype(int))


class Boxes(unittest.TestCase):
    def test_overlap(self):
        one = numpy.array([0.0, 0, 2, 2])
        others = numpy.array([[0, 0, 2, 2], [1, 0, 3, 2], [1, 1, 3, 3], [2, 0, 4, 2], [5, 5, 6, 6]], dtype=float)
        numpy.testing.assert_allclose(boxes.overlaps(one, others), [1, 2 / 6, 1 / 7, 0, 0])
        numpy.testing.assert_array_equal(boxes.overlaps(numpy.zeros(4), numpy.zeros((1, 4))), [0])
        self.assertEqual(boxes.overlaps(one, numpy.zeros((0, 4))).shape, (0,))

    def test_suppression_keeps_the_surest_of_each_class(self):
        found = detections(([0, 0, 10, 10], 0.5, 1), ([0, 0, 10, 9], 0.9, 1), ([0, 0, 10, 10], 0.4, 2),
                           ([20, 0, 30, 10], 0.3, 1))
        kept = boxes.suppress(found, 0.45)
        self.assertEqual(kept.scores.tolist(), [0.9, 0.4, 0.3])
        self.assertEqual(kept.classes.tolist(), [1, 2, 1])
        self.assertEqual(len(boxes.suppress(detections(), 0.45)), 0)

    def test_matches_are_of_a_class_and_once_each(self):
        wanted = detections(([0, 0, 10, 10], 0.9, 1), ([20, 0, 30, 10], 0.8, 2))
        same = ([0, 0, 10, 9], 0.7, 1)
        self.assertEqual(boxes.matches(wanted, detections(same)), 1)
        self.assertEqual(boxes.matches(wanted, detections(same, same)), 1)
        self.assertEqual(boxes.matches(wanted, detections(([20, 0, 30, 10], 0.7, 1))), 0)
        self.assertEqual(boxes.matches(wanted, detections(([20, 0, 30, 4], 0.7, 2))), 0)
        self.assertEqual(boxes.matches(wanted, detections(([20, 0, 30, 6], 0.7, 2), same)), 2)
        self.assertEqual((boxes.matches(wanted, detections()), boxes.matches(detections(), wanted)), (0, 0))

    def test_yolox(self):
        output = numpy.zeros((1, 3549, 85), dtype=numpy.float32)
        # The grid of 16 pixels begins after 52 * 52 cells; this is its cell at 3, 2.
        output[0, 52 * 52 + 2 * 26 + 3, :5] = [0.5, 0.25, 0, numpy.log(2), 0.9]
        output[0, 52 * 52 + 2 * 26 + 3, 5 + 7] = 0.8
        output[0, 0, 4:6] = 0.5  # unsure
        found = boxes.in_yolox([output])
        numpy.testing.assert_allclose(found.boxes, [[48, 20, 64, 52]], rtol=1e-6)
        self.assertEqual(found.classes.tolist(), [7])
        self.assertAlmostEqual(found.scores[0], 0.72, places=6)

    def test_ultraface_in_either_order(self):
        scores, corners = numpy.zeros((1, 4420, 2)), numpy.zeros((1, 4420, 4))
        scores[0, 5:8, 1] = 0.8, 0.9, 0.6
        corners[0, 5:8] = [0, 0, 0.5, 0.5], [0, 0, 0.5, 0.4], [0.6, 0.6, 1, 1]
        for outputs in ([scores, corners], [corners, scores]):
            found = boxes.in_ultraface(outputs)
            self.assertEqual((found.scores.tolist(), found.boxes.tolist()), ([0.9], [[0, 0, 0.5, 0.4]]))


class Metrics(unittest.TestCase):
    def value(self, metric, *pairs):
        for expected, actual in pairs:
            metric.add([numpy.array(expected, dtype=float)], [numpy.array(actual, dtype=float)])
        return metric.value()

    def test_equal_classes(self):
        self.assertEqual(self.value(metrics.TopOne(), ([[1, 2]], [[0, 9]]), ([[1, 2]], [[3, 2]])), 0.5)

    def test_mean_overlap_is_of_classes_that_are_seen(self):
        a, b, c = [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]
        metric = metrics.MeanOverlap()
        # Pixels of a: 1 of 2 agree, of b: 1 of 3, of c: 0 of 1; no pixel has the fourth class.
        self.assertAlmostEqual(self.value(metric, ([a, a], [a, b]), ([b, b], [b, c])), (1 / 2 + 1 / 3 + 0) / 3)
        self.assertEqual(metric.facts(), {"classes": 2})
        self.assertEqual(self.value(metrics.MeanOverlap(), ([a, b], [a, b])), 1)

    def test_same_boxes_are_counted_over_all_samples(self):
        seen = {0: detections(), 1: detections(([0, 0, 1, 1], 1, 0)),
                2: detections(([0, 0, 1, 1], 1, 0), ([5, 5, 6, 6], 1, 0))}
        metric = metrics.SameBoxes(lambda outputs: seen[int(outputs[0])])
        self.assertAlmostEqual(self.value(metric, (1, 2), (1, 0), (2, 2)), 2 * 3 / (4 + 4))
        self.assertEqual(metric.facts(), {"boxes": 4})
        self.assertEqual(self.value(metrics.SameBoxes(lambda _: detections()), (0, 0)), 1)

    def test_cosine(self):
        self.assertAlmostEqual(self.value(metrics.Cosine(), ([1, 0], [2, 0]), ([1, 0], [1, 1])),
                               (1 + numpy.sqrt(0.5)) / 2)
        self.assertEqual(self.value(metrics.Cosine(), ([0, 0], [0, 0]), ([0, 0], [0, 1])), 0.5)
        texts = ([[[1, 0], [0, 1]]], [[[0, 1], [1, 0]]])
        self.assertAlmostEqual(self.value(metrics.Cosine(metrics.mean_of_tokens), texts), 1)

    def test_relative_error_is_of_all_outputs(self):
        expected, actual = [numpy.array([3.0]), numpy.array([[4.0]])], [numpy.array([3.0]), numpy.array([[5.0]])]
        self.assertAlmostEqual(metrics.relative_error(expected, actual), 0.2)
        self.assertEqual(metrics.relative_error([numpy.zeros(2)], [numpy.zeros(2)]), 0)


class Judging(unittest.TestCase):
    @staticmethod
    def shifted(by):
        return lambda sample: [sample + by]

    def test_both_see_each_sample(self):
        samples = [numpy.array([[1.0, 0]]), numpy.array([[0, 1.0]])]
        said = lab.judge(self.shifted(0), lambda sample: [sample * [[1, 0.1]]], iter(samples), metrics.TopOne())
        self.assertEqual((said["metric"], said["score"]), ("equal classes", 1))
        self.assertAlmostEqual(said["relative_error"], 0.45)

    def test_what_cannot_be_compared_is_refused(self):
        sample = numpy.array([[1.0, 0]])
        with self.assertRaisesRegex(Failed, "not finite"):
            lab.judge(self.shifted(0), self.shifted(numpy.nan), [sample], metrics.TopOne())
        with self.assertRaisesRegex(Failed, "other shapes"):
            lab.judge(self.shifted(0), lambda _: [numpy.zeros(3)], [sample], metrics.TopOne())


class Engines(unittest.TestCase):
    def test_integers_of_litert(self):
        detail = {"dtype": numpy.int8, "quantization": (0.5, -10)}
        values, integers = numpy.array([-1.0, 0, 0.24, 99]), numpy.array([-12, -10, -10, 127], dtype=numpy.int8)
        numpy.testing.assert_array_equal(engines.quantize(values, detail), integers)
        numpy.testing.assert_array_equal(engines.dequantize(integers, detail), [-1, 0, 0, 68.5])

    def test_floats_of_litert_stay(self):
        detail = {"dtype": numpy.float32, "quantization": (0.0, 0)}
        values = numpy.array([0.3], dtype=numpy.float32)
        self.assertEqual((engines.quantize(values, detail), engines.dequantize(values, detail)), (values, values))


if __name__ == "__main__":
    unittest.main()
