"""Statistics of latencies and of repeated runs."""
import math
import random
import statistics


def summary(rounds):
    """Summarizes latencies in ms, one list per round: the least, the median and the count of all, and the median of
    each round."""
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
    """The indices of those of `count` sorted values that bound their distribution's median: (lowest, highest), from 0.

    A value is below the median with probability ½, so the number of those below is binomial, and the interval misses
    the median with probability 2·P(B(count, ½) ≤ lowest). That holds for every distribution. Raises ValueError if even
    the extremes are not enough.
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
    """The least number of values for an interval with this confidence."""
    return math.ceil(1 - math.log2(1 - confidence))


def median_interval(values, confidence):
    """(median, lower end, upper end) of the median's confidence interval."""
    ordered = sorted(values)
    lowest, highest = ranks_of_interval(len(ordered), confidence)
    return statistics.median(ordered), ordered[lowest], ordered[highest]


def resampled_interval(count, statistic, confidence, resamples=2000):
    """(value, lower end, upper end) of a statistic over `count` observations. The statistic is a function of their
    indices, from 0. The ends are percentiles of its values for as many indices drawn at random with replacement; they
    are the same in each call.

    Efron, Bootstrap methods: another look at the jackknife, Annals of Statistics 1979.
    """
    draw = random.Random(0)
    drawn = sorted(statistic(draw.choices(range(count), k=count)) for _ in range(resamples))
    beyond = round((1 - confidence) / 2 * resamples)
    return statistic(range(count)), drawn[beyond], drawn[resamples - 1 - beyond]


def t_probability(t, degrees):
    """P(|T| ≤ t) for Student's distribution with this number of degrees of freedom, for t ≥ 0.

    Uses the finite sums of Abramowitz and Stegun, 26.7.3 for odd degrees and 26.7.4 for even ones.
    """
    angle = math.atan(t / math.sqrt(degrees))
    odd = degrees % 2
    term, total = (math.cos(angle) if odd else 1.0), 0.0
    for k in range(1 + odd, degrees, 2):
        total += term
        term *= math.cos(angle)**2 * k / (k + 1)
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if odd else total


def t_quantile(confidence, degrees):
    """The t for which a value of Student's distribution lies between -t and t with this probability."""
    low, high = 0.0, 1.0
    while t_probability(high, degrees) < confidence:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if t_probability(middle, degrees) < confidence else (low, middle)
    return high


def mean_interval(values, confidence):
    """(mean, lower end, upper end) of the mean's confidence interval, for values that scatter normally.

    For a single value the interval is infinite.
    """
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, -math.inf, math.inf
    half = t_quantile(confidence, len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return mean, mean - half, mean + half


def part_seconds(stage_seconds, parts):
    """{part: seconds} of {stage: seconds}; `parts`: {part: the beginnings of its stages' names}."""
    return {part: sum(seconds for stage, seconds in stage_seconds.items() if stage.startswith(beginnings))
            for part, beginnings in parts.items()}
