"""The figures, as SVG. The colours are those of Okabe and Ito, which colour-blind people can tell apart."""
import math

from bench import results as ask
from common.engines import TITLES
from common.report.charts import BLACK, GREY, GRID, TOP, WIDTH, Bar, BarChart, Scale, header
from common.report.svg import Drawing
from common.report.words import milliseconds, plural

COLOURS = {"attune": "#d55e00", "onnxruntime": "#0072b2", "openvino": "#56b4e9", "ncnn": "#009e73", "mnn": "#cc79a7",
           "litert": "#e69f00"}
THREAD_COLOURS = ("#d55e00", "#f2b38c", "#8c3d00", "#fbe0cf")  # Attune's, by the index of the number of threads
BOUND_COLOURS = {"compute": "#0072b2", "L2": "#009e73", "L3": "#e69f00", "memory": "#d55e00"}


def latency_chart(results, cases, threads):
    """Returns each engine's latency on `threads` threads, as a multiple of the fastest peer's. None if no peer ran."""
    engines = ["attune", *results["settings"]["peers"]]
    groups = []
    for case, run in ask.runs_with(cases, threads):
        latencies = {engine: ask.latency(run, engine) for engine in engines if ask.latency(run, engine)}
        peer = ask.fastest_peer(run)
        if peer:
            bars = [Bar(value / latencies[peer], milliseconds(value), COLOURS[engine], value == min(latencies.values()))
                    for engine, value in latencies.items()]
            groups.append((case["name"], bars))
    if not groups:
        return None
    return BarChart(
        title=f"Latency on {plural(threads, 'thread')}",
        subtitle="as a multiple of the fastest peer's; shorter is better; the numbers are milliseconds",
        axis="latency ÷ latency of the fastest peer",
        legend=[(TITLES[engine], COLOURS[engine]) for engine in engines], groups=groups, longest=2.5).draw()


def speed_chart(results, cases):
    """How many times as fast as the fastest peer Attune is, on each number of threads. None if no peer ran."""
    thread_counts = results["settings"]["threads"]
    colours = {threads: THREAD_COLOURS[i % len(THREAD_COLOURS)] for i, threads in enumerate(thread_counts)}
    groups = []
    for case in cases:
        bars = [Bar(ratio, f"{ratio:.2f}× {TITLES[ask.fastest_peer(run)]}", colours[run["threads"]])
                for run in case["runs"] if (ratio := ask.speed_ratio(run))]
        groups.append((case["name"], bars))
    means = [(threads, ask.mean_ratio(cases, threads)) for threads in thread_counts]
    bars = [Bar(mean, f"{mean:.2f}×", colours[threads], strong=True) for threads, mean in means if mean]
    groups.append(("geometric mean", bars))
    groups = [(name, bars) for name, bars in groups if bars]
    if not groups:
        return None
    return BarChart(
        title="Attune against the fastest peer of each network",
        subtitle="times as fast; longer is better; the fastest peer stands behind each bar",
        axis="latency of the fastest peer ÷ latency of Attune",
        legend=[(plural(threads, "thread"), colours[threads]) for threads in thread_counts], groups=groups).draw()


def roof(profile):
    """How many 10⁹ operations per second the processor can do, in the narrowest type that the network uses."""
    peak = "gflops_per_core"
    for kind, of_kind in (("bf16", "bf16_gflops_per_core"), ("integer", "int8_gops_per_core")):
        if any(kernel.get(kind) for kernel in profile["kernels"]):
            peak = of_kind
    return profile["peak"][peak] * profile["threads"]


def draw_mark(drawing, bound, x, y, radius):
    """Draws a kernel. Shape and colour say what limits it; the area does not depend on the shape."""
    style = {"fill": BOUND_COLOURS[bound], "fill_opacity": 0.65, "stroke": "#ffffff", "stroke_width": 0.6}
    if bound == "compute":
        drawing.circle(x, y, radius, **style)
    elif bound == "memory":
        side = math.sqrt(math.pi) * radius
        drawing.rect(x - side / 2, y - side / 2, side, side, **style)
    else:
        side = 2 * radius * math.sqrt(math.pi / math.sqrt(3))
        height = side * math.sqrt(3) / 2
        points = [(x, y - height * 2 / 3), (x - side / 2, y + height / 3), (x + side / 2, y + height / 3)]
        drawing.polygon(points, **style)


def mark_radius(share):
    """The radius in pixels for a kernel with this share of the time; small kernels stay visible."""
    return max(2.5, 16 * math.sqrt(share))


def powers_of_ten(scale):
    """The powers of ten on the scale, and the anchor of each number, which keeps it within the scale."""
    low, high = round(math.log10(scale.low)), round(math.log10(scale.high))
    anchors = {low: "start", high: "end"}
    return [(10.0**exponent, anchors.get(exponent, "middle")) for exponent in range(low, high + 1)]


def power_above(values):
    """The least power of ten above all values."""
    return 10.0 ** (math.floor(math.log10(max(values))) + 1)


def counted(profile):
    """The kernels whose operations and bytes are known and not 0."""
    return [kernel for kernel in profile["kernels"] if kernel["flops"] and kernel["bytes"]]


def roofline_chart(cases, threads):
    """One panel per network, one mark per kernel: operations per byte and per second. None if nothing was profiled."""
    panels = [(case, run["profile"]) for case, run in ask.runs_with(cases, threads) if "profile" in run]
    if not panels:
        return None
    columns, width, height, left, gap = 3, 288, 196, 66, 14
    rows = math.ceil(len(panels) / columns)
    kernels = [kernel for _, profile in panels for kernel in counted(profile)]
    most_across = power_above([100, *(kernel["flops"] / kernel["bytes"] for kernel in kernels)])
    most_up = power_above([100, *(kernel["gflops_per_s"] for kernel in kernels),
                           *(roof(profile) for _, profile in panels)])
    title = f"Roofline on {plural(threads, 'thread')}"
    drawing = Drawing(WIDTH, TOP + rows * height + 50, title, "Panels by network: kernels by FLOP per byte and GFLOP/s")

    def legend_mark(bound):
        return lambda x, y: draw_mark(drawing, bound, x, y, 6)
    header(drawing, title, "a mark a kernel, its area the share of the network's time; the line is the most that this "
                           "machine can do, as measured",
           [("bound by compute", legend_mark("compute")), ("by the L2 cache", legend_mark("L2")),
            ("by the L3 cache", legend_mark("L3")), ("by memory", legend_mark("memory")),
            ("a tenth of the time", lambda x, y: drawing.circle(x, y, mark_radius(0.1), fill="none", stroke=GREY))])
    for index, (case, profile) in enumerate(panels):
        row, column = divmod(index, columns)
        across = Scale(0.1, most_across, left + column * width, left + (column + 1) * width - gap, logarithmic=True)
        up = Scale(1, most_up, TOP + (row + 1) * height - gap, TOP + row * height, logarithmic=True)
        draw_axes(drawing, across, up, "FLOP per byte" if index + columns >= len(panels) else None,
                  "GFLOP/s" if column == 0 else None)
        draw_kernels(drawing, across, up, profile)
        drawing.text(across.end - 8, up.start - 9, case["name"], size=13, anchor="end", font_weight="600")
    return str(drawing)


def draw_axes(drawing, across, up, x_title, y_title):
    """A panel's frame and grid, with numbers if an axis has a title."""
    for value, anchor in powers_of_ten(across):
        drawing.line(across(value), up.start, across(value), up.end, stroke=GRID)
        if x_title:
            drawing.text(across(value), up.start + 15, f"{value:g}", size=10, anchor=anchor, fill=GREY)
    for value, _ in powers_of_ten(up):
        drawing.line(across.start, up(value), across.end, up(value), stroke=GRID)
        if y_title:
            drawing.text(across.start - 6, up(value) + 3.5, f"{value:g}", size=10, anchor="end", fill=GREY)
    if x_title:
        drawing.text((across.start + across.end) / 2, up.start + 33, x_title, size=11, anchor="middle")
    if y_title:
        drawing.text(across.start - 36, (up.start + up.end) / 2, y_title, size=11, anchor="middle", turned=True)
    drawing.rect(across.start, up.end, across.end - across.start, up.start - up.end, fill="none", stroke=GREY)


def draw_kernels(drawing, across, up, profile):
    """The roof and the marks of a panel."""
    peak = roof(profile)
    bandwidth = profile["peak"]["memory_gb_per_s"] * profile["threads"]
    corners = [(max(across.low, up.low / bandwidth), max(up.low, bandwidth * across.low)), (peak / bandwidth, peak),
               (across.high, peak)]
    for (x1, y1), (x2, y2) in zip(corners, corners[1:]):
        drawing.line(across(x1), up(y1), across(x2), up(y2), stroke=BLACK, stroke_width=1.5)
    for kernel in counted(profile):
        draw_mark(drawing, kernel["bound"], across(kernel["flops"] / kernel["bytes"]),
                  up(kernel["gflops_per_s"]), mark_radius(kernel["share"]))
