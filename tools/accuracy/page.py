"""docs/quantization.md, made only from the documents of the networks."""
from accuracy import results as ask
from accuracy.networks import NETWORKS
from accuracy.quantizers import FLOAT, TOOLS
from common.agreement.metrics import Cosine
from common.report.tables import markdown
from common.report.words import machine, plural, program_text

NUMBERS = "quantization"  # the folder of the documents, in results/
NONE = "–"
ATTUNE = ("attune-int8", "attune-auto")
PRECISIONS = {"int8": "int8", "bf16": "bf16", FLOAT: "fp32"}  # and their names for people

METHOD = """The float network is right by definition: the question is what quantization changes, not what a photo
shows. It is the network as Attune compiles it in fp32, which the tests hold against LiteRT and ONNX Runtime. Quantized
networks run compiled too, each in the engine that it is for, and both see each sample.

- **Equal classes** is the share of samples with the same most likely class. A classifier that hesitates between two may
  change its mind for nothing, and crops of photos are harder than whole photos.
- **Mean IoU** is the intersection over union of each class's pixels, in all samples together, and the mean over the
  classes that either network sees anywhere.
- **F1 of boxes** takes what is left above the network's usual score after non-maximum suppression, and counts two
  boxes as one where their class is the same and they overlap by half or more.
- **Cosine** is of the outputs, of sentences of the mean over their tokens; the mean over the samples.

The relative error is that of all outputs as they leave the network: the root mean square of the difference by that of
the float network's, the mean over the samples."""

DATA = """Data is drawn by a seed, and is the same on every machine: crops of photos, of another place and size each,
some mirrored; windows of recordings of another place, speed, loudness and noise each, as MLPerf Tiny's features; texts
of phrases and of ImageNet's names for things. The samples that judge a network come from other photos, other recordings
or other halves of them, and other phrases and names than those that calibrate it. It is not
the data that these networks were made for, so the numbers say how tools compare, and not how well a network does its
work. MLPerf Tiny's own int8 models were calibrated on the data that they were trained for: here that is no
advantage."""

TOOL_NOTES = """Attune is `attune quantize` with `--precision int8`, and with
`--precision auto`, which leaves layers in bf16 or fp32 that cost too much or gain no time, as measured on half of the
samples that it is given. No more than 1 % shall be lost; other photos lose more than those that layers were chosen by,
so it is asked for less (`--max-drop`) of the metric of the table (`--agreement`): for 0.3 % of classes, which depend on
how many photos a network hesitates at, 0.5 % of cosines and 0.8 % of the mean IoU. For detectors it measures the error
of their outputs, of which 0.1 % may be lost: a box that is almost none is lost by less. ONNX Runtime is its `quantize_static` with the same samples, all
of which calibrate: `QuantizeLinear` and `DequantizeLinear` pairs, u8 activations with the range that occurred, i8
weights with a scale for each channel, after its own preparation of the model. Networks of TensorFlow Lite are
converted for it by tf2onnx, and the conversion is checked. LiteRT is the quantized network that was published, where
there is one."""


def page(documents):
    """Returns the page's text. `documents`: by network."""
    parts = ["# What quantization costs", "*Made by `./do accuracy --write-docs`: changes by hand get lost.*",
             f"How far networks in integers agree with the float networks that they come from. "
             "[How Attune quantizes](decisions/quantization.md); the numbers are in "
             f"[results/{NUMBERS}](../results/{NUMBERS}).",
             markdown(score_rows(documents)), notes(documents),
             "## Relative error", markdown(error_rows(documents)),
             "## How much is in integers",
             "Shares of the multiply-adds of layers, which are convolutions and matrix products with constant weights.",
             markdown(share_rows(documents)), *reasons(documents),
             "## What was measured", TOOL_NOTES, METHOD, DATA, provenance(documents)]
    return "\n\n".join(part for part in parts if part) + "\n"


def score(entry):
    """98.6 %, or 0.9987 for a cosine."""
    if entry is None:
        return NONE
    if entry["status"] == "NS":
        return "NS"
    return f"{entry['score']:.4f}" if entry["metric"] == Cosine.name else f"{100 * entry['score']:.1f} %"


def metric(one):
    """The metric that judges a network, with the number of things counted: F1 of 812 boxes."""
    found = ask.entries(one)
    if not found:
        return NONE
    name = found[0]["metric"]
    if "boxes" in found[0]:
        return f"F1 of {found[0]['boxes']} boxes"
    if "classes" in found[0]:
        return f"{name} of {found[0]['classes']} classes"
    return name


def score_rows(documents):
    """A header and one row per network: its agreement with the float network by each tool."""
    rows = [["network", "agreement by", "calibrated on, judged by", *(tool.title for tool in TOOLS.values())]]
    for network, one in documents.items():
        samples = f"{one['settings']['calibration']}, {one['settings']['judging']} {NETWORKS[network].data}"
        rows.append([NETWORKS[network].title, metric(one), samples,
                     *(score(ask.entry(one, tool)) for tool in TOOLS)])
    return rows


def notes(documents):
    """Notes on LiteRT's networks: the origin of each or why there is none, one line per note."""
    found = {}
    for network, one in documents.items():
        entry = ask.entry(one, "litert")
        if entry:
            said = f"LiteRT's is {NETWORKS[network].litert_note}" if ask.ran(entry) else f"NS, not supported: {entry['reason']}"
            found.setdefault(said, []).append(NETWORKS[network].title)
    return "\n".join(f"- {', '.join(titles)}: {said}" for said, titles in found.items())


def error_rows(documents):
    rows = [["network", *(tool.title for tool in TOOLS.values())]]
    for network, one in documents.items():
        found = [ask.entry(one, tool) for tool in TOOLS]
        rows.append([NETWORKS[network].title,
                     *(f"{entry['relative_error']:.3f}" if ask.ran(entry) else score(entry) for entry in found)])
    return rows


def share_rows(documents):
    """A header and one row for each network and precision quantized with Attune."""
    rows = [["network", "precision", *PRECISIONS.values(), "layers", "weights, MB", "of fp32's"]]
    for network, one in documents.items():
        for tool in filter(lambda tool: ask.ran(ask.entry(one, tool)), ATTUNE):
            entry = ask.entry(one, tool)
            rows.append([NETWORKS[network].title, tool.removeprefix("attune-"),
                         *(percent(entry["shares"].get(precision, 0)) for precision in PRECISIONS),
                         str(entry["layers"]), f"{1e-6 * entry['bytes']:.2f}", f"{1e-6 * entry['float_bytes']:.2f}"])
    return rows


def percent(share):
    return f"{100 * share:.1f} %" if share else NONE


def reasons(documents):
    """The layers in fp32 and their measurements, for networks with much in fp32 after mixed precision."""
    parts = []
    for network, one in documents.items():
        entry = ask.entry(one, "attune-auto")
        if ask.needs_reasons(entry):
            parts += [f"### {NETWORKS[network].title}",
                      f"Less than fp32: {percent(ask.below_float(entry))} of the multiply-adds, on a budget of "
                      f"{NETWORKS[network].metric().max_drop} of the agreement, as measured on "
                      f"{plural(entry['own_samples'], 'sample')}.",
                      *float_layers(entry)]
    if not parts:
        return []
    return ["## Why layers stay in fp32",
            f"The networks of which mixed precision has less than {100 * ask.LEAST_SHARE:.0f} % of the multiply-adds "
            "in int8 or bf16, with what was measured of each layer.", *parts]


def float_layers(entry):
    """The table of an entry's layers in fp32, and the number of those too small for it."""
    listed, left = entry["floats"], entry["small_floats"]
    rows = [["layer", "of the multiply-adds", "why it is in fp32"],
            *([f"`{layer['layer']}`", percent(layer["share"]), layer["reason"] or NONE] for layer in listed)]
    rest = f"And {plural(left, 'layer')} with less than {100 * ask.LEAST_LISTED:g} % each." if left else ""
    return [markdown(rows) if listed else "", rest]


def provenance(documents):
    """The command, and for each machine its networks, dates and versions."""
    groups = {}
    for network, one in documents.items():
        groups.setdefault(machine(one["machine"]), {})[network] = one
    parts = ["    ./do accuracy --write-docs"]
    for described, own in groups.items():
        found = [entry for one in own.values() for entry in ask.entries(one)]
        dates = sorted({entry["date"][:10] for entry in found}) or [NONE]
        when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
        attune = ", ".join({program_text(entry["attune"]): None for entry in found})
        peers = {f"{TOOLS[entry['tool']].title} {entry['version']}": None for entry in found if "version" in entry}
        names = ", ".join(NETWORKS[network].title for network in own)
        parts.append(f"{names}: {when}, on {described}; {', '.join([f'Attune {attune}', *peers])}.")
    return "\n\n".join(parts)
