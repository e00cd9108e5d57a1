"""Compares artifacts that take turns on a machine that other programs disturb."""
import math
import statistics

from common import stats
from common.program import Failed, attune_json
from common.timing import round_medians, take_turns

ROUNDS, SECONDS = 15, 0.3  # turns of each artifact, and the time of each
MOST_ROUNDS = 4 * ROUNDS  # if those are not enough
NARROW = 0.01  # to each side: a speedup this precise needs no more turns
CLOSER = 4  # tuned networks lie closer together: this many times the turns, for intervals as much narrower
CONFIDENCE = 0.95
PROFILE_ROUNDS = 6  # of the untuned network, per turn
QUIET = 1.03  # a quiet machine is at most this many times as slow as in its fastest tenth


def speedups(rounds):
    """From {name: latencies in ms, one list per round}: how many times as fast "tuned" is as each other one, as
    (median, lower end, upper end) of the rounds' ratios."""
    medians = round_medians(rounds)
    found = {}
    for name in medians.keys() - {"tuned"}:
        ratios = [other / tuned for other, tuned in zip(medians[name], medians["tuned"], strict=True)]
        found[name] = stats.median_interval(ratios, CONFIDENCE)
    return found


def comparison(rounds):
    """The fields of an entry from {name: latencies in ms, one list per round}."""
    return {"speedups": speedups(rounds),
            "latency_ms": {name: statistics.median(sum(lists, [])) for name, lists in rounds.items()}}


def compare_sooner(rounds, lists):
    """The fields about an artifact whose latencies in the same rounds are `lists`: those of comparison() for it, and
    its share of the tuned one's gain."""
    references = {name: rounds[name] for name in rounds if name != "tuned"}
    medians = round_medians({**rounds, "sooner": lists})
    shares = {name: share_of_gain(medians, "sooner", "tuned", name) for name in references}
    return {**comparison({**references, "tuned": lists}),
            "shares": {name: share for name, share in shares.items() if share}}


class Rooflines:
    """A contestant whose time is the sum of the kernels' rooflines, by peaks that are measured in the same turn.
    Kernels above the roof, as Winograd kernels may be, do not make up for others."""

    def __init__(self, path, threads):
        self._arguments = ("profile", path, "--threads", threads, "--rounds", PROFILE_ROUNDS)

    def measure(self, _seconds):
        kernels = attune_json(*self._arguments)["kernels"]
        return [sum(min(kernel["ms"], kernel["roofline_ms"]) for kernel in kernels)]


def gaps(rounds, rooflines):
    """From {name: latencies in ms, one list per round} and the rooflines in the same rounds: the untuned network's gap
    to the rooflines, as a share of its time, and the share of that gap (or of the baseline's, if there is one) that
    tuning has closed, as (share, lower end, upper end). Both come from the medians of the rounds' ratios. If the rounds
    leave open whether there is a gap at all, "closed" is left out."""
    medians = round_medians({**rounds, "rooflines": rooflines})
    bounds, untuned = medians["rooflines"], medians["untuned"]
    entry = {"gap": 1 - statistics.median(bound / time for bound, time in zip(bounds, untuned, strict=True))}
    closed = share_of_gain(medians, "tuned", "rooflines", "baseline" if "baseline" in medians else "untuned")
    return {**entry, "closed": closed} if closed else entry


def share_of_gain(medians, name, best, before):
    """From {name: milliseconds in each round}: the share that `name` has of the time that `best` saves compared with
    `before`, as (share, lower end, upper end), from the medians of the rounds' ratios. None if the rounds leave open
    whether `best` saves anything."""
    own_ratios, best_ratios = ([value / time for value, time in zip(medians[one], medians[before], strict=True)]
                               for one in (name, best))

    def share(numbers):
        own, least = (statistics.median(ratios[number] for number in numbers) for ratios in (own_ratios, best_ratios))
        return (1 - own) / (1 - least) if least < 1 else math.inf

    interval = stats.resampled_interval(len(own_ratios), share, CONFIDENCE)
    return interval if all(map(math.isfinite, interval)) else None


def are_known(rounds, narrow):
    """Whether every speedup's interval is within `narrow` of its median on each side."""
    return all(max(middle - low, high - middle) <= narrow * middle for middle, low, high in speedups(rounds).values())


class Gauged:
    """A contestant together with `gauge`, another contestant that runs before each of its turns and tells how fast the
    machine is then. `readings` has the medians of the gauge."""

    def __init__(self, contestant, gauge):
        self._contestant, self._gauge, self.readings = contestant, gauge, []

    def measure(self, seconds):
        self.readings.append(statistics.median(self._gauge.measure(0)))
        return self._contestant.measure(seconds)


def quiet_rounds(readings):
    """From a gauge's lists of readings, each with one per round: the indices of the rounds in which nothing disturbed
    the machine. All rounds if these are too few for a result."""
    fast = sorted(sum(readings, []))[sum(map(len, readings)) // 10]
    slowest = [max(values) for values in zip(*readings, strict=True)]
    quiet = [number for number, value in enumerate(slowest) if value <= QUIET * fast]
    return quiet if len(quiet) >= ROUNDS else list(range(len(slowest)))


def compare_in_turns(contestants, compared, gauge, most_rounds, narrow):
    """Lets {name: contestant} take turns until the comparison of the `compared` ones is precise enough, or until they
    have had the most rounds. A round counts if the gauge is as fast as ever before every turn. The gauge is none of the
    contestants but may run the same artifact: so the choice of rounds does not depend on the compared ones.

    Returns {name: latencies in ms, one list per round} for the rounds that count, and how many rounds there were.
    Raises Failed.
    """
    gauged = {name: Gauged(contestant, gauge) for name, contestant in contestants.items()}
    rounds = {name: [] for name in contestants}
    while True:
        more, failures = take_turns(gauged, ROUNDS, SECONDS)
        if failures:
            raise Failed("; ".join(f"{name}: {reason}" for name, reason in failures.items()))
        for name, lists in more.items():
            rounds[name] += lists
        count = len(rounds[compared[0]])
        numbers = quiet_rounds([contestant.readings for contestant in gauged.values()])
        counting = {name: [lists[number] for number in numbers] for name, lists in rounds.items()}
        if count >= most_rounds or are_known({name: counting[name] for name in compared}, narrow):
            return counting, count
