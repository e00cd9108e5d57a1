"""docs/study.md, made only from results.json."""
from common.engines import TITLES
from common.report.tables import markdown
from common.report.words import machine, milliseconds, plural, program_title
from study import networks
from study import results as ask
from study.networks import FLOAT, VERSIONS, busy_setups, quiet_setups

FIGURES = "study"  # the folder of the figures, beside the page
NONE = "–"
MOST_NAMES = 6  # of versions, after a reason


def page(results, charts):
    """The page's text. `charts`: the names of the figures."""
    parts = ["# What fewer bits cost and gain",
             f"*Made by `./do study --write-docs`, of measurements from {results['date'][:10]}: changes by hand get "
             "lost.*",
             """Networks in versions of fewer bits: throughput, latency, power, energy, size, and how often a version
says what the float version says.""",
             *figure(charts, "trade.svg", "Gain and agreement of the versions"), *method(results)]
    for network, own in ask.measured(results):
        parts += [f"## {network.title}", markdown(rows(results, network, own)), *facts(network, own)]
    lines = reasons(results)
    parts += [*figures(charts), *(["## What did not run", "\n".join(lines)] if lines else [])]
    return "\n\n".join(part for part in parts if part) + "\n"


def figure(charts, name, text):
    return [f"![{text}]({FIGURES}/{name})"] if name in charts else []


def figures(charts):
    shown = [part for name in charts if name != "trade.svg"
             for part in figure(charts, name, name.removesuffix(".svg").replace("-", " on threads: ").capitalize())]
    return ["## The versions beside the float version", *shown] if shown else []


VERSIONS_TEXT = """- *float*: as the network is, computed in float32.
- *weights in fp16*: rounded to 16 bits and stored so; kernels compute in float32 (`attune compile --weights fp16`).
- *bf16*: computed in bfloat16 but for layers that err too much (`attune compile --precision bf16`).
- *int8*: all convolutions and matrix products in 8-bit integers (`attune quantize --precision int8`).
- *mixed*: as int8, but for layers that cost too much (`attune quantize --precision auto --max-drop 1%`).
- *int8, 16 clusters*: the integers of a layer have 16 different values, which are stored as indices of 4 bits (`attune
  quantize --clusters 16`, then `attune compile --compact`)."""

COLUMNS_TEXT = """Sizes are those of artifacts. Latencies are medians, of one picture at a time, with the input and the
output in memory. A setup of *batch × streams × threads* runs that many processes (streams) at once, each on processors
of its own, each with inferences of that batch on that many threads; the time in which all of them ran counts. The
versions take turns of {seconds:g} s in {rounds}, so that a drift of the machine's speed hits all. For another batch a
version is quantized anew, by the same pictures."""

AGREEMENT_TEXT = """Agreement is with the float version, by {judged} pictures: in how many of them the likeliest class
is the same, and the mean cosine of the scores of all classes. Integers are chosen by {quantizing} others. {pictures}
The weights are random with a seed, so that the classes mean nothing and none of the versions is right. Agreement is
defined nevertheless, and harder to reach than with trained weights, which keep classes apart. For
the detector, a class has the score of its best box, and two boxes are the same if they have one class and overlap by
half or more."""

PICTURES = {"photos": "All are crops of photos, and no photo is among both.",
            "generated": "All are smooth noise, drawn by a seed."}


def method(results):
    settings = results["settings"]
    peers = [f"{TITLES[peer]} {results['peer_versions'].get(peer, '(missing)')}" for peer in settings["peers"]]
    beside = f" beside {', '.join(peers)}" if peers else ""
    return [
        "## What was measured",
        f"{program_title(results['attune'])}{beside}.",
        f"    {results['command']}",
        f"The machine: {machine(results['machine'])}.",
        VERSIONS_TEXT,
        COLUMNS_TEXT.format(seconds=settings["seconds"], rounds=plural(settings["rounds"], "round")),
        AGREEMENT_TEXT.format(judged=settings["samples"]["judged"], quantizing=settings["samples"]["quantizing"],
                              pictures=PICTURES[settings["samples"]["source"]]),
        power(results), peers_text(settings)]


def power(results):
    found, setup = results["power"], standard_setup(results)
    if found["status"] == "NS":
        return f"Power and energy are NS, not supported: {found['reason']}. They are not estimated."
    return (f"Power is that of the processor ({', '.join(found['zones'])}, by its own counters), idling and all else "
            f"that it does included, of {setup.title}; energy is what it uses for a picture. Those of the other setups "
            "are in results.json.")


def peers_text(settings):
    if not settings["peers"]:
        return ""
    return ("In int8, ONNX Runtime and OpenVINO run the model that `attune quantize` has written, LiteRT the output of "
            "TensorFlow's converter for the same network. Sizes of peers are those of the model files they read.")


def standard_setup(results):
    """One picture at a time on all processors: the table reports power for this setup."""
    return networks.Setup(1, 1, results["settings"]["processors"])


def rows(results, network, own):
    """A header and one row per version, those of peers too."""
    processors = results["settings"]["processors"]
    quiet, busy = quiet_setups(processors), busy_setups(processors)
    header = ["version", "MB", *(f"ms, {plural(setup.threads, 'thread')}" for setup in quiet),
              *(f"pictures/s, {setup.batch}×{setup.streams}×{setup.threads}" for setup in busy), "W", "J a picture",
              "equal classes", "cosine", *(["F1 of boxes"] if network.detects else [])]
    table = [header]
    for engine, version in networks.contestants(results["settings"]["peers"]):
        key = networks.key_of(engine, version)
        name = f"{TITLES[engine]}, {version}" if engine else networks.version_named(version).title
        table.append([name, megabytes(own, engine, version, quiet[0]),
                      *(cell(own, setup, key, ask.latency, milliseconds) for setup in quiet),
                      *(cell(own, setup, key, ask.per_second, "{:.1f}".format) for setup in busy),
                      *energy(results, own, key), *agreement(network, own, engine, version)])
    return table


def state(entry):
    """The status if it is NS or missing, otherwise a dash."""
    return entry["status"] if entry and entry["status"] in ("NS", "missing") else NONE


def cell(own, setup, key, function, text):
    value = function(own, setup, key)
    if value is not None:
        return text(value)
    return state(own["runs"].get(setup.name, {"contestants": {}})["contestants"].get(key))


def megabytes(own, engine, version, setup):
    if engine is None:
        entry = own["artifacts"].get(ask.artifact_key(version, 1))
        return f"{1e-6 * entry['bytes']:.1f}" if entry and entry["status"] == "made" else state(entry)
    entry = ask.run_of(own, setup, networks.key_of(engine, version))
    return f"{1e-6 * entry['bytes']:.1f}" if entry else NONE


def energy(results, own, key):
    """Watts and joules, or NS if nothing measures them."""
    if results["power"]["status"] == "NS":
        return ["NS", "NS"]
    entry = ask.run_of(own, standard_setup(results), key)
    return [f"{entry['watts']:.1f}", f"{entry['joules']:.3g}"] if entry and "watts" in entry else [NONE, NONE]


def agreement(network, own, engine, version):
    names = ["top1", "cosine", *(["boxes_f1"] if network.detects else [])]
    if engine or version == FLOAT.name:  # the others are compared with the float version
        return [NONE] * len(names)
    entry = own["agreement"].get(version)
    if not entry or entry["status"] != "ran":
        return [state(entry)] * len(names)
    return [f"{entry[name]:.5f}" if name == "cosine" else f"{100 * entry[name]:.1f} %" for name in names]


def facts(network, own):
    """The layers of each version by precision, and how many boxes there were to detect."""
    lines = []
    for version in VERSIONS:
        layers = own["artifacts"].get(ask.artifact_key(version.name, 1), {}).get("layers")
        if layers:
            lines.append(f"- {version.title}: " + ", ".join(f"{plural(count, 'layer')} in {precision}"
                                                            for precision, count in sorted(layers.items())))
    expected = next((entry["expected_boxes"] for entry in own["agreement"].values() if "expected_boxes" in entry), None)
    if network.detects and expected is not None:
        lines.append(f"- boxes that the float version finds in all pictures together: {expected}")
    return ["\n".join(lines)] if lines else []


def reasons(results):
    """One line for each reason why something was not measured."""
    lines = []
    for (status, reason), found in ask.reasons(results).items():
        titles = list(dict.fromkeys(title for own in found.values() for title in own))
        what = ", ".join(found) if len(found) <= MOST_NAMES else f"{len(found)} versions"
        lines.append(f"- {status}: {reason.splitlines()[-1]} ({what}; {', '.join(titles)})")
    return lines
