"""How this program's output is compared with that of another engine, which depends on the operator that computes it."""
from dataclasses import dataclass

import numpy

# The tolerances of `attune verify`, absolute and relative; the absolute part is in units of the output's root mean
# square.
TOLERANCES = {numpy.dtype(numpy.float64): (1e-9, 1e-7), numpy.dtype(numpy.float32): (1e-5, 1e-4),
              numpy.dtype(numpy.float16): (2.5e-3, 1e-3)}

# For quantized values: the share that must be within one step, and the most steps that any may be off.
SHARE_WITHIN_ONE_STEP, MOST_STEPS = 0.995, 2

# For floats that a quantized network computes; the same as in `attune verify`.
LEAST_COSINE = 0.999

# For detected objects.
LEAST_SCORE, LEAST_OVERLAP, MOST_SCORE_DIFFERENCE = 0.3, 0.9, 0.02


@dataclass
class Expected:
    """An output as the other engine computes it, and how it is compared:

    "float"   within the tolerances, except that the share `loose` of the elements may exceed them up to ten times
    "steps"   in units of `step`, the scale of quantized values
    "cosine"  floats of a network that quantizes what it computes
    "equal"   integers and truth values
    "mostly"  integers of a quantized network that are indices, not values: equal as often as steps must be right
    "detections"  the four outputs of an operator that detects objects, as sets
    """
    name: str
    values: numpy.ndarray
    rule: str
    step: float = 1.0
    tolerance: tuple | None = None  # absolute and relative, if they are not those of the values' type


def compare(actual, expected, loose=0.0):
    """Whether an output is as expected, and the figures."""
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
    absolute, relative = expected.tolerance or TOLERANCES[expected.values.dtype]
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
    """The intersection of two boxes [top, left, bottom, right] as a share of their union."""
    def area(box):
        return max(0, box[2] - box[0]) * max(0, box[3] - box[1])
    common = area((*numpy.maximum(a[:2], b[:2]), *numpy.minimum(a[2:], b[2:])))
    return common / max(area(a) + area(b) - common, 1e-12)


def detections(outputs, least_score):
    """(box, class, score) from the four outputs: boxes, classes, scores and the count."""
    boxes, classes, scores, count = outputs
    found = zip(boxes.reshape(-1, 4)[:int(count.item())], classes.ravel(), scores.ravel())
    return [detection for detection in found if detection[2] >= least_score]


def compare_detections(actual, expected):
    """Compares sets: each detection that one side is sure of, the other has too, with the same class, place and score,
    or nearly."""
    def missing(some, others):
        return [found for found in detections(some, LEAST_SCORE) if not any(
            other[1] == found[1] and overlap(other[0], found[0]) >= LEAST_OVERLAP
            and abs(other[2] - found[2]) <= MOST_SCORE_DIFFERENCE
            for other in detections(others, LEAST_SCORE - MOST_SCORE_DIFFERENCE))]
    count = len(detections(expected, LEAST_SCORE))
    lost, added = len(missing(expected, actual)), len(missing(actual, expected))
    return lost + added == 0, f"{count} detections, {lost} missing, {added} that should not be"


def compare_all(actual, expected, loose=0.0):
    """Whether all outputs, given in order, are as expected, and the figures."""
    if len(actual) != len(expected):
        return False, f"{len(actual)} outputs instead of {len(expected)}"
    if expected and expected[0].rule == "detections":
        return compare_detections([values for _, values in actual], [wanted.values for wanted in expected])
    verdicts = [compare(values, wanted, loose) for (_, values), wanted in zip(actual, expected)]
    return all(good for good, _ in verdicts), "; ".join(
        text if len(verdicts) == 1 else f"{wanted.name}: {text}" for (_, text), wanted in zip(verdicts, expected))
