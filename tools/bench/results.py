"""The document that a run writes, results.json, and the questions that reports ask it.

    {"date": ISO 8601, "command": "./do bench ...",
     "settings": {"threads": [...], "rounds", "seconds", "bf16", "int8", "peers": [...]},
     "machine": machine.describe(), "attune": machine.program(), "versions": {peer: version},
     "cases": [{"name", "network", "framework", "shape", "precision", "standard",
                "compile": {"seconds", "kernels", "bytes": {...}} or {"status", "reason"},
                "runs": [{"threads", "engines": {engine: entry}, "profile": the program's or absent}]}]}

An entry has a status. "ran" comes with stats.summary(), the format of the model file, load_s (seconds until the first
inference is done) and, for peers, difference: the root mean square of the output minus Attune's, relative to Attune's,
and in the wide set, for Attune too, the same to torch's. "not applicable", "NS" (not supported), "missing" and "wrong"
come with a reason; "missing" is for engines that were supposed to run, and "wrong" for those that ran and computed
something else. Older runs, from before networks of integers, lack "int8" and "precision".
"""
from common import stats

PRODUCTS = {"conv", "conv_transpose", "matmul", "attention", "conv_integer", "matmul_integer"}  # operators


def is_wide(results):
    """Whether the networks are those of the wide set."""
    return results["settings"].get("wide", False)


def is_int8(results):
    """Whether the networks are of 8-bit integers."""
    return results["settings"].get("int8", False)


def ran(entry):
    return entry is not None and entry["status"] == "ran"


def latency(run, engine):
    """The least latency in ms, or None if the engine did not run."""
    entry = run["engines"].get(engine)
    return entry["min_ms"] if ran(entry) else None


def fastest_peer(run):
    """The name of the fastest peer, or None if no peer ran."""
    peers = [engine for engine in run["engines"] if engine != "attune" and latency(run, engine)]
    return min(peers, key=lambda engine: latency(run, engine), default=None)


def speed_ratio(run):
    """How many times as fast as the fastest peer Attune is, or None if one of the two did not run."""
    peer = fastest_peer(run)
    if peer is None or latency(run, "attune") is None:
        return None
    return latency(run, peer) / latency(run, "attune")


def integer_share(run):
    """The share of the multiply-adds that Attune does in integer kernels, or None if none were counted."""
    kernels = [kernel for kernel in run.get("profile", {}).get("kernels", [])
               if PRODUCTS.intersection(kernel["op"].split("+"))]
    everything = sum(kernel["flops"] for kernel in kernels)
    return sum(kernel["flops"] for kernel in kernels if kernel["integer"]) / everything if everything else None


def run_with(case, threads):
    """The case's run on this number of threads, or None."""
    return next((run for run in case["runs"] if run["threads"] == threads), None)


def runs_with(cases, threads):
    """(case, run) for the cases that ran on this number of threads."""
    pairs = ((case, run_with(case, threads)) for case in cases)
    return [(case, run) for case, run in pairs if run]


def mean_ratio(cases, threads):
    """The geometric mean of the speed ratios, or None if there are none."""
    ratios = [speed_ratio(run) for _, run in runs_with(cases, threads)]
    ratios = [ratio for ratio in ratios if ratio]
    return stats.geometric_mean(ratios) if ratios else None


def standard_and_variants(results):
    """The cases in two lists: standard ones and variants. If a run has only variants, the first list has them."""
    standard = [case for case in results["cases"] if case["standard"]]
    variants = [case for case in results["cases"] if not case["standard"]]
    return (standard, variants) if standard else (variants, [])


def missing(results):
    """(case, engine, reason) for engines that failed although they were supposed to run; once per case and engine."""
    found = {}
    for case in results["cases"]:
        for run in case["runs"]:
            for engine, entry in run["engines"].items():
                if entry["status"] in ("missing", "wrong"):
                    found.setdefault((case["name"], engine), entry["reason"])
    return [(name, engine, reason) for (name, engine), reason in found.items()]
