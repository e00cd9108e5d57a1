"""The document that a run writes, results.json, and the part of it that is published.

    {"machine": machine.describe(), "settings": {"calibration", "judging": samples},
     "entries": {"network tool": entry}}

An entry has the network and the tool, the date (ISO 8601), the program (machine.program()), the version of the engine
if it is a peer's, what it took (wall_s) and a status. "NS" (not supported) comes with a reason. "ran" comes with the
metric's name and its score, relative_error (the mean over samples of the root mean square of the difference of all
outputs, relative to that of the float network's outputs), and the number that the metric counted: classes or boxes of
the float network. Attune's entries also have quantizers.facts() of its report.

results/quantization has a document for each published network, NETWORK.json, with only that network and only the parts
of its entries that the page shows. Each of these may come from another machine; results.json comes from one.
"""
from accuracy.networks import NETWORKS
from accuracy.quantizers import FLOAT, TOOLS
from common import machine
from common.results import is_of_here, load, rounded, write

CPU = ("cpu", "cpu_family", "cpu_model")  # results must agree on these; more processors are only faster
# The fields of an entry that the page shows. It shows measurements of layers if mixed precision leaves much in fp32.
SHOWN = ("network", "tool", "date", "attune", "version", "status", "reason", "metric", "score", "relative_error",
         "boxes", "classes", "shares", "layers", "bytes", "float_bytes")
LEAST_LISTED = 0.01  # of a network's multiply-adds: smaller layers are counted, not listed
LEAST_SHARE = 0.8  # of multiply-adds below fp32: with less in mixed precision, the page says why


def key(network, tool):
    return f"{network} {tool}"


def document(settings):
    """A document without measurements."""
    return {"machine": machine.describe(), "settings": settings, "entries": {}}


def read(path, settings):
    """The document in this file, or a new one. Raises ValueError with a sentence for the user."""
    if not path.exists():
        return document(settings)
    found = load(path)
    if not is_of_here(found, CPU):
        raise ValueError(f"{path} is of another machine; name another folder with --output")
    if found["settings"] != settings:
        raise ValueError(f"{path} has other numbers of samples; name another folder with --output")
    return found


def split(results):
    """{network: the part of the document that the page shows}, in the order of the table of networks."""
    documents = {}
    for network in NETWORKS:
        own = {name: shown(entry) for name, entry in results["entries"].items() if entry["network"] == network}
        if own:
            documents[network] = {**results, "entries": own}
    return documents


def shown(found):
    """The part of an entry that the page shows. For layers in fp32: the listed ones, and how many others."""
    kept = {name: found[name] for name in SHOWN if name in found}
    if found["tool"] == "attune-auto" and needs_reasons(found):
        floats = [layer for layer in found["floats"] if layer["precision"] == FLOAT]
        listed = [layer for layer in floats if layer["share"] >= LEAST_LISTED]
        kept |= {"own_samples": found["own_samples"], "floats": listed, "small_floats": len(floats) - len(listed)}
    return rounded(kept)


def publish(documents, folder):
    """Writes the documents into the folder, in place of its old ones for these networks."""
    for network, one in documents.items():
        write(folder / f"{network}.json", one)


def published(folder):
    """{network: document} for those in the folder, in the order of the table of networks. Raises ValueError."""
    return {network: load(folder / f"{network}.json") for network in NETWORKS
            if (folder / f"{network}.json").exists()}


def entry(one, tool):
    """The entry for this tool in a document of one network, or None."""
    return next((found for found in one["entries"].values() if found["tool"] == tool), None)


def ran(found):
    return found is not None and found["status"] == "ran"


def entries(one):
    """The entries that ran, in the order of the table of tools."""
    return [found for found in (entry(one, tool) for tool in TOOLS) if ran(found)]


def below_float(found):
    """The share of multiply-adds in a precision below fp32."""
    return 1 - found["shares"][FLOAT]


def needs_reasons(found):
    """Whether an entry with mixed precision leaves so much in fp32 that the page says why."""
    return ran(found) and below_float(found) < LEAST_SHARE
