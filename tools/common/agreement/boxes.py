"""Detected boxes: from the outputs of detectors to boxes, and which boxes of two networks are the same.

Outputs cannot be compared directly: a detector has thousands of boxes, and nearly all of them show nothing. So they are
processed as applications do it, with the thresholds of the networks' publishers: a least score, then non-maximum
suppression. The remaining boxes are matched greedily.
"""
from dataclasses import dataclass

import numpy

YOLOX_SIDE, YOLOX_STRIDES = 416, (8, 16, 32)
YOLOX_SCORE, YOLOX_OVERLAP = 0.3, 0.45  # https://github.com/Megvii-BaseDetection/YOLOX, demo/ONNXRuntime
ULTRAFACE_SCORE, ULTRAFACE_OVERLAP = 0.7, 0.3  # https://github.com/Linzaer/Ultra-Light-Fast-Generic-Face-Detector-1MB
SAME_OVERLAP = 0.5  # between two boxes that show the same object


@dataclass(frozen=True)
class Detections:
    """Detections: boxes [n, 4] as left, top, right, bottom in any unit, scores [n], classes [n]."""
    boxes: numpy.ndarray
    scores: numpy.ndarray
    classes: numpy.ndarray

    def __len__(self):
        return len(self.scores)

    def take(self, index):
        return Detections(self.boxes[index], self.scores[index], self.classes[index])


def overlaps(one, others):
    """[n]: the intersection of a box [4] with each of the boxes [n, 4], as a share of their union."""
    corner = numpy.maximum(one[:2], others[:, :2])
    size = numpy.maximum(0, numpy.minimum(one[2:], others[:, 2:]) - corner)
    common = size[:, 0] * size[:, 1]
    union = area(one[None]) + area(others) - common
    return numpy.divide(common, union, out=numpy.zeros_like(common), where=union > 0)


def area(boxes):
    size = numpy.maximum(0, boxes[:, 2:] - boxes[:, :2])
    return size[:, 0] * size[:, 1]


def suppress(found, most_overlap):
    """Non-maximum suppression: drops each box that overlaps by more than `most_overlap` with a box of its class that
    has a higher score. The highest scores come first."""
    order = numpy.argsort(-found.scores, kind="stable")
    kept = []
    while order.size:
        best, order = order[0], order[1:]
        kept.append(best)
        is_near = overlaps(found.boxes[best], found.boxes[order]) > most_overlap
        order = order[~(is_near & (found.classes[order] == found.classes[best]))]
    return found.take(numpy.array(kept, dtype=int))


def in_yolox(outputs):
    """From YOLOX [1, 3549, 85]: each cell of three grids has a box's center and the logarithm of its size, in cells,
    the probability that it is an object, and the probability of each class. Boxes are in pixels."""
    values = outputs[0][0].astype(numpy.float64)
    cells, strides = yolox_grid()
    center = (values[:, :2] + cells) * strides
    half = numpy.exp(numpy.minimum(values[:, 2:4], 20)) * strides / 2  # no box is larger than exp(20)
    scores = values[:, 4] * values[:, 5:].max(axis=1)
    found = Detections(numpy.concatenate([center - half, center + half], axis=1), scores,
                       values[:, 5:].argmax(axis=1))
    return suppress(found.take(scores >= YOLOX_SCORE), YOLOX_OVERLAP)


def yolox_grid():
    """The index of each cell in its grid [3549, 2], as x and y, and the pixels per cell [3549, 1]."""
    cells, strides = [], []
    for stride in YOLOX_STRIDES:
        count = YOLOX_SIDE // stride
        y, x = numpy.divmod(numpy.arange(count * count), count)
        cells.append(numpy.stack([x, y], axis=1))
        strides.append(numpy.full((count * count, 1), stride))
    return numpy.concatenate(cells), numpy.concatenate(strides)


def in_ultraface(outputs):
    """From UltraFace: the probabilities that each box is background or a face [1, 4420, 2], and the corners [1, 4420,
    4], in units of the picture."""
    scores, boxes = (values[0].astype(numpy.float64) for values in sorted(outputs, key=lambda each: each.shape[-1]))
    found = Detections(boxes, scores[:, 1], numpy.zeros(len(boxes), dtype=int))
    return suppress(found.take(found.scores >= ULTRAFACE_SCORE), ULTRAFACE_OVERLAP)


def matches(expected, found):
    """The number of found boxes that match expected ones: of the same class, overlapping by SAME_OVERLAP or more. Found
    boxes are taken in order, the highest score first; each expected box matches once, and the best overlap is tried
    first."""
    free = numpy.ones(len(expected), dtype=bool)
    for box, label in zip(found.boxes, found.classes):
        shares = overlaps(box, expected.boxes) * (free & (expected.classes == label))
        if shares.size and shares.max() >= SAME_OVERLAP:
            free[shares.argmax()] = False
    return int((~free).sum())
