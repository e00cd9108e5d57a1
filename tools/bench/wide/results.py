"""The record of a run over the wide set: results.json as in ../results.py, which a later run continues.

A case has two more keys: "key", the digest of what its network is made of, and "attune", the program that it was
measured with. If the network could not be exported, "export" is the reason and there are no runs. No engine is known to
support a network of this set, so an engine that fails is "NS" with its reason, never "missing".
"""
from bench.measure import document
from bench.results import ran
from bench.wide.digest import digest
from bench.wide.networks import ensure
from common import machine
from common.program import Failed


def begun(old, lab, threads, command, names):
    """The document to continue: the old one (or None), reduced to the networks that the set still has (`names`). Raises
    ValueError if it has other settings."""
    fresh = document(lab, threads, command)
    fresh["settings"]["wide"] = True
    if old is None:
        return fresh
    if old["settings"] != fresh["settings"]:
        raise ValueError("these results were measured with other settings; --again begins anew")
    old["cases"] = [case for case in old["cases"] if case["name"] in names]
    return old


def is_done(cases, network):
    """Whether there is a record of the network as it is now."""
    return cases.get(network.name, {}).get("key") == digest(network)


def measure(lab, networks, anew, results, save, progress):
    """Measures the networks that the document `results` lacks, or all of them if `anew`. `save` receives the document
    after each one."""
    cases = {case["name"]: case for case in results["cases"]}
    for index, network in enumerate(networks):
        if is_done(cases, network) and not anew:
            continue
        progress(f"{network.name}, {index + 1} of {len(networks)}")
        cases[network.name] = record(lab, network, results["settings"]["threads"])
        results["cases"] = list(cases.values())
        save(results)


def record(lab, network, threads):
    """The network's case."""
    case = {"name": network.name, "network": network.name, "framework": network.framework, "standard": True,
            "precision": network.precision}
    try:
        ensure(network)
    except Failed as error:
        case |= {"shape": None, "compile": unsupported(str(error)), "export": str(error), "runs": []}
    else:
        case |= lab.measure(network, threads, lambda line: None)
        for run in case["runs"]:
            run["engines"] = {name: entry if ran(entry) or entry["status"] == "wrong" else unsupported(entry["reason"])
                              for name, entry in run["engines"].items()}
    return {**case, "key": digest(network), "attune": machine.program()}


def unsupported(reason):
    """The entry with the first line of an engine's reason. In Attune's reason, the command comes before that."""
    lines = reason.splitlines()
    return {"status": "NS", "reason": lines[1] if len(lines) > 1 and lines[0].startswith("attune ") else lines[0]}
