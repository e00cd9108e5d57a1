"""The document that a run writes, results.json, and what is published of it.

    {"machine": machine.describe(), "settings": {"calibration", "judging": samples},
     "entries": {"network tool": entry}}

An entry has the network and the tool, the date (ISO 8601), the program (machine.program()), the version of the engine
if it is a peer's, what it took (wall_s) and a status. "NS" (not supported) comes with a reason. "ran" comes with the
metric's name and its score, relative_error (the mean over samples of the root mean square of the difference of all
outputs, relative to that of the float network's), and what the metric counted: classes or boxes of the float network.
Attune's entries have what quantizers.facts() keeps of its report.

In results/quantization lies a document for each network that is published, NETWORK.json, with that alone, and of its
entries only what the page shows. Each of these may be of another machine; a document for work is of one.
"""
from accuracy.networks import NETWORKS
from accuracy.quantizers import FLOAT, TOOLS
from common import machine
from common.results import is_of_here, load, rounded, write

CPU = ("cpu", "cpu_family", "cpu_model")  # what results must agree on; more processors are only faster
# What the page shows of an entry. What was measured of layers, it shows where mixed precision leaves much in fp32.
SHOWN = ("network", "tool", "date", "attune", "version", "status", "reason", "metric", "score", "relative_error",
         "boxes", "classes", "shares", "layers", "bytes", "float_bytes")
LEAST_LISTED = 0.01  # of a network's multiply-adds: layers that have less are counted, and not listed
LEAST_SHARE = 0.8  # of multiply-adds below fp32: where mixed precision leaves less, the page says why


def key(network, tool):
    return f"{network} {tool}"


def document(settings):
    """Without anything measured."""
    return {"machine": machine.describe(), "settings": settings, "entries": {}}


def read(path, settings):
    """The document of this file, or a new one. Raises ValueError with a sentence for the user."""
    if not path.exists():
        return document(settings)
    found = load(path)
    if not is_of_here(found, CPU):
        raise ValueError(f"{path} is of another machine; name another folder with --output")
    if found["settings"] != settings:
        raise ValueError(f"{path} has other numbers of samples; name another folder with --output")
    return found


def split(results):
    """{network: what the page shows of it}, in the order of the table of networks."""
    documents = {}
    for network in NETWORKS:
        own = {name: shown(entry) for name, entry in results["entries"].items() if entry["network"] == network}
        if own:
            documents[network] = {**results, "entries": own}
    return documents


def shown(found):
    """What the page shows of an entry. Its layers in fp32 are those that are listed, and the number of the others."""
    kept = {name: found[name] for name in SHOWN if name in found}
    if found["tool"] == "attune-auto" and needs_reasons(found):
        floats = [layer for layer in found["floats"] if layer["precision"] == FLOAT]
        listed = [layer for layer in floats if layer["share"] >= LEAST_LISTED]
        kept |= {"own_samples": found["own_samples"], "floats": listed, "small_floats": len(floats) - len(listed)}
    return rounded(kept)


def publish(documents, folder):
    """Puts them into the place of those that the folder has of these networks."""
    for network, one in documents.items():
        write(folder / f"{network}.json", one)


def published(folder):
    """{network: document} that the folder has, in the order of the table of networks. Raises ValueError."""
    return {network: load(folder / f"{network}.json") for network in NETWORKS
            if (folder / f"{network}.json").exists()}


def entry(one, tool):
    """A document's entry of this tool, or None. The document is of one network."""
    return next((found for found in one["entries"].values() if found["tool"] == tool), None)


def ran(found):
    return found is not None and found["status"] == "ran"


def entries(one):
    """Those that ran, in the order of the table of tools."""
    return [found for found in (entry(one, tool) for tool in TOOLS) if ran(found)]


def below_float(found):
    """The share of multiply-adds in less than fp32."""
    return 1 - found["shares"][FLOAT]


def needs_reasons(found):
    """Whether an entry of mixed precision leaves so much in fp32 that the page says why."""
    return ran(found) and below_float(found) < LEAST_SHARE
