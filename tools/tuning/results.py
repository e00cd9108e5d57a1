"""The document that the experiments write, results.json, and the questions that reports ask it.

    {"machine": machine.describe(),
     "experiments": {number: {"command": "./do experiments ...", "cases": [key of each case]}},
     "cases": {key: entry}}

An entry has the case (cases.described()), the date (ISO 8601) and the program (machine.program()), and lab.summary() of
the tuner's report: trials, failed (those of them that were not built, did not run or were wrong), seconds, tasks,
known_tasks (those that had records), kernels_untuned_ms (the sum over the network's kernels), untuned_ms and tuned_ms
(the network, measured interleaved), curve (seconds, trials, ms of the best kernels), ranks (trials, Kendall's tau),
stage_seconds. An entry with a pretrained cost model has lesson (pretrain.lesson()). A deployed one has gap (the share
of the untuned network's time beyond the rooflines), closed (the share of that gap, or of the baseline's if there is
one, that tuning closed; lower end, upper end), speedups ({"untuned": (times as fast as the untuned network, lower end,
upper end), "baseline": ...}) and latency_ms ({artifact: median}), and baseline_cpu if the baseline could only be
compiled for another processor. A recalled one has no report, but compile_seconds, speedups and latency_ms, and sooner:
the same two for the networks of shorter runs ({the run's key: ...}), and their shares of its gain ({"untuned": (share
of its gain over the untuned network, lower end, upper end), "baseline": ...}). Both have rounds, the number of turns of
each artifact, and rounds_counted, the number of those in which nothing disturbed the machine. wall_s is the time that
the case took.

results/tuning has a document for each published experiment, N.json, with only that experiment and only the parts of its
entries that the page shows. Each of these may come from another machine; results.json comes from one.
"""
import math

from common import machine, stats
from common.results import is_of_here, load, rounded, write
from tuning import curves
from tuning.cases import TuneCase

# The fields of an entry that the page shows, by experiment. An entry without the first of these has not run for the
# experiment; the last experiment has entries of two kinds.
ALWAYS_SHOWN = ("case", "date", "attune")
SHOWN = {
    1: ("curve", "kernels_untuned_ms", "trials", "tasks"),
    2: ("curve", "kernels_untuned_ms", "trials", "tasks", "known_tasks"),
    3: ("curve", "kernels_untuned_ms", "trials", "lesson"),
    4: ("ranks", "trials"),
    5: ("stage_seconds", "trials", "failed"),
    6: ("gap", "closed", "speedups", "latency_ms", "rounds", "rounds_counted", "baseline_cpu"),
    7: ("case", "curve", "kernels_untuned_ms", "trials", "seconds", "lesson", "compile_seconds", "speedups", "sooner",
        "rounds", "rounds_counted", "baseline_cpu"),
}
NOTHING_KNOWN, FIRST_KNOWN = "nothing", "the first network's records"  # what a second network's run knows at its start


def document():
    """A document without measurements."""
    return {"machine": machine.describe(), "experiments": {}, "cases": {}}


def read(path, folder):
    """The document in this file, or a new one with the experiments published in the folder that come from this machine.
    Raises ValueError with a sentence for the user."""
    if path.exists():
        found = load(path)
        if not is_of_here(found):
            raise ValueError(f"{path} is of another machine; name another folder with --output")
        return found
    found = document()
    for one in filter(is_of_here, published(folder).values()):
        found["experiments"] |= one["experiments"]
        for key, entry in one["cases"].items():
            found["cases"][key] = joined(found["cases"].get(key, entry), entry)
    return found


def joined(one, other):
    """Joins two experiments' views of the same case: both if they are of the same run, otherwise the later one."""
    return {**one, **other} if one["date"] == other["date"] else max(one, other, key=lambda entry: entry["date"])


def has_run(results, number, key):
    """Whether there is an entry that the experiment can show."""
    return SHOWN[int(number)][0] in results["cases"].get(key, {})


def is_complete(results, key):
    """Whether the case has run for all experiments that show it."""
    wanted = [number for number, experiment in results["experiments"].items() if key in experiment["cases"]]
    return key in results["cases"] and all(has_run(results, number, key) for number in wanted)


def split(results):
    """{number: the part of the document that the page shows for this experiment}, for those that have runs."""
    documents = {}
    for number, experiment in results["experiments"].items():
        own = {key: shown(results["cases"][key], int(number)) for key in experiment["cases"]
               if has_run(results, number, key)}
        if own:
            documents[int(number)] = {**results, "experiments": {number: experiment}, "cases": own}
    return documents


def shown(entry, number):
    """The part of an entry that the page shows."""
    kept = {name: entry[name] for name in (*ALWAYS_SHOWN, *SHOWN[number]) if name in entry}
    if "curve" in kept:
        kept["curve"] = curves.corners(kept["curve"])
    return rounded(kept)


def publish(documents, folder):
    """Writes the documents into the folder, in place of its old ones for these experiments."""
    for number, one in documents.items():
        write(folder / f"{number}.json", one)


def published(folder):
    """{number: document} for the experiments in the folder. Raises ValueError."""
    return {int(path.stem): load(path) for path in sorted(folder.glob("*.json"))}


def entries(results, number):
    """The entries of the experiment's cases that have run."""
    keys = results["experiments"].get(str(number), {"cases": []})["cases"]
    return [results["cases"][key] for key in keys if has_run(results, number, key)]


def missing(results, number):
    """The number of cases of an experiment that have not run."""
    keys = results["experiments"][str(number)]["cases"]
    return sum(not has_run(results, number, key) for key in keys)


def distinct(entries_, field):
    """The different values of this field in the cases, in their order."""
    return list(dict.fromkeys(entry["case"][field] for entry in entries_))


def of(entries_, **fields):
    """The entries whose cases have these values."""
    return [entry for entry in entries_ if all(entry["case"][name] == value for name, value in fields.items())]


def kernel_gain(entry):
    """How many times as fast the tuned kernels are, by the sum of their times; None if a search has found none for some
    task."""
    points = curves.curve(entry, "trials")
    return points[-1][1] if points else None


def gain_interval(entries_, gain):
    """(mean, lower end, upper end) of a gain over several runs; None if a run has no gain, or if there are no runs."""
    return curves.mean_or_none([gain(entry) for entry in entries_])


def paired_gain(runs, others):
    """How many times as fast the kernels of these runs are as those of other runs of the same network with the same
    seed: (mean, lower end, upper end); None without such pairs, or if a run has found nothing. The runs of a seed
    follow each other, so a machine that changes its speed hardly changes the ratio."""
    theirs = {entry["case"]["seed"]: kernel_gain(entry) for entry in others}
    pairs = [(kernel_gain(entry), theirs[entry["case"]["seed"]]) for entry in runs if entry["case"]["seed"] in theirs]
    return curves.mean_or_none([None if None in pair else pair[0] / pair[1] for pair in pairs])


def compare_strategies(entries_, one, other):
    """The networks on which strategy `one` finds better kernels than `other`, and those on which it finds worse ones,
    with intervals that do not overlap: ([network], [network], how many have intervals for both)."""
    better, worse, compared = [], [], 0
    for network in distinct(entries_, "network"):
        mine, theirs = (gain_interval(of(entries_, network=network, strategy=name), kernel_gain)
                        for name in (one, other))
        if not (curves.is_certain(mine) and curves.is_certain(theirs)):
            continue
        compared += 1
        if not curves.overlap(mine, theirs):
            (better if mine[0] > theirs[0] else worse).append(network)
    return better, worse, compared


def transfer_arms(entries_):
    """{what a run of the second network knew: its runs}, for the runs of one second network."""
    arms = {NOTHING_KNOWN: of(entries_, transfer=False), "its own tasks": of(entries_, transfer=True, after=""),
            FIRST_KNOWN: [entry for entry in entries_ if entry["case"]["after"]]}
    return {name: runs for name, runs in arms.items() if runs}


def transfer_networks(entries_):
    """{second network: the first, or "" if it has no run after the first yet}"""
    firsts = {entry["case"]["network"]: entry["case"]["after"] for entry in entries_ if entry["case"]["after"]}
    return {network: firsts.get(network, "") for network in distinct(of(entries_, transfer=False), "network")}


def trials_until(arms, speed):
    """{arm: trials until the kernels of each of its runs reached this speed, None for a run that never did}; empty
    without a speed."""
    return {name: [curves.position_of(curves.curve(entry, "trials"), speed) for entry in runs]
            for name, runs in arms.items()} if speed else {}


def speed_of_most(runs):
    """The speed with most of the runs' gain, on average; None if there is no gain."""
    return curves.speed_with(curves.ENOUGH, [curves.curve(entry, "trials") for entry in runs])


def speed_near_end(runs):
    """A speed near that of the runs' best kernels, on average; None without runs, or if one has found nothing."""
    gains = [kernel_gain(entry) for entry in runs]
    return None if not gains or None in gains else curves.NEAR * sum(gains) / len(gains)


def lesson(entries_):
    """The data that the pretrained model has learned from, by the first entry that says so; None if none does."""
    return next((entry["lesson"] for entry in entries_ if entry.get("lesson")), None)


def model_arms(entries_):
    """{what the cost model starts with: runs}"""
    return {name: of(entries_, cost_model=name) for name in ("none", "pretrained") if of(entries_, cost_model=name)}


def soon_runs(entries_):
    """(the long run, the shorter one that knows nothing, the one with the pretrained model, the recalled one); None for
    each that is missing."""
    def first(found):
        return next(iter(found), None)
    tuned = [entry for entry in entries_ if "curve" in entry]
    cold = sorted(of(tuned, cost_model="none"), key=lambda entry: -TuneCase(**entry["case"]).longest)
    recalled = [entry for entry in entries_ if "compile_seconds" in entry]
    return first(cold), first(cold[1:]), first(of(tuned, cost_model="pretrained")), first(recalled)


def what_came_of(run, recalled):
    """The comparison of a shorter run's network; None if there is none."""
    return recalled and recalled["sooner"].get(TuneCase(**run["case"]).key)


def stage_means(entries_):
    """{stage: mean seconds per run}, in the order of the stages."""
    order = ("prepare", "select", "build", "measure", "update", "finalize")
    return {stage: sum(entry["stage_seconds"][stage] for entry in entries_) / len(entries_) for stage in order}


def mean_speedup(entries_, name):
    """(geometric mean, lower end, upper end) of how many times as fast as `name` the tuned artifacts are; None if none
    was compared. The ends are geometric means of the networks' ends: rather wide than narrow."""
    found = [entry["speedups"][name] for entry in entries_ if name in entry["speedups"]]
    return tuple(stats.geometric_mean(values) for values in zip(*found)) if found else None


def is_sure(interval):
    """Whether an interval of ratios excludes 1."""
    return math.isfinite(interval[1]) and not interval[1] <= 1 <= interval[2]
