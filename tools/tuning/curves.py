"""How a run came down: curves of a network's time against trials or seconds, and when they had come how far.

A curve is a list of (position, share): from that position on, the best kernels that are known take this share of the
untuned ones' time. It begins at (0, 1), with these, unless only searching counts: then it begins when the search has
found something for each task, and is empty if it never had. Its last value is of kernels that were measured once more
at the end, and it has never been below: what was fast once by luck counts as if it had not been. After a mere search
nothing was measured again.
"""
import math
import statistics

from bench import stats

CONFIDENCE = 0.95
AXES = {"seconds": 0, "trials": 1}  # where they stand in a point of the tuner's curve
ENOUGH = 0.8  # of a gain
NEAR = 1.05  # of a time that a search ends with
POINTS = 120  # of a mean curve


def curve(entry, axis):
    untuned = entry["kernels_untuned_ms"]
    start = [] if entry["case"]["searches"] else [(0, 1.0)]
    return [*start, *((point[AXES[axis]], point[2] / untuned) for point in entry["curve"])]


def share_at(points, position):
    return [share for x, share in points if x <= position][-1]


def gain(points):
    """The share of the time that the run has saved in the end."""
    return 1 - points[-1][1]


def position_of(points, saved):
    """Where the curve has first saved this share of the time; None where it never has, or where that is nothing."""
    if saved <= 0:
        return None
    return next((x for x, share in points if 1 - share >= saved), None)


def position_near(points, share):
    """Where the curve has first been near this share of the untuned time; None where it never is."""
    return next((x for x, now in points if now <= NEAR * share), None)


def mean_curve(curves):
    """[(position, mean, lower end, upper end)] of several curves, from where all have begun; empty where one never
    does. One that ends keeps its last share."""
    if not all(curves):
        return []
    first, longest = max(points[0][0] for points in curves), max(points[-1][0] for points in curves)
    positions = [first + (longest - first) * i / (POINTS - 1) for i in range(POINTS)]
    return [(x, *stats.mean_interval([share_at(points, x) for points in curves], CONFIDENCE)) for x in positions]


def binned(series, longest, bins):
    """[(middle, mean, lower end, upper end)] of what several runs have between 0 and `longest`, in so many equal bins.
    `series` has a list of (position, value) a run. A run counts once in a bin, by its mean; one without values there
    does not."""
    width = longest / bins
    found = []
    for number in range(bins):
        low, high = number * width, (number + 1) * width
        inside = [[value for x, value in points if low < x <= high] for points in series]
        means = [statistics.fmean(values) for values in inside if values]
        if means:
            found.append(((low + high) / 2, *stats.mean_interval(means, CONFIDENCE)))
    return found


def overlap(a, b):
    """Whether two intervals, as (mean, lower end, upper end), have a value in common."""
    return max(a[1], b[1]) <= min(a[2], b[2])


def mean_or_none(values):
    """The mean with its interval, of values that are all there; else None."""
    return None if not values or None in values else stats.mean_interval(values, CONFIDENCE)


def is_certain(interval):
    """Whether the interval, as (mean, lower end, upper end) or None, says anything."""
    return interval is not None and math.isfinite(interval[1])
