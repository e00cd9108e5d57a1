"""docs/scheduling.md, made only from the experiment's results."""
import statistics

from common.report.tables import bold, markdown, plain
from common.report.words import machine, plural, program_text
from common.stats import geometric_mean
from scheduling.figures import COMPARED

FIGURES = "scheduling"  # the folder of the figures, beside the page
TABLED_JOBS, TABLED_DEVICES = (8, 64), (1, 4, 16)  # of those that are simulated; the figure has all
GOAL, NEAR, DISTORTED = 0.95, 0.05, 0.02  # of the bound; of simulations; of the median difference
NONE = "–"


def percent(share, digits=1):
    return f"{100 * share:.{digits}f} %"


def of_bound(row):
    return row["bound"] / row["makespan"]


def difference(row):
    """(median, 90 % quantile) of the differences between ratios."""
    found = row["differences"]
    return statistics.median(found), found[len(found) * 9 // 10]


def error_of_simulation(row):
    return row["simulated_from_own"] / row["makespan"] - 1


def line(row):
    """Describes the cost of one schedule, for people."""
    return (f"{plural(row['jobs'], 'job')}, {row['strategy']}: {row['makespan']:.1f} s, {percent(of_bound(row))} of "
            f"the bound, simulated {row['simulated_from_alone']:.1f} s (own trace {row['simulated_from_own']:.1f} s), "
            f"device idle {percent(row['idle_device'])}, ratios differ by {percent(difference(row)[0], 2)}")


def page(results, charts):
    """The page's text; `charts`: the names of the figures."""
    parts = ["# Scheduling", "*Made by `./do scheduling --write-docs`: changes by hand get lost.*",
             introduction(results)]
    for title, name, section in SECTIONS:
        paragraphs = section(results)
        if paragraphs:
            parts += [f"## {title}", *([f"![{title}]({FIGURES}/{name})"] if name in charts else []), *paragraphs]
    return "\n\n".join(part for part in parts if part) + "\n"


def introduction(results):
    networks, count = ", ".join(results["networks"]), results["building"]
    builders = "another one builds" if count == 1 else f"{count} others build"
    return f"""A tuning job leaves its device idle while it searches, builds, checks and learns. [One scheduler for all
jobs](decisions/scheduling.md) lets other jobs fill those gaps. How much does that gain, and does it distort what is
measured? The jobs tune {networks}, with {results['trials']} trials
each. One processor measures, and {builders}.

The machine: {machine(results['machine'])}.
*`{results['command']}`, {results['date']}; Attune {program_text(results['attune'])}.*

**Method.** Each network is tuned once, and this run is recorded. All others replay it: they search, build, check and
measure for real, but learn from the recorded times, so that each tries the same candidates, whatever disturbs its
measurements, and strategies can be compared. Jobs learn nothing from one another (`transfer_runs: false`). *The bound*
of a schedule follows from the stage times of its jobs alone: no schedule ends before the device, or the processors that
build, had time for all stages that need them, nor before its longest job could end."""


def real(results, jobs=None):
    return [row for row in results["schedules"] if jobs in (None, row["jobs"])]


def most_jobs(results):
    return max(row["jobs"] for row in results["schedules"])


def schedule(results, strategy, jobs=None):
    """The schedule of the most jobs with this strategy, or None."""
    return next((row for row in real(results, jobs or most_jobs(results)) if row["strategy"] == strategy), None)


def makespans(results):
    rows = [["jobs and strategy", "time", "of the bound", "simulated from the jobs alone", "from its own trace",
             "device idle", "processors that build idle", "a stage waits, median", "99 %", "80 % intervals held"]]
    for jobs in dict.fromkeys(row["jobs"] for row in real(results)):
        if jobs == 1:
            network = results["networks"][0]
            one = results["alone"][network]
            rows.append([f"1, alone ({network})", f"{one['seconds']:.0f} s", NONE, NONE, NONE,
                         percent(one["idle_device"]), percent(one["idle_processors"]), NONE, NONE, NONE])
        for row in real(results, jobs):
            # Without leases the bound does not hold, since stages share what they need.
            emphasize = bold if row["strategy"] == "predictive" else plain
            rows.append([emphasize(f"{jobs}, {row['strategy']}"), f"{row['makespan']:.0f} s", percent(of_bound(row)),
                         f"{row['simulated_from_alone']:.0f} s",
                         f"{row['simulated_from_own']:.0f} s ({percent(abs(error_of_simulation(row)))} off)",
                         percent(row["idle_device"]), percent(row["idle_processors"]),
                         f"{row['waiting']['p50']:.2f} s", f"{row['waiting']['p99']:.1f} s",
                         f"{percent(row['predictions']['share_within'], 0)} of {row['predictions']['stages']}"])
        for row in results["dedicated"]:
            if row["jobs"] == jobs and jobs > 1:
                rows.append([f"{jobs}, dedicated: {plural(row['hosts'], 'machine')}", NONE, NONE,
                             f"{row['makespan']:.0f} s", *[NONE] * 6])
    return [goal_of_bound(results), simulations(results), markdown(rows),
            """*Uncoordinated* jobs take whatever they want, so that two may measure at once. One job alone leaves
nothing to decide: all strategies with leases do the same with it. *Dedicated* is simulated from the jobs that ran
alone. *80 % intervals held* counts the stages whose time lay in the interval that was predicted for it."""]


def goal_of_bound(results):
    row, jobs = schedule(results, "predictive"), most_jobs(results)
    if row is None:
        return ""
    others = ", ".join(f"{strategy} {percent(of_bound(other))}" for strategy in ("sequential", "uncoordinated")
                       if (other := schedule(results, strategy)))
    return (f"With {plural(jobs, 'job')} the predictive strategy reaches **{percent(of_bound(row))}** of the bound "
            f"(the goal is {percent(GOAL, 0)}){'; ' + others if others else ''}.")


def simulations(results):
    found = [(abs(error_of_simulation(row)), row) for row in real(results) if row["strategy"] != "uncoordinated"]
    if not found:
        return ""
    worst, row = max(found, key=lambda pair: pair[0])
    return (f"Simulated from its own trace, a schedule with leases takes as long as it really took, within "
            f"**{percent(worst)}** ({plural(row['jobs'], 'job')}, {row['strategy']}; the goal is {percent(NEAR, 0)}).")


def gantt(results):
    return ["""A device is held for itself while something is timed on it. *Builds* has all other stages, whose bars
overlap where jobs share the processor."""] if any("stages" in row for row in real(results)) else []


def stages(results):
    jobs = most_jobs(results)
    alone = sum(sum(one["stage_seconds"].values()) for one in results["alone"].values())
    sentences = []
    for strategy in ("predictive", "uncoordinated"):
        row = schedule(results, strategy)
        if row:
            together = sum(row["stage_seconds"].values())
            sentences.append(f"with {strategy} they take {together / alone:.2f} times as long as alone")
    return [f"The stages of {plural(jobs, 'job')}: {' and '.join(sentences)}." if sentences else ""]


def measurements(results):
    rows = [["jobs and strategy", "candidates", "median difference", "90 % differ by at most", "same kernels"]]
    for row in real(results):
        median, most = difference(row)
        rows.append([f"{row['jobs']}, {row['strategy']}", str(len(row["differences"])), percent(median, 2),
                     percent(most, 2), "yes" if row["same_kernels"] else "no"])
    quiet, calm, loud = (schedule(results, name) for name in ("sequential", "predictive", "uncoordinated"))
    sentence = ""
    if calm:
        sentence = (f"Beside {plural(calm['jobs'] - 1, 'other job')} the median difference is "
                    f"**{percent(difference(calm)[0], 2)}** with the predictive strategy (the goal is at most "
                    f"{percent(DISTORTED, 0)})")
        if quiet:
            sentence += f", and {percent(difference(quiet)[0], 2)} where one job runs after the other, which is noise"
        if loud:
            sentence += f"; without leases it is {percent(difference(loud)[0], 2)}"
        sentence += "."
    return [f"""The tuner judges candidates by their ratio to a baseline that is timed interleaved with them. Here are the
first {COMPARED} candidates of each network: how much does this ratio differ, measured beside other jobs, from the one
measured alone? *Same kernels* says that the tuned networks consist of the same code as those of the jobs alone, which
they must, since replayed jobs learn from recorded times: so they are equally fast.""", sentence, markdown(rows)]


def live(results):
    found = results["live"]
    if not found:
        return []
    contestants = list(dict.fromkeys(name for one in found["networks"].values() for name in one))
    rows = [["network", *contestants]]
    for network, one in found["networks"].items():
        rows.append([network, *(f"{one[name][0]:.3f}× ({one[name][1]:.3f} to {one[name][2]:.3f})"
                                for name in contestants)])
    rows.append(["geometric mean", *(f"{gain(results, name):.3f}×" for name in contestants)])
    times = " and ".join(f"{seconds:.0f} s with {strategy}" for strategy, seconds in found["makespan"].items())
    return [f"""Here the jobs learn from what they measure themselves, side by side: {times}. *Alone* is the recorded
run. All artifacts and the untuned one take turns on one thread; the table has how many times as fast as untuned they
are, with intervals of 95 % of the rounds' median. Searches draw at random, so that two runs of a job differ by some
percent anyway.""", markdown(rows)]


def gain(results, contestant):
    return geometric_mean([one[contestant][0] for one in results["live"]["networks"].values()])


def simulated(results):
    strategies = ("sequential", "lockstep", "first_come", "predictive", "back_to_back", "dedicated")
    rows = [["jobs and devices", "bound", *strategies]]
    for row in results["simulated"]:
        if row["jobs"] not in TABLED_JOBS or row["devices"] not in TABLED_DEVICES:
            continue
        kind = "" if row["mix"] == "unlike" else " alike"
        rows.append([f"{row['jobs']}{kind}, {row['devices']}", f"{row['bound']:.0f} s",
                     *(f"{row['makespan'][strategy]:.0f} s" for strategy in strategies)])
    return [f"""The same scheduler, over the stages of the jobs that ran alone. Jobs that are *alike* all tune
{results['networks'][0]}, others take turns through the networks. *Dedicated* has a machine for each job, or all devices
if these are more.""", back_to_back(results), markdown(rows)]


def back_to_back(results):
    """The sentence on what update-then-build saves."""
    ratios = [row["makespan"]["predictive"] / row["makespan"]["back_to_back"] for row in results["simulated"]]
    alike = [ratio for ratio, row in zip(ratios, results["simulated"]) if row["mix"] == "like"]
    if not alike or len(alike) == len(ratios):
        return ""
    unlike = [ratio for ratio, row in zip(ratios, results["simulated"]) if row["mix"] != "like"]
    return (f"*Back to back* is predictive, except that a job keeps what it holds from learning through searching to "
            f"building. Jobs that are alike end {geometric_mean(alike):.3f} times as fast with it (the mean of the "
            f"rows; {min(alike):.3f} to {max(alike):.3f}), others {geometric_mean(unlike):.3f} times "
            f"({min(unlike):.3f} to {max(unlike):.3f}).")


def claim(results):
    """The verdict on the claim of the experiment's source."""
    interleaved, sequential = schedule(results, "predictive"), schedule(results, "sequential")
    if interleaved is None or sequential is None:
        return []
    jobs = interleaved["jobs"]
    dedicated = next(row for row in results["dedicated"] if row["jobs"] == jobs)
    faster = sequential["makespan"] / interleaved["makespan"]
    most = sequential["makespan"] / interleaved["bound"]
    median = difference(interleaved)[0]
    verdicts = [
        (faster > 1, "Completion",
         f"{plural(jobs, 'job')} interleaved end after {interleaved['makespan']:.0f} s, one after the other after "
         f"{sequential['makespan']:.0f} s: {faster:.2f} times as fast, where {most:.2f} times is the most that the "
         f"stages allow. A machine for each job would take {dedicated['makespan']:.0f} s."),
        (median <= DISTORTED and as_fast(results), "Inference speed", speed(results, median)),
        (dedicated["hosts"] > 1, "Hardware",
         f"one machine in the place of {dedicated['hosts']}, for {interleaved['makespan'] / dedicated['makespan']:.2f} "
         f"times the time: {interleaved['makespan']:.0f} machine-seconds instead of "
         f"{sum(results['alone'][network]['seconds'] for network in results['networks'][:jobs]):.0f} in which the "
         "dedicated machines work, and more if they wait for the last one."),
    ]
    loud = schedule(results, "uncoordinated")
    if loud:
        verdicts.append((difference(loud)[0] > DISTORTED, "Uncoordinated sharing distorts",
                         uncoordinated(results, loud)))
    lines = [f"- **{title}: {'held' if is_held else 'not held'}.** {text[0].upper() + text[1:]}"
             for is_held, title, text in verdicts]
    return ["""The experiment repeats one of a thesis on load-aware scheduling of autotuning jobs (2020), which
claims that interleaved jobs end sooner than those that run one after the other, on less hardware than dedicated
machines, and that the networks are as fast, while uncoordinated sharing distorts what is measured.""",
            "\n".join(lines)]


def as_fast(results):
    """Whether networks that are tuned side by side are as fast as those that are tuned alone, if that is known."""
    return not results["live"] or gain(results, "predictive") >= (1 - DISTORTED) * gain(results, "alone")


def speed(results, median):
    text = f"measurements beside other jobs differ by {percent(median, 2)} in the median"
    found = results["live"].get("networks")
    if not found:
        return text + "."
    contestants = [name for name in next(iter(found.values())) if name != "alone"]
    live_gains = ", ".join(f"{gain(results, name):.3f}× with {name}" for name in contestants)
    return (f"{text}, and networks tuned alone are {gain(results, 'alone'):.3f} times as fast as untuned, those tuned "
            f"side by side {live_gains} (geometric means).")


def uncoordinated(results, row):
    text = (f"it ends after {row['makespan']:.0f} s, and measurements differ by {percent(difference(row)[0], 2)} "
            "in the median")
    if "uncoordinated" not in results["live"].get("makespan", {}):
        return text + "."
    ratio = gain(results, "uncoordinated") / gain(results, "alone")
    effect = "slower" if ratio < 1 - DISTORTED else "as fast"
    return (f"{text}. The networks that it tunes are {effect} ({ratio:.3f} times as fast as those tuned alone), since "
            "candidates are timed interleaved with their baseline, and the best ones once more.")


SECTIONS = [("What interleaving gains", "makespan.svg", makespans), ("Who holds what", "gantt.svg", gantt),
            ("What stages take", "stages.svg", stages), ("What measurements see", "differences.svg", measurements),
            ("The tuned networks", "", live), ("More jobs and devices, simulated", "simulated.svg", simulated),
            ("The claim", "", claim)]
