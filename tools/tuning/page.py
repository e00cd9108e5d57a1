"""docs/tuning.md, made only from the experiments' documents."""
from common.report.tables import bold, markdown, plain
from common.report.words import duration, machine, milliseconds, plural, program_text
from tuning import curves
from tuning import results as ask
from tuning.cases import EXPERIMENTS
from tuning.plots import CHARTS, RANK_BINS, STAGE_COLOURS
from tuning.turns import CLOSER, CONFIDENCE, MOST_ROUNDS, NARROW, QUIET, ROUNDS

FIGURES = "tuning"  # the folder of the figures, beside the page
NONE = "–"


def page(documents, charts, replayed=None):
    """The page's text. `documents`: the experiments', by number; `charts`: the names of the figures; `replayed`: the
    file written by tools/figures/replay_tuning.py, if there is one."""
    parts = ["# Tuning", "*Made by `./do experiments --write-docs`: changes by hand get lost.*",
             "The gain of [`attune tune`](decisions/tuning.md), and the share of each of its parts in it.",
             machines(documents), METHOD]
    for number, section in SECTIONS.items():
        results = documents.get(number, {"experiments": {}})
        entries = ask.entries(results, number)
        if entries:
            parts += [f"## {EXPERIMENTS[number].title}", *figure(results, number, charts, entries),
                      *section(results, entries)]
    parts += held(replayed) if replayed else []
    return "\n\n".join(part for part in parts if part) + "\n"


def machines(documents):
    """The machine that each experiment ran on."""
    titles = {}
    for number, one in documents.items():
        titles.setdefault(machine(one["machine"]), []).append(EXPERIMENTS[number].title)
    if len(titles) == 1:
        return f"The machine: {next(iter(titles))}."
    return "\n".join(f"- {', '.join(names)}: {described}" for described, names in titles.items())


METHOD = """Every run has a database of its own, and continues until its trials are spent or no more gain is expected.
Two numbers say what it gained. *The kernels* are the sum of the best kernels that a run knows, of which each was
measured by itself, interleaved with its baseline: it is known after each batch. Among many candidates some are measured
faster than they are, so the best are measured once more at the end, and no curve shows more. *The network* is
measured as a whole, at the end, interleaved with the untuned one. Intervals hold the mean over the seeds with a
confidence of 95 %, where it scatters normally (Student's distribution). With one seed there are none, and nothing is
claimed. All computes in float32."""


def figure(results, number, charts, entries):
    """The experiment's figure, and the origin of its numbers."""
    name = CHARTS[number][0]
    drawn = [f"![{EXPERIMENTS[number].title}]({FIGURES}/{name})"] if name in charts else []
    return [*drawn, provenance(results, number, entries)]


def provenance(results, number, entries):
    """The command, dates and commits of an experiment, and whether it is complete."""
    dates = sorted({entry["date"][:10] for entry in entries})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    programs = {program_text(entry["attune"]): None for entry in entries}
    described = results["machine"]
    where = f"{plural(described['processors'], 'core')} of {described['cpu']}"
    lacking = ask.missing(results, number)
    rest = f" {plural(lacking, 'run')} of it {'has' if lacking == 1 else 'have'} not been made." if lacking else ""
    return f"*`{results['experiments'][str(number)]['command']}`, {when}, {where}; Attune {', '.join(programs)}.*{rest}"


def times(interval, emphasize=plain):
    """1.043× (1.021 to 1.065) from (mean, lower end, upper end), which may be None."""
    if interval is None:
        return NONE
    text = emphasize(f"{interval[0]:.3f}×")
    return f"{text} ({interval[1]:.3f} to {interval[2]:.3f})" if curves.is_certain(interval) else text


def sure(interval):
    """times(), in bold if the interval excludes 1."""
    return times(interval, bold if interval and ask.is_sure(interval) else plain)


def reached(positions, unit=""):
    """When runs reached a speed: their mean and its interval, or each run separately if one never did."""
    interval = curves.mean_or_none(positions)
    if interval is None:
        numbers = [f"{position:.0f}{unit}" for position in positions if position is not None]
        return f"{len(numbers)} of {plural(len(positions), 'run')}" + (f": {', '.join(numbers)}" if numbers else "")
    text = f"{interval[0]:.0f}{unit}"
    return f"{text} ({max(0, interval[1]):.0f} to {interval[2]:.0f})" if curves.is_certain(interval) else text


def strategies(results, entries):
    rows = [["network and strategy", "runs", "trials", "kernels, of the defaults' speed", "of random search's"]]
    for network in ask.distinct(entries, "network"):
        own = ask.of(entries, network=network)
        at_random = ask.of(own, strategy="random")
        for strategy in ask.distinct(own, "strategy"):
            runs = ask.of(own, strategy=strategy)
            rows.append([f"{network}, {strategy}", str(len(runs)), f"{mean(runs, 'trials'):.0f}",
                         times(ask.gain_interval(runs, ask.kernel_gain)),
                         NONE if runs == at_random else sure(ask.paired_gain(runs, at_random))])
    return ["""Where the analytic defaults are near to what the machine can do, any search that begins with them ends
within a few percent of them, and which one is better is not seen. So here strategies search alone (`--no-defaults`):
the defaults are neither given to them nor counted, and say only what they are compared with. Annealing asks a cost
model that learns from the run alone; the one that the program brings with it has learned from these networks and would
help it unduly. Nothing is confirmed, so there is selection bias, in all alike. The last column compares runs
from the same seed, which were made one after the other: a machine that is slower for an hour is so for both.""",
            comparison(entries, "annealing", "random"), markdown(rows)]


def mean(entries, field):
    return sum(entry[field] for entry in entries) / len(entries)


def comparison(entries, one, other):
    """A sentence that claims no more than the intervals show."""
    better, worse, compared = ask.compare_strategies(entries, one, other)
    if not compared:
        return ""
    count = f"{len(better)} of {plural(compared, 'network')}"
    names = f" ({', '.join(better)})" if better else ""
    against = f", and worse on {len(worse)} ({', '.join(worse)})" if worse else ", and worse on none"
    parts = [f"By the sum of the kernels, {one} is better than {other} on {count}{names}{against}, with intervals that "
             "do not overlap."]
    for network in ask.distinct(entries, "network"):
        runs = ask.of(entries, network=network, strategy=one)
        if runs and network not in better + worse and compared:
            tasks = runs[0]["tasks"]
            parts.append(f"On {network} they are not told apart: its {plural(tasks, 'task')} have "
                         f"{mean(runs, 'trials') / tasks:.0f} trials each, and {other} search comes near with as many.")
    return " ".join(parts)


def transfer(results, entries):
    rows = [["network, and what is known", "runs", "its tasks with records", "trials until 80 % of the gain",
             "until near the end", "kernels, of the defaults' speed"]]
    sentences = []
    for network in ask.transfer_networks(entries):
        arms = ask.transfer_arms(ask.of(entries, network=network))
        until = ask.trials_until(arms, ask.speed_of_most(arms[ask.NOTHING_KNOWN]))
        near = ask.trials_until(arms, ask.speed_near_end(arms[ask.NOTHING_KNOWN]))
        sentences.append(head_start(network, arms, until))
        for arm, runs in arms.items():
            rows.append([f"{network}, {arm}", str(len(runs)), f"{runs[0]['known_tasks']} of {runs[0]['tasks']}",
                         reached(until[arm]) if until else NONE, reached(near[arm]) if near else NONE,
                         times(ask.gain_interval(runs, ask.kernel_gain))])
    return ["""Searches alone, as above: what the analytic defaults leave to gain is too little to see who finds it
sooner. Three runs of a second network: one that knows nothing, and passes nothing on between its own tasks either
(`--no-transfer-runs --no-transfer-tasks`); one that does, in an empty database; and one in a copy of the database in
which the first network was searched in the same way. The gain is the speed of the kernels that the runs that know
nothing end with, on average, beyond that of the first kernels that they found; *near the end* is 95 % of what they end
with.""",
            " ".join(filter(None, sentences)), markdown(rows)]


def head_start(network, arms, until):
    """The sentence on how much the first network's records save; empty if some run did not reach the speed."""
    after, cold = (curves.mean_or_none(until.get(arm)) for arm in (ask.FIRST_KNOWN, ask.NOTHING_KNOWN))
    if not after or not cold:
        return ""
    trials = mean(arms[ask.NOTHING_KNOWN], "trials")
    return (f"With the first network's records {network} has 80 % of the gain after {after[0]:.0f} trials, and after "
            f"{cold[0]:.0f} where nothing is known: {100 * after[0] / cold[0]:.0f} % of these, and "
            f"{100 * after[0] / trials:.0f} % of all {trials:.0f} that a run has.")


def pretrained(results, entries):
    rows = [["network, and what the model begins with", "runs", "trials until near the end",
             "kernels, of the defaults' speed"]]
    for network in ask.distinct(entries, "network"):
        own = ask.of(entries, network=network)
        arms = ask.model_arms(own)
        until = ask.trials_until(arms, ask.speed_near_end(arms.get("none", [])))
        for arm, runs in arms.items():
            rows.append([f"{network}, {arm}", str(len(runs)), reached(until[arm]) if until else NONE,
                         times(ask.gain_interval(runs, ask.kernel_gain))])
    return [f"""Searches alone, as above. The model comes from `./do pretrain`, learned for each network anew without
the tasks that the network has itself{lesson(entries)}. *Near the end* is 95 % of the speed that the runs whose model
begins with nothing end with, on average, by the sum of the kernels.""",
            faster(entries), markdown(rows)]


def lesson(entries):
    """The data that a pretrained model has learned from, as the continuation of a sentence."""
    taught = ask.lesson(entries)
    if not taught:
        return ""
    threads = " and ".join(map(str, taught["threads"]))
    return (f", from {plural(taught['trials_per_task'], 'random candidate')} of each other task of "
            f"{plural(taught['networks'], 'network')}, on {threads} thread{'' if threads == '1' else 's'}")


def faster(entries):
    """The sentence on how often the pretrained model saves time."""
    sooner, later, compared = [], [], 0
    for network in ask.distinct(entries, "network"):
        arms = ask.model_arms(ask.of(entries, network=network))
        until = ask.trials_until(arms, ask.speed_near_end(arms.get("none", [])))
        without, with_model = (curves.mean_or_none(until.get(arm)) for arm in ("none", "pretrained"))
        if not (curves.is_certain(without) and curves.is_certain(with_model)):
            continue
        compared += 1
        if not curves.overlap(without, with_model):
            (sooner if with_model[0] < without[0] else later).append(network)
    if not compared:
        return ""
    return (f"With it, tuning comes there sooner on {len(sooner)} of {plural(compared, 'network')} where all runs "
            f"come there, and later on {len(later)}, with intervals that do not overlap.")


def ranks(results, entries):
    rows = [["network, and what the model begins with", "at first", "at last", "all"]]
    for network in ask.distinct(entries, "network"):
        own = ask.of(entries, network=network)
        longest = max(entry["trials"] for entry in own)
        for arm, runs in ask.model_arms(own).items():
            series = [entry["ranks"] for entry in runs]
            eighths, whole = curves.binned(series, longest, RANK_BINS), curves.binned(series, longest, 1)
            if whole:
                rows.append([f"{network}, {arm}", *(tau(point) for point in (eighths[0], eighths[-1], whole[0]))])
    return ["""The same runs as above: how well the model has ranked each batch before it was measured, as Kendall's tau
between its scores and the times. A search proposes what the model likes, so the candidates of a batch are all good
ones, and their order is harder to tell than that of any. *At first* and *at last* are the first and the last eighth of
the trials in which it ranked some.""", markdown(rows)]


def tau(point):
    _, middle, low, high = point
    return f"{middle:.2f} ({low:.2f} to {high:.2f})" if curves.is_certain(point[1:]) else f"{middle:.2f}"


def stages(results, entries):
    rows = [["strategy", *STAGE_COLOURS, "of a trial", "valid and right"]]
    for strategy in ask.distinct(entries, "strategy"):
        runs = ask.of(entries, strategy=strategy)
        means = ask.stage_means(runs)
        seconds = sum(means.values())
        rows.append([strategy, *(f"{100 * means[stage] / seconds:.1f} %" for stage in STAGE_COLOURS),
                     f"{seconds / mean(runs, 'trials'):.2f} s",
                     f"{100 - 100 * mean(runs, 'failed') / mean(runs, 'trials'):.1f} %"])
    return ["""The same runs as those of the strategies. The table has each stage's share of all of them; they have
nothing to finalize. *Valid and right* are the trials that could be built, ran, and gave what the reference
gives.""", markdown(rows)]


def deployment(results, entries):
    baselined = any("baseline" in entry["speedups"] for entry in entries)
    rows = [["network and threads", "beyond the rooflines", "untuned, ms", "tuned, ms", "gain", "of the gap closed",
             *(["against the baseline"] if baselined else [])]]
    for entry in entries:
        case, latency = entry["case"], entry["latency_ms"]
        row = [f"{case['network']}, {case['threads']}", f"{100 * entry['gap']:.0f} %", milliseconds(latency["untuned"]),
               milliseconds(latency["tuned"]), sure(entry["speedups"]["untuned"]), percent(entry.get("closed"))]
        if baselined:
            row.append(sure(entry["speedups"].get("baseline")))
        rows.append(row)
    sentences = []
    for threads in ask.distinct(entries, "threads"):
        own = ask.of(entries, threads=threads)
        rows.append([f"geometric mean, {threads}", "", "", "", sure(ask.mean_speedup(own, "untuned")), "",
                     *([sure(ask.mean_speedup(own, "baseline"))] if baselined else [])])
        above = sum(entry["speedups"]["untuned"][1] > 1 for entry in own)
        below = sum(entry["speedups"]["untuned"][2] < 1 for entry in own)
        sentences.append(f"On {plural(threads, 'thread')} the interval of the gain is above 1 for {above} of "
                         f"{plural(len(own), 'network')}, and below 1 for {below}.{half_closed(own)}")
    return [f"""Tuned with the options that the program has by itself, and its cost model. The artifacts take turns,
each in a process of its own, until the gains are known within {100 * NARROW:.0f} % or they have had {MOST_ROUNDS} turns
each ({ROUNDS} with `--short`). A gain is the median of the rounds' ratios, with an interval of {100 * CONFIDENCE:.0f} %
that assumes nothing of their distribution. *Beyond the rooflines* is the share of the untuned network's time
that its kernels take longer than their rooflines ([what those are](performance.md), and
[how they are measured](decisions/peaks.md)), which are taken anew in each round. It is no bound of what can be saved:
tuning may exchange a kernel for one that computes less, such as Winograd's convolution. How much of the gap is
closed, of the baseline's where there is one, comes from the medians of the rounds' ratios, too, and its interval from drawing rounds at random
(bootstrap). The interval of a geometric mean takes the ends of all its networks, and is wide rather than
narrow.{rounds_counted(entries)}""",
            " ".join(sentences), markdown(rows), *compiled_for(entries)]


def half_closed(entries):
    """The sentence on how many networks have half of their gap closed; empty if no gap is known."""
    closed = [entry["closed"][0] for entry in entries if entry.get("closed")]
    if not closed:
        return ""
    return (f" At least half of the gap is closed on {sum(share >= 0.5 for share in closed)} of "
            f"{plural(len(closed), 'network')} that have a significant one.")


def rounds_counted(entries):
    """The sentences on which rounds count; empty if this is not known."""
    known = [entry for entry in entries if "rounds" in entry]
    if not known:
        return ""
    counted, rounds = (sum(entry[name] for entry in known) for name in ("rounds_counted", "rounds"))
    return f""" Rounds that other programs on the machine disturb do not count: before each turn the untuned network runs
once more, by itself; in a counted round, no such run takes more than {100 * (QUIET - 1):.0f} % longer than the fastest
tenth of them. {counted} of {rounds} rounds count; a network with fewer than {ROUNDS} such rounds counts all of its
rounds."""


def compiled_for(entries):
    """The sentences on baselines that were not compiled for this processor."""
    networks = {}
    for entry in entries:
        if "baseline_cpu" in entry:
            networks.setdefault(entry["baseline_cpu"], {})[entry["case"]["network"]] = None
    return [f"The baseline fails to compile {' and '.join(names)} for this processor. It is compiled for {cpu} there, "
            "whose code runs here too." for cpu, names in networks.items()]


def soon(results, entries):
    cold, short, taught, recalled = ask.soon_runs(entries)
    baselined = recalled is not None and "baseline" in recalled["speedups"]
    rows = [["what is known at first", "took", "trials", "network, gain", "of the long run's",
             *(["against the baseline", "of the long run's there"] if baselined else [])]]

    def add(name, seconds, trials, compared):
        row = [name, duration(seconds), str(trials)]
        for reference in ("untuned", *(["baseline"] if baselined else [])):
            row += [sure(compared["speedups"][reference]) if compared else NONE,
                    percent(compared.get("shares", {}).get(reference)) if compared else NONE]
        rows.append(row)

    if cold:
        add("nothing", cold["seconds"], cold["trials"], recalled)
    for name, entry in (("nothing", short), ("a model of other networks", taught)):
        if entry:
            add(name, entry["seconds"], entry["trials"], ask.what_came_of(entry, recalled))
    if recalled:
        add("the long run's records", recalled["compile_seconds"], 0, recalled)
    case = entries[0]["case"]
    in_turns = [recalled] if recalled else []
    return [f"""A long run from nothing, of {case["network"]} on 1 thread, that ends where its time is over
({case["time"]}) or nothing is left to try; a short one from nothing; a shorter one with the cost model that learned
from other networks{lesson(entries)}; and compiling with the records that the long run has left, which measures nothing and
makes the same network again. Their gains are measured with all of the networks interleaved, as of tuned and untuned
ones, but until it is known within {100 * NARROW / CLOSER:.2f} %, or they have had {CLOSER * MOST_ROUNDS} turns each
({CLOSER * ROUNDS} with `--short`). Shares are of the time that the long run's network saves, of the untuned one's or of
the baseline's. The curves are of the sum of the kernels, by each run's own
measurements.{soon_enough(cold)}{rounds_counted(in_turns)}""", markdown(rows), *compiled_for(in_turns)]


def soon_enough(cold):
    """The sentence on when the long run's kernels had most of their gain; empty if that is not known."""
    points = curves.curve(cold, "seconds") if cold else []
    when = curves.position_of(points, curves.speed_with(curves.ENOUGH, [points]))
    return "" if when is None else f" The kernels of the long run had 80 % of their gain after {duration(when)}."


def percent(interval):
    """A share with its interval."""
    return f"{100 * interval[0]:.0f} % ({100 * interval[1]:.0f} to {100 * interval[2]:.0f})" if interval else NONE


def held(replayed):
    """How long a run holds its device, before and after stages were split."""
    rows = [["network", "candidates", "trials a second, before", "after", "device held, before", "after"]]
    for network, entry in replayed["networks"].items():
        rates, shares = entry["trials_per_second"], entry["exclusive"]
        same = "the same" if entry["are_same"] else "others"
        rows.append([network, f"{entry['candidates']}, {same}", *(f"{rate:.2f}" for rate in rates),
                     *(f"{100 * share:.1f} %" for share in shares)])
    return ["## How long the device is held",
            f"*`python3 -m figures.replay_tuning --before PROGRAM {' '.join(replayed['networks'])}`, {replayed['date']}, "
            f"{replayed['cpu']}.*",
            f"""Both programs replay one recorded run of {replayed['trials']} trials for each network, on one thread: they
measure for real and learn from the recorded times, so that they try the same candidates. *Before* is the tuner whose
stages measured all that they needed on the device; *after* is the one that computes reference data, prepacks weights
and checks results while others may use it, and holds it to time alone.""", markdown(rows)]


SECTIONS = {1: strategies, 2: transfer, 3: pretrained, 4: ranks, 5: stages, 6: deployment, 7: soon}
