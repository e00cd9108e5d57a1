"""The page of a run on the wide set, made only from results.json."""
from bench import report
from bench import results as ask
from common.engines import TITLES
from common.report.tables import bold, markdown, plain
from common.report.words import machine, milliseconds, plural
from common.stats import geometric_mean

MOST_KERNELS = 3  # that are listed for each network


def page(results):
    """The page's text."""
    parts = introduction(results)
    for threads in results["settings"]["threads"]:
        parts += [f"## On {plural(threads, 'thread')}", markdown(rows(results, threads, bold)),
                  *behind(results, threads)]
    parts += not_measured(results)
    return "\n\n".join(part for part in parts if part) + "\n"


def introduction(results):
    settings = results["settings"]
    peers = [f"{TITLES[peer]} {results['versions'].get(peer, '(missing)')}" for peer in settings["peers"]]
    commits = sorted({commit_of(case["attune"]) for case in results["cases"]})
    return [
        "# Performance on the wide set",
        f"*Made by `./do bench --wide --write-docs`, of measurements from {results['date'][:10]}: changes by hand get "
        "lost.*",
        *(summary(results, threads) for threads in settings["threads"]),
        f"""{plural(len(results['cases']), 'network')} outside the tuned suite, from torchvision, from transformers and
written by hand, with random weights and dimensions that are cut down where one inference would take long
([the list](../../tools/bench/wide/table.py)). They reveal problems that well-known networks hide: operators and shapes that
are rare, and kernels that are far from their roofline.""",
        f"Attune (commit {', '.join(commits)}) beside {', '.join(peers)}, all in float32 but for networks whose "
        "weights are integers. All read the same ONNX files, and each output is compared with torch's, or with "
        "Attune's where quantization makes another network.",
        f"    {results['command']}",
        f"The machine: {machine(results['machine'])}.",
        f"The engines take turns of {settings['seconds']:g} s in {plural(settings['rounds'], 'round')}, each in a "
        "process of its own. A number is the least latency of one inference in ms."]


def commit_of(program):
    return (program["commit"] or "unknown")[:12] + (", with changes" if program["modified"] else "")


def ratios(results, threads):
    """(ratio, case, run) for networks that Attune and a peer ran, the least ratio first."""
    found = ((ask.speed_ratio(run), case, run) for case, run in ask.runs_with(results["cases"], threads))
    return sorted((each for each in found if each[0]), key=lambda each: each[0])


def mean_ratio(results, threads):
    found = [ratio for ratio, _, _ in ratios(results, threads)]
    return geometric_mean(found) if found else None


def summary(results, threads):
    found = [ratio for ratio, _, _ in ratios(results, threads)]
    if not found:
        return ""
    slower = sum(ratio < 1 for ratio in found)
    return (f"On {plural(threads, 'thread')}, Attune against the faster peer of each network: "
            f"**{geometric_mean(found):.2f}** times as fast, the geometric mean over {plural(len(found), 'network')}, "
            f"of which it is behind on {slower}.")


def rows(results, threads, emphasize=plain):
    """A header and one row per network, the least ratio first and networks without one last."""
    ordered = [case for _, case, _ in ratios(results, threads)]
    ordered += [case for case in results["cases"] if case["runs"] and case not in ordered]
    return report.latency_rows(results, ordered, threads, emphasize)


def behind(results, threads):
    """The networks on which Attune is slower, with their slowest kernels."""
    slower = [each for each in ratios(results, threads) if each[0] < 1]
    if not slower:
        return []
    table = [["network", "peer ÷ Attune", "kernel", "of the time", "beyond its roofline, ms", "of the roofline",
              "of the peak"]]
    for ratio, case, run in slower:
        for index, kernel in enumerate(costly(run["profile"])):
            table.append([case["name"] if index == 0 else "", f"{ratio:.2f}" if index == 0 else "",
                          *kernel_cells(kernel)])
    return [f"""Where Attune is behind: the {MOST_KERNELS} kernels of each network that lose the most, by `attune
profile`. A kernel loses what it takes beyond its roofline, which is the longer of the times that its operations take at
the measured peak and its bytes at the measured bandwidth.""", markdown(table)]


def costly(profile):
    """The kernels that lose the most time, the worst first."""
    return sorted(profile["kernels"], key=lost_ms, reverse=True)[:MOST_KERNELS]


def lost_ms(kernel):
    return kernel["ms"] - kernel["roofline_ms"]


def kernel_cells(kernel):
    share = kernel["roofline_ms"] / kernel["ms"] if kernel["ms"] else 1.0
    return [report.kernel_text(kernel), f"{100 * kernel['share']:.0f} %", milliseconds(lost_ms(kernel)),
            f"{100 * share:.0f} %", f"{100 * kernel.get('peak_share', 0):.0f} %"]


def not_measured(results):
    """Networks that could not be exported or that engines do not support, and wrong results."""
    unexported = [f"- {case['name']}: {case['export']}" for case in results["cases"] if "export" in case]
    exported = {**results, "cases": [case for case in results["cases"] if "export" not in case]}
    lines = report.reasons(exported)
    parts = ["## What did not run", "\n".join(lines)] if lines else []
    return parts + (["Torch does not export:", "\n".join(unexported)] if unexported else [])
