"""Results of experiments, for tests."""
from tuning import cases, lab
from tuning.cases import DeployCase, Plan, RecallCase

STAGES = {"prepare": 0.25, "calibrate": 0.25, "select": 0.5, "build": 4.0, "check": 5.0, "time": 15.0, "learn": 1.0,
          "confirm_build": 1.0, "confirm_time": 13.0, "finish": 0.0}


def report_of(ms, trials=40, is_search=False):
    """The tuner's report; for a search alone, it has no latencies of the network."""
    network = {"untuned_ms": 0, "tuned_ms": 0} if is_search else {"untuned_ms": 10.0, "tuned_ms": ms}
    return {**network, "trials": trials, "seconds": 40.0, "stopped": False, "stage_seconds": STAGES,
            "tasks": [{"uses": 2, "untuned_ms": 2.0, "transferred": 5, "failed": 2},
                      {"uses": 1, "untuned_ms": 4.0, "transferred": 0, "failed": 0}],
            "curve": [{"seconds": 5.0, "trials": 2, "ms": 8.0}, {"seconds": 20.0, "trials": 30, "ms": 0.85 * ms},
                      {"seconds": 40.0, "trials": trials, "ms": 0.8 * ms}],
            "rank_correlation": [{"trials": 10, "correlation": 0.25}, {"trials": 35, "correlation": 0.5}]}


def entry_of(case, ms):
    entry = {"case": cases.described(case), "date": "2020-01-02T03:04:05+00:00",
             "attune": {"version": "0.1.0", "commit": "0123456789abcdef", "modified": False}, "wall_s": 50.0}
    if isinstance(case, RecallCase):
        sooner = {"speedups": {"untuned": [1.2, 1.1, 1.3], "baseline": [1.4, 1.3, 1.5]},
                  "latency_ms": {"untuned": 10.0, "tuned": 8.3, "baseline": 12.0},
                  "shares": {"untuned": [0.9, 0.8, 1.0]}}
        return {**entry, "compile_seconds": 1.5, "rounds": 60, "rounds_counted": 45,
                "speedups": {"untuned": [1.25, 1.2, 1.3], "baseline": [1.5, 1.4, 1.6]},
                "latency_ms": {"untuned": 10.0, "tuned": 8.0, "baseline": 12.0},
                "sooner": {run.key: sooner for run in case.sooner}}
    entry |= lab.summary(report_of(ms, is_search=cases.tuning_of(case).searches))
    if cases.needs_pretraining(case):
        entry["lesson"] = {"networks": 3, "threads": [1, 2], "trials_per_task": 8}
    if isinstance(case, DeployCase):
        entry |= {"rounds": 60, "rounds_counted": 20, "gap": 0.25, "closed": [0.6, 0.5, 0.7],
                  "speedups": {"untuned": [1.25, 1.2, 1.3], "baseline": [1.02, 0.99, 1.05]},
                  "latency_ms": {"untuned": 10.0, "tuned": 8.0, "baseline": 8.2}}
    return entry


SAMPLE_PLAN = Plan(networks=("<a>", "b"), deployed=("<a>", "b"), pairs=(("<a>", "b"),), seeds=2, trials=40,
                   baseline="1234abcd")


def sample(plan=SAMPLE_PLAN):
    """A results.json in which annealing is better than random on both networks, and nothing else makes a difference."""
    chosen, everything = cases.all_cases(cases.EXPERIMENTS, plan)
    results = {"machine": {"cpu": "A Processor", "cpu_family": 1, "cpu_model": 2, "instructions": ["avx2"],
                           "processors": 2, "caches": [], "memory_bytes": 1 << 30, "system": "An OS"},
               "experiments": {str(number): {"command": f"./do experiments --only {number}",
                                             "cases": list({case.key: None for case in own})}
                               for number, own in chosen.items()},
               "cases": {}}
    for case in everything:
        tune = cases.tuning_of(case)
        ms = {"annealing": 8.0, "random": 9.0}.get(tune.strategy, 8.5) + 0.01 * tune.seed
        results["cases"][case.key] = entry_of(case, ms)
    return results
