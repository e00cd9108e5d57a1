"""How far a quantized network agrees with its float network, by a metric for the task of the network.

A metric receives the outputs of both, sample by sample, and keeps only sums: the outputs of a thousand samples are
gigabytes. Its value is 1 for full agreement. The float network is right by definition, whatever the picture shows: the
question is what quantization changes.
"""
import numpy

from common.agreement import boxes


class TopOne:
    """The share of samples whose most likely class is the same."""
    agreement, max_drop = "top-1", "0.3%"  # the measure that `attune quantize` judges by, and its budget
    name = "equal classes"

    def __init__(self):
        self._equal = self._count = 0

    def add(self, expected, actual):
        self._equal += int(expected[0].argmax() == actual[0].argmax())
        self._count += 1

    def value(self):
        return self._equal / self._count

    def facts(self):
        return {}


class MeanOverlap:
    """For segmentation, [..., classes]: intersection over union of each class's pixels in all samples together, and the
    mean over the classes that either network sees anywhere."""
    agreement, max_drop = "iou", "0.8%"
    name = "mean IoU"

    def __init__(self):
        self._pixels = None  # [class of the float network, class of the other one]

    def add(self, expected, actual):
        classes = expected[0].shape[-1]
        pairs = expected[0].argmax(axis=-1).ravel() * classes + actual[0].argmax(axis=-1).ravel()
        pixels = numpy.bincount(pairs, minlength=classes * classes).reshape(classes, classes)
        self._pixels = pixels if self._pixels is None else self._pixels + pixels

    def value(self):
        both = numpy.diag(self._pixels)
        either = self._pixels.sum(axis=0) + self._pixels.sum(axis=1) - both
        return float((both[either > 0] / either[either > 0]).mean())

    def facts(self):
        seen = self._pixels.sum(axis=1) > 0
        return {"classes": int(seen.sum())}


class SameBoxes:
    """For detection: F1 of the boxes that both networks find, over all samples together."""
    agreement, max_drop = "error", "0.1%"  # small errors already lose boxes
    name = "F1 of boxes"

    def __init__(self, find):
        self._find = find  # from outputs to boxes.Detections
        self._same = self._expected = self._found = 0

    def add(self, expected, actual):
        wanted, found = self._find(expected), self._find(actual)
        self._same += boxes.matches(wanted, found)
        self._expected += len(wanted)
        self._found += len(found)

    def value(self):
        """If neither network finds anything, they agree."""
        count = self._expected + self._found
        return 2 * self._same / count if count else 1.0

    def facts(self):
        return {"boxes": self._expected}


class Cosine:
    """The mean over samples of the cosine between both outputs, or between `reduce` of them."""
    agreement, max_drop = "cosine", "0.5%"
    name = "cosine"

    def __init__(self, reduce=lambda output: output):
        self._reduce = reduce
        self._sum = self._count = 0

    def add(self, expected, actual):
        a, b = (self._reduce(outputs[0]).astype(numpy.float64).ravel() for outputs in (expected, actual))
        norms = numpy.linalg.norm(a) * numpy.linalg.norm(b)
        self._sum += float(a @ b / norms) if norms > 0 else float((a == b).all())
        self._count += 1

    def value(self):
        return self._sum / self._count

    def facts(self):
        return {}


def mean_of_tokens(output):
    """The embedding of a sentence, from the vectors of its tokens [1, tokens, size]."""
    return output.mean(axis=1)


def flat(outputs):
    return numpy.concatenate([output.astype(numpy.float64).ravel() for output in outputs])


def relative_error(expected, actual):
    """The root mean square of the difference over all outputs, relative to that of the expected outputs."""
    a, b = flat(expected), flat(actual)
    norm = numpy.linalg.norm(a)
    return float(numpy.linalg.norm(b - a) / norm) if norm > 0 else float((a != b).any())


def is_finite(outputs):
    return all(numpy.isfinite(output).all() for output in outputs)
