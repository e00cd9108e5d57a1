"""Tables of a run: for the terminal, for table.md, and for the page."""
from bench import plots
from bench import results as ask
from common.engines import TITLES
from common.report.tables import bold, markdown, plain
from common.report.words import milliseconds, plural

MOST_NAMES = 4  # of networks, after a reason
MARKS = {"not applicable": "–", "NS": "NS", "missing": "missing", "wrong": "wrong"}
SAID = {"–": "not applicable", "NS": "not supported"}  # what marks stand for


def latency_rows(results, cases, threads, emphasize=plain):
    """A header and one row per network: each engine's least latency in ms. `emphasize` marks the least of a row. For
    networks of integers, a last column has the share of multiply-adds that Attune computes in integers."""
    engines = ["attune", *results["settings"]["peers"]]
    has_share = ask.is_int8(results)
    rows = [["network", *(TITLES[engine] for engine in engines), "fastest peer", "peer ÷ Attune",
             *(["multiply-adds in integers"] if has_share else [])]]
    for case, run in ask.runs_with(cases, threads):
        latencies = [ask.latency(run, engine) for engine in engines]
        least = min((value for value in latencies if value), default=None)
        row = [case["name"]]
        for engine, value in zip(engines, latencies):
            text = milliseconds(value) if value else MARKS[run["engines"][engine]["status"]]
            row.append(emphasize(text) if value and value == least else text)
        peer, ratio = ask.fastest_peer(run), ask.speed_ratio(run)
        row += [TITLES[peer] if peer else "", f"{ratio:.2f}" if ratio else ""]
        rows.append(row + [share_text(ask.integer_share(run))] if has_share else row)
    mean = ask.mean_ratio(cases, threads)
    if mean and len(cases) > 1:
        rows.append(["geometric mean", *[""] * (len(engines) + 1), emphasize(f"{mean:.2f}"),
                     *([""] if has_share else [])])
    return rows


def share_text(share):
    """99.8 %, or empty for None."""
    return "" if share is None else f"{100 * share:.1f} %"


def load_rows(results, cases, threads):
    """A header and one row per network: the seconds to each engine's first result, and those that Attune takes to
    compile before that."""
    engines = ["attune", *results["settings"]["peers"]]
    rows = [["network", "Attune compiles", "artifact, MB", *(TITLES[engine] for engine in engines)]]
    for case, run in ask.runs_with(cases, threads):
        row = [case["name"], "", ""]
        if "seconds" in case["compile"]:
            row[1:] = [f"{case['compile']['seconds']:.2f}", f"{1e-6 * case['compile']['bytes']['file']:.1f}"]
        entries = [run["engines"][engine] for engine in engines]
        row += [f"{entry['load_s']:.2f}" if ask.ran(entry) else MARKS[entry["status"]] for entry in entries]
        rows.append(row)
    return rows


def kernel_rows(profile, least_share):
    """A header and one row for each kernel that takes more than this share of the time."""
    rows = [["kernel", "of the time", "ms", "calls", "GFLOP/s", "GB/s", "bound by", "time ÷ roofline's"]]
    for kernel in profile["kernels"]:
        if kernel["share"] > least_share:
            rows.append([kernel_text(kernel), f"{100 * kernel['share']:.1f} %", f"{kernel['ms']:.3f}",
                         str(kernel["calls"]), f"{kernel['gflops_per_s']:.1f}", f"{kernel['gb_per_s']:.1f}",
                         kernel["bound"],
                         f"{kernel['ms'] / kernel['roofline_ms']:.2f}" if kernel["roofline_ms"] else ""])
    return rows


def kernel_text(kernel):
    """Describes the kernel: its operators, its strategy, and its nodes: conv+relu by conv_direct: /layer1/Conv and 2
    more."""
    strategy = kernel["strategy"].split(" ")[0]
    text = f"{kernel['op']} by {strategy}" if strategy else kernel["op"]
    if kernel["labels"]:
        text += f": `{kernel['labels'][0]}`"
    return f"{text} and {len(kernel['labels']) - 1} more" if len(kernel["labels"]) > 1 else text


def reasons(results):
    """One line for each reason why an engine did not run, with the networks that it applies to."""
    found = {}
    for case in results["cases"]:
        for run in case["runs"]:
            for engine, entry in run["engines"].items():
                if not ask.ran(entry):
                    key = MARKS[entry["status"]], TITLES[engine], entry["reason"].splitlines()[-1]
                    found.setdefault(key, {})[case["name"]] = None
    lines = []
    for (mark, engine, reason), names in found.items():
        where = ", ".join(names) if len(names) <= MOST_NAMES else f"{len(names)} networks"
        said = f"{mark} ({SAID[mark]})" if mark in SAID else mark
        lines.append(f"- {said}, {engine}: {reason} ({where})")
    return lines


def table_file(results):
    """table.md"""
    parts = [f"`{results['command']}`, {results['date'][:10]}; least latency in ms"]
    for cases in filter(None, ask.standard_and_variants(results)):
        for threads in results["settings"]["threads"]:
            parts += [plural(threads, "thread") + ":", markdown(latency_rows(results, cases, threads, bold))]
    return "\n\n".join([*parts, "\n".join(reasons(results))]).rstrip() + "\n"


def figures(results):
    """{file name: SVG}"""
    cases, variants = ask.standard_and_variants(results)
    drawn = {"speed.svg": plots.speed_chart(results, cases), "speed-variants.svg": plots.speed_chart(results, variants)}
    for threads in results["settings"]["threads"]:
        drawn[f"latency-{threads}.svg"] = plots.latency_chart(results, cases, threads)
        drawn[f"roofline-{threads}.svg"] = plots.roofline_chart(cases, threads)
    return {name: drawing for name, drawing in drawn.items() if drawing}
