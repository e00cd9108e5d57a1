"""How a run progressed: curves of the kernels' speed against trials or seconds, and when they reached a given speed.

A curve is a list of (position, speed): from that position on, the best known kernels are so many times as fast as the
untuned ones, by the sum of their times. It begins at (0, 1) with the untuned ones. If only the search counts, it begins
when the search has found something for each task, and is empty if it never has. Its last value is of kernels that were
measured once more at the end, and no earlier value is above it: this removes the winner's curse of single fast
measurements. After a mere search nothing was measured again.
"""
import math
import statistics

from common import stats

CONFIDENCE = 0.95
AXES = {"seconds": 0, "trials": 1}  # their index in a point of the tuner's curve
ENOUGH = 0.8  # of a gain
NEAR = 0.95  # of the final speed of a search
POINTS = 120  # of a mean curve


def curve(entry, axis):
    untuned = entry["kernels_untuned_ms"]
    start = [] if entry["case"]["searches"] else [(0, 1.0)]
    return [*start, *((point[AXES[axis]], untuned / point[2]) for point in entry["curve"])]


def corners(points):
    """From the tuner's curve: its ends, and each point at which its kernels changed."""
    changes = [after for before, after in zip(points, points[1:]) if after[2] != before[2]]
    return [*points[:1], *changes, *([points[-1]] if points[1:] and points[-1] not in changes[-1:] else [])]


def speed_at(points, position):
    return [speed for x, speed in points if x <= position][-1]


def speed_with(share, curves_):
    """The speed with this share of the runs' average gain from their first points to their last; None if there is no
    gain, or if a run has no points."""
    if not curves_ or not all(curves_):
        return None
    first, last = (statistics.fmean(points[end][1] for points in curves_) for end in (0, -1))
    return first + share * (last - first) if last > first else None


def position_of(points, speed):
    """The position where the curve first reaches this speed; None if it never does, or if the speed is None."""
    return None if speed is None else next((x for x, now in points if now >= speed), None)


def mean_curve(curves):
    """Returns [(position, mean, lower end, upper end)] of several curves, from the first position that all have
    reached; empty if one curve is empty. A curve that has ended keeps its last speed."""
    if not all(curves):
        return []
    first, longest = max(points[0][0] for points in curves), max(points[-1][0] for points in curves)
    positions = [first + (longest - first) * i / (POINTS - 1) for i in range(POINTS)]
    return [(x, *stats.mean_interval([speed_at(points, x) for points in curves], CONFIDENCE)) for x in positions]


def binned(series, longest, bins):
    """[(middle, mean, lower end, upper end)] of the values of several runs between 0 and `longest`, in this number of
    equal bins. `series` has a list of (position, value) per run. A run counts once in a bin, by its mean; a run without
    values there does not count."""
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
    """The mean with its interval if all values are known; otherwise None."""
    return None if not values or None in values else stats.mean_interval(values, CONFIDENCE)


def is_certain(interval):
    """Whether the interval, as (mean, lower end, upper end) or None, is known and finite."""
    return interval is not None and math.isfinite(interval[1])
