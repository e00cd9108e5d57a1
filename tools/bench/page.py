"""The page of a run on networks of floats or of integers, made only from results.json."""
from bench import report
from bench import results as ask
from common.engines import TITLES
from common.report.tables import bold, markdown
from common.report.words import machine, plural, program_title

LEAST_SHARE = 0.03  # of a network's time: larger kernels are listed


def page(results, charts, name):
    """The text of the page `name`. `charts`: the names of the figures, which are in a folder of that name."""
    charts = {chart: f"{name}/{chart}" for chart in charts}
    cases, variants = ask.standard_and_variants(results)
    parts = [*introduction(results, cases, charts), *method(results)]
    parts += ["## Latency", *latencies(results, cases, charts)]
    if variants:
        parts += ["## Other widths, sizes and batches",
                  *figure(charts, "speed-variants.svg", "Attune against the fastest peer of each variant"),
                  *latencies(results, variants, [])]
    parts += ["\n".join(report.reasons(results)), *loading(results, cases), *kernels(results, cases, charts)]
    return "\n\n".join(part for part in parts if part) + "\n"


def figure(charts, name, text):
    return [f"![{text}]({charts[name]})"] if name in charts else []


def introduction(results, cases, charts):
    means = [(threads, ask.mean_ratio(cases, threads)) for threads in results["settings"]["threads"]]
    ratios = [f"**{mean:.2f}** times as fast on {plural(threads, 'thread')}" for threads, mean in means if mean]
    summary = (f"Attune against the fastest peer of each network: {' and '.join(ratios)}, the geometric means over "
               f"{plural(len(cases), 'network')}.") if ratios else ""
    title, flag = ("Performance in 8-bit integers", " --int8") if ask.is_int8(results) else ("Performance", "")
    return [f"# {title}",
            f"*Made by `./do bench{flag} --write-docs`, of measurements from {results['date'][:10]}: changes by hand "
            "get lost.*",
            summary, *figure(charts, "speed.svg", "Attune against the fastest peer of each network")]


def method(results):
    settings = results["settings"]
    peers = [f"{TITLES[peer]} {results['versions'].get(peer, '(missing)')}" for peer in settings["peers"]]
    against = f" beside {', '.join(peers)}" if peers else ""
    arithmetic = ("All run networks of 8-bit integers, in what arithmetic they like." if ask.is_int8(results) else
                  "Engines that can compute in bfloat16 may; the others compute in float32." if settings["bf16"] else
                  "All compute in float32.")
    return [
        "## What was measured",
        f"{program_title(results['attune'])}{against}. {arithmetic}",
        f"    {results['command']}",
        f"The machine: {machine(results['machine'])}.",
        SOURCES_OF_INTEGERS if ask.is_int8(results) else SOURCES,
        f"""The engines take turns of {settings['seconds']:g} s in {plural(settings['rounds'], 'round')}, each in a
process of its own. A number is the least latency of one inference in ms, with the input and the output in memory. A
name says what a variant differs in: `w0.75` is the width of all layers, `192px` the side of the image, `b8` the
batch."""]


SOURCES = """The networks come from torchvision, transformers and Keras with random weights, which are as fast as
trained ones. Attune and ONNX Runtime read ONNX, LiteRT reads TensorFlow Lite, OpenVINO reads TensorFlow Lite where
Keras exports it and else ONNX, and ncnn and MNN read what their converters make. Each peer's output is compared with
Attune's for one input."""

SOURCES_OF_INTEGERS = """resnet50 and mobilenet_v2 come from torchvision and are quantized by ONNX Runtime, as pairs of
QuantizeLinear and DequantizeLinear in ONNX with a scale for each channel of the weights; resnet50v2 and tf_mobilenetv2
come from Keras and are quantized by TensorFlow's converter, as TensorFlow Lite. Their weights are random, and their
ranges come from four samples of noise: as fast as trained ones. ssd_mobilenet_v1 is a trained detector whose
quantization was a part of the training. All engines get the same file, where they read it. Each peer's output is
compared with Attune's for one input, but for the detector's, which are lists in an order that the least difference
changes. Without an instruction that adds products of bytes in 32 bits (VNNI), ONNX Runtime and oneDNN add two of them
in 16, where 255 · 127 + 255 · 127 becomes 32,767 and not 64,770; Attune's sums are exact on every processor. The last
column of the tables is the share of the multiply-adds that Attune does in kernels of integers, by
`attune profile`. Measurements in floats are on [another page](../performance.md)."""


def latencies(results, cases, charts):
    parts = []
    for threads in results["settings"]["threads"]:
        title = f"On {plural(threads, 'thread')}"
        parts += [f"### {title}", *figure(charts, f"latency-{threads}.svg", f"Latency {title.lower()}"),
                  markdown(report.latency_rows(results, cases, threads, bold))]
    return parts


def loading(results, cases):
    threads = results["settings"]["threads"][0]
    return ["## Time to the first result",
            f"""Seconds from the model file to the first inference's result on {plural(threads, 'thread')}. Attune
compiles once, ahead of time; its time to the first result contains the start of its program, which that of the peers,
libraries that are loaded already, does not.""",
            markdown(report.load_rows(results, cases, threads))]


def kernels(results, cases, charts):
    threads = results["settings"]["threads"][0]
    profiles = [(case, run["profile"]) for case, run in ask.runs_with(cases, threads) if "profile" in run]
    if not profiles:
        return []
    parts = ["## Where the time goes",
             """A kernel's roofline is the longer of two times: its operations at the processor's measured peak, with
operands from L1 ([why](../decisions/peaks.md)), and its bytes at the measured bandwidth of where they
lie, which is memory, or a cache for a kernel that moves them faster than memory can. The longer one is what it is bound
by. Operations are counted as the operator defines them, so that an algorithm that needs fewer, as Winograd's
convolution, stands above the roof; a function such as exp counts as what its approximation adds and multiplies. Bytes
are the least that must move."""]
    for count in results["settings"]["threads"]:
        parts += figure(charts, f"roofline-{count}.svg", f"Roofline on {plural(count, 'thread')}")
    parts.append(f"Kernels that take more than {100 * LEAST_SHARE:g} % of a network's time on "
                 f"{plural(threads, 'thread')}. Time ÷ roofline's is 1 at the roof; what is above 1 could be gained.")
    for case, profile in profiles:
        peak = profile["peak"]
        integers = f" ({peak['int8_gops_per_core']:.0f} of integers)" if ask.is_int8(results) else ""
        parts += [f"### {case['name']}",
                  f"{profile['ms']:.2f} ms for {profile['gflop']:.2f} GFLOP in "
                  f"{plural(len(profile['kernels']), 'kernel')}; measured peaks of a core: "
                  f"{peak['gflops_per_core']:.0f} GFLOP/s{integers}, {peak['l2_gb_per_s']:.0f} GB/s from L2, "
                  f"{peak['l3_gb_per_s']:.0f} from L3 and {peak['memory_gb_per_s']:.0f} from memory.",
                  markdown(report.kernel_rows(profile, LEAST_SHARE))]
    return parts
