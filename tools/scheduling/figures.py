"""Figures that follow from schedules, as they are published."""
from common import stats
from common.program import Failed
from common.timing import Artifact, round_medians, take_turns

REAL = ("sequential", "uncoordinated", "lockstep", "first_come", "predictive")
CHARTED = ("sequential", "uncoordinated", "predictive")  # their stages are kept for the charts
ROUNDS, SECONDS = 15, 0.3  # turns of each artifact, and the time of each
CONFIDENCE = 0.95
COMPARED = 50  # candidates of each network whose ratios are compared


def stage_seconds(schedule):
    """{stage: seconds} of all jobs together."""
    seconds = {}
    for stage in schedule["stages"]:
        seconds[stage["name"]] = seconds.get(stage["name"], 0) + stage["end"] - stage["start"]
    return seconds


def differences(lab, name, networks):
    """How much the ratios of candidates to their baselines differ between this run and those alone, as shares,
    ascending: of the first candidates of each network that both have measured."""
    found = []
    for network in networks:
        quiet, loud = (lab.ratios(run, network) for run in (lab.alone(network), name))
        both = [key for key in quiet if key in loud][:COMPARED]
        found += [abs(loud[key] / quiet[key] - 1) for key in both]
    return sorted(found)


def bars(schedule):
    """The stages that ran, as [job, stage, whether on the device, start, end]."""
    return [[stage["job"], stage["name"], any(need["exclusive"] for need in stage["needs"]), stage["start"],
             stage["end"]] for stage in schedule["stages"]]


def of_alone(lab, network):
    schedule = lab.schedule(lab.alone(network), [network], "first_come")
    return {"seconds": schedule["makespan_seconds"], "stage_seconds": stage_seconds(schedule),
            "idle_device": schedule["idle_share_of_devices"], "idle_processors": schedule["idle_share_of_processors"]}


def of_schedule(lab, networks, strategy, charts_stages):
    """One schedule for real, beside what follows from its jobs alone."""
    traces = [lab.trace(lab.alone(network)) for network in networks]
    from_alone = lab.simulate(traces, "--devices", 1)[strategy]
    name = f"{strategy}-{len(networks)}"
    schedule = lab.schedule(name, networks, strategy)
    from_own = lab.simulate([lab.trace(name)])[strategy]
    return {"strategy": strategy, "jobs": len(networks), "makespan": schedule["makespan_seconds"],
            "bound": from_alone["lower_bound_seconds"], "simulated_from_alone": from_alone["makespan_seconds"],
            "simulated_from_own": from_own["makespan_seconds"], "idle_device": schedule["idle_share_of_devices"],
            "idle_processors": schedule["idle_share_of_processors"], "waiting": schedule["waiting_seconds"],
            "predictions": schedule["predictions"], "stage_seconds": stage_seconds(schedule),
            "completion": {job["id"]: job["ended_at_seconds"] for job in schedule["jobs"]},
            "same_kernels": all(lab.kernels(name, network) == lab.kernels(lab.alone(network), network)
                                for network in networks),
            "differences": differences(lab, name, networks),
            **({"stages": bars(schedule)} if charts_stages and strategy in CHARTED else {})}


def of_dedicated(lab, networks):
    """A machine for each job: simulated from the jobs that ran alone."""
    simulated = lab.simulate([lab.trace(lab.alone(network)) for network in networks])["dedicated"]
    return {"jobs": len(networks), "makespan": simulated["makespan_seconds"], "hosts": simulated["hosts"]}


def of_live(lab, networks, strategies):
    """Returns the time of tuning without a recording with these strategies, and how fast the networks are then:
    {"makespan": {strategy: s}, "networks": {network: {contestant: [times as fast as untuned, lower end, upper
    end]}}}."""
    if not strategies:
        return {}
    live = {"makespan": {}, "networks": {}}
    for strategy in strategies:
        schedule = lab.schedule(f"live-{strategy}", networks, strategy, replays=False)
        live["makespan"][strategy] = schedule["makespan_seconds"]
    for network in networks:
        contestants = {"untuned": lab.untuned(network), "alone": lab.recorded_artifact(network),
                       **{strategy: lab.artifact(f"live-{strategy}", network) for strategy in strategies}}
        rounds, failures = take_turns({name: Artifact(path, 1) for name, path in contestants.items()}, ROUNDS, SECONDS)
        if failures:
            raise Failed("; ".join(f"{name}: {reason}" for name, reason in failures.items()))
        medians = round_medians(rounds)
        untuned = medians.pop("untuned")
        live["networks"][network] = {
            name: stats.median_interval(
                [before / after for before, after in zip(untuned, values, strict=True)], CONFIDENCE)
            for name, values in medians.items()}
    return live
