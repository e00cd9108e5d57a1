"""docs/performance.md, made of results.json and of nothing else."""
from bench import report
from bench import results as ask
from bench.results import TITLES, plural

FIGURES = "performance"  # the folder of the figures, beside the page
LEAST_SHARE = 0.03  # of a network's time: kernels that take more are listed


def page(results, charts):
    """The page's text. `charts` are the names of the figures that there are."""
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
    return [f"![{text}]({FIGURES}/{name})"] if name in charts else []


def introduction(results, cases, charts):
    means = [(threads, ask.mean_ratio(cases, threads)) for threads in results["settings"]["threads"]]
    ratios = [f"**{mean:.2f}** times as fast on {plural(threads, 'thread')}" for threads, mean in means if mean]
    summary = (f"Attune against the fastest peer of each network: {' and '.join(ratios)}, the geometric means over "
               f"{plural(len(cases), 'network')}.") if ratios else ""
    return ["# Performance",
            f"*Made by `./do bench --write-docs`, of measurements from {results['date'][:10]}: changes by hand get "
            "lost.*",
            summary, *figure(charts, "speed.svg", "Attune against the fastest peer of each network")]


def method(results):
    settings, program = results["settings"], results["attune"]
    changed = ", with changes" if program["modified"] else ""
    commit = f" (commit {program['commit'][:12]}{changed})" if program["commit"] else ""
    peers = [f"{TITLES[peer]} {results['versions'].get(peer, '(missing)')}" for peer in settings["peers"]]
    against = f" beside {', '.join(peers)}" if peers else ""
    arithmetic = ("Engines that can compute in bfloat16 may; the others compute in float32."
                  if settings["bf16"] else "All compute in float32.")
    return [
        "## What was measured",
        f"Attune {program['version']}{commit}{against}. {arithmetic}",
        f"    {results['command']}",
        f"The machine: {machine(results['machine'])}.",
        """The networks come from torchvision, transformers and Keras with random weights, which are as fast as trained
ones. Attune and ONNX Runtime read ONNX, LiteRT reads TensorFlow Lite, OpenVINO reads TensorFlow Lite where Keras
exports it and else ONNX, and ncnn and MNN read what their converters make. Each peer's output is compared with Attune's
for one input.""",
        f"""The engines take turns of {settings['seconds']:g} s in {plural(settings['rounds'], 'round')}, each in a
process of its own. A number is the least latency of one inference in ms, with the input and the output in memory. A
name says what a variant differs in: `w0.75` is the width of all layers, `192px` the side of the image, `b8` the
batch."""]


def machine(described):
    """The machine in a line."""
    def size(count):
        return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count >> 10} KiB"
    caches = [f"L{cache['level']} {size(cache['bytes'])} for {plural(cache['processors'], 'core')}"
              for cache in described["caches"] if cache["type"] != "instruction"]
    return (f"{plural(described['processors'], 'core')} of {described['cpu']} (family {described['cpu_family']}, model "
            f"{described['cpu_model']}; {', '.join(described['instructions'])}), {', '.join(caches)}, "
            f"{described['memory_bytes'] / 2**30:.0f} GiB of memory, {described['system']}")


def latencies(results, cases, charts):
    parts = []
    for threads in results["settings"]["threads"]:
        title = f"On {plural(threads, 'thread')}"
        parts += [f"### {title}", *figure(charts, f"latency-{threads}.svg", f"Latency {title.lower()}"),
                  report.markdown(report.latency_rows(results, cases, threads, report.bold))]
    return parts


def loading(results, cases):
    threads = results["settings"]["threads"][0]
    return ["## Time to the first result",
            f"""Seconds from the model file to the first inference's result on {plural(threads, 'thread')}. Attune
compiles once, ahead of time; its time to the first result contains the start of its program, which that of the peers,
libraries that are loaded already, does not.""",
            report.markdown(report.load_rows(results, cases, threads))]


def kernels(results, cases, charts):
    threads = results["settings"]["threads"][0]
    profiles = [(case, run["profile"]) for case, run in ask.runs_with(cases, threads) if "profile" in run]
    if not profiles:
        return []
    parts = ["## Where the time goes",
             """A kernel's roofline is the longer of two times: its operations at the processor's measured peak, and its
bytes at the measured bandwidth of where they lie, which is memory, or a cache for a kernel that moves them faster than
memory can. The longer one is what it is bound by. Operations are counted as the operator defines them, so that an
algorithm that needs fewer, as Winograd's convolution, stands above the roof; bytes are the least that must move."""]
    for count in results["settings"]["threads"]:
        parts += figure(charts, f"roofline-{count}.svg", f"Roofline on {plural(count, 'thread')}")
    parts.append(f"Kernels that take more than {100 * LEAST_SHARE:g} % of a network's time on "
                 f"{plural(threads, 'thread')}. Time ÷ roofline's is 1 at the roof; what is above 1 could be gained.")
    for case, profile in profiles:
        peak = profile["peak"]
        parts += [f"### {case['name']}",
                  f"{profile['ms']:.2f} ms for {profile['gflop']:.2f} GFLOP in "
                  f"{plural(len(profile['kernels']), 'kernel')}; measured peaks of a core: {peak['gflops_per_core']:.0f} "
                  f"GFLOP/s, {peak['l2_gb_per_s']:.0f} GB/s from L2, {peak['l3_gb_per_s']:.0f} from L3 and "
                  f"{peak['memory_gb_per_s']:.0f} from memory.",
                  report.markdown(report.kernel_rows(profile, LEAST_SHARE))]
    return parts
