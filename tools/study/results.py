"""The document that the study writes, results.json, and the questions that reports ask it.

    {"date": ISO 8601, "command": "./do study ...",
     "settings": {"processors", "rounds", "seconds", "peers": [...],
                  "samples": {"source": photos or generated, "quantizing", "judged"}},
     "machine": machine.describe(), "attune": {**machine.program(), "sha256": of the program's file},
     "peer_versions": {peer: version}, "power": power.describe(),
     "networks": {name: {"artifacts": {"VERSION-bBATCH": entry}, "agreement": {version: entry},
                         "runs": {setup: {"setup": {...}, "contestants": {networks.key_of(): entry}}}}}}

An entry has a status: "NS" (not supported) and "missing" (it was supposed to work) come with a reason. An artifact that
is "made" has the fields of making.make(), agreement that "ran" those of agreement.compare(), and a contestant that
"ran" those of streams.summary() and bytes (of its artifact or model file).

Everything is written as soon as it is known, so that an interrupted run continues where it stopped. It must continue
with the same program, machine and settings.
"""
import datetime
import hashlib

from common import machine
from common.program import PROGRAM
from common.results import is_of_here
from study import networks, power, samples

EQUAL = ("settings", "peer_versions", "power")  # these must be equal in a run that continues


def document(rounds, seconds, peers, command):
    """A document without measurements."""
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "command": command,
        "settings": {"processors": machine.processors(), "rounds": rounds, "seconds": seconds, "peers": peers,
                     "samples": {"source": samples.source(), "quantizing": samples.QUANTIZING,
                                 "judged": samples.JUDGED}},
        "machine": machine.describe(),
        "attune": {**machine.program(), "sha256": hashlib.sha256(PROGRAM.read_bytes()).hexdigest()},
        "peer_versions": {peer: version for peer, version in machine.versions().items() if peer in peers},
        "power": power.describe(),
        "networks": {},
    }


def difference(found, wanted):
    """The names of the fields that keep a document from being continued here and now; empty if there are none. Programs
    are compared by their bytes: a commit that does not change them does not matter."""
    names = [name for name in EQUAL if found[name] != wanted[name]]
    same_program = found["attune"]["sha256"] == wanted["attune"]["sha256"]
    return names + ([] if same_program else ["attune"]) + ([] if is_of_here(found) else ["machine"])


def network_entry(results, name):
    """The network's results, created if they are missing."""
    return results["networks"].setdefault(name, {"artifacts": {}, "agreement": {}, "runs": {}})


def is_final(entry):
    """Whether another attempt cannot change the entry."""
    return entry is not None and entry["status"] != "missing"


def measured(results):
    """(network, its results) for the networks that have any, in the usual order."""
    return [(network, results["networks"][network.name]) for network in networks.NETWORKS
            if network.name in results["networks"]]


def artifact_key(version, batch):
    return f"{version}-b{batch}"


def run_of(own, setup, key):
    """The contestant's entry in a network's results if it ran; otherwise None."""
    entry = own["runs"].get(setup.name, {"contestants": {}})["contestants"].get(key)
    return entry if entry and entry["status"] == "ran" else None


def latency(own, setup, key):
    """The median latency in ms, or None."""
    entry = run_of(own, setup, key)
    return entry and entry["latency"]["median_ms"]


def per_second(own, setup, key):
    """Pictures per second, or None."""
    entry = run_of(own, setup, key)
    return entry and entry["per_second"]


def size(own, version):
    """The size of a version's artifact in bytes, or None."""
    return own["artifacts"].get(artifact_key(version, 1), {}).get("bytes")


def agreement(own, version, name):
    """top1, cosine or boxes_f1, or None."""
    return own["agreement"].get(version, {}).get(name)


def to_float(function, own, *arguments):
    """The value of a function such as size() or latency(), whose last argument is a version, as a multiple of the float
    version's; None if one of the two is not known."""
    value = function(own, *arguments)
    standard = function(own, *arguments[:-1], networks.FLOAT.name)
    return value / standard if value and standard else None


def reasons(results):
    """{(status, reason): {what: [titles of networks]}} for everything that did not work, without mere consequences."""
    found = {}
    for network, own in measured(results):
        entries = [*own["artifacts"].items(), *own["agreement"].items()]
        for run in own["runs"].values():
            entries += run["contestants"].items()
        for what, entry in entries:
            if entry["status"] in ("NS", "missing") and not entry.get("follows"):
                titles = found.setdefault((entry["status"], entry["reason"]), {}).setdefault(what, [])
                if network.title not in titles:
                    titles.append(network.title)
    return found


def missing(results):
    """(what, title of the network, reason) for everything that was supposed to work."""
    return [(what, title, reason) for (status, reason), found in reasons(results).items() if status == "missing"
            for what, titles in found.items() for title in titles]
