"""What is computed of latencies."""
import math
import statistics


def summary(rounds):
    """Of latencies in ms, a list a round: the least, the median and the count of all, and the median of each round."""
    values = [value for values in rounds for value in values]
    return {
        "min_ms": min(values),
        "median_ms": statistics.median(values),
        "count": len(values),
        "round_medians_ms": [statistics.median(values) for values in rounds],
    }


def geometric_mean(ratios):
    return math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))


def ranks_of_interval(count, confidence):
    """Which of `count` sorted values bound their distribution's median: (lowest, highest), counted from 0.

    A value is below the median with probability ½, so the number of those below is binomial, and the interval
    misses the median with probability 2·P(B(count, ½) ≤ lowest). That holds for every distribution. Raises
    ValueError where even the extremes are not enough.
    """
    lowest, missed = -1, 0.0
    while True:
        missed += 2 * math.comb(count, lowest + 1) / 2**count
        if missed > 1 - confidence:
            break
        lowest += 1
    if lowest < 0:
        raise ValueError(f"{count} values are too few to say anything with confidence {confidence}")
    return lowest, count - 1 - lowest


def least_count(confidence):
    """How many values it takes for an interval of this confidence."""
    return math.ceil(1 - math.log2(1 - confidence))


def median_interval(values, confidence):
    """(median, lower end, upper end) of the median's confidence interval."""
    ordered = sorted(values)
    lowest, highest = ranks_of_interval(len(ordered), confidence)
    return statistics.median(ordered), ordered[lowest], ordered[highest]
