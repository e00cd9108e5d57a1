"""The figures, as SVG. Colours are those of Okabe and Ito, which people tell apart who see fewer."""
import math
from dataclasses import dataclass

from bench import results as ask
from bench.results import TITLES, milliseconds, plural
from bench.svg import Drawing

WIDTH = 960
MARGIN = 24
TOP = 112  # where a plot begins, below the title and the legend

COLOURS = {"attune": "#d55e00", "onnxruntime": "#0072b2", "openvino": "#56b4e9", "ncnn": "#009e73", "mnn": "#cc79a7",
           "litert": "#e69f00"}
THREAD_COLOURS = ("#d55e00", "#f2b38c", "#8c3d00", "#fbe0cf")  # of Attune, by the place of the number of threads
BOUND_COLOURS = {"compute": "#0072b2", "L2": "#009e73", "L3": "#e69f00", "memory": "#d55e00"}
BLACK, GREY, GRID = "#222222", "#666666", "#dddddd"


class Scale:
    """Maps values from `low` to `high` to pixels from `start` to `end`, and what is beyond to the ends."""

    def __init__(self, low, high, start, end, logarithmic=False):
        self._transform = math.log10 if logarithmic else float
        self.low, self.high, self.start, self.end = low, high, start, end

    def __call__(self, value):
        low, high = self._transform(self.low), self._transform(self.high)
        share = (self._transform(min(max(value, self.low), self.high)) - low) / (high - low)
        return self.start + share * (self.end - self.start)


def header(drawing, title, subtitle, entries):
    """Title, subtitle and a legend of (label, function that draws the mark at x, y)."""
    drawing.text(MARGIN, 34, title, size=19, font_weight="600")
    drawing.text(MARGIN, 56, subtitle, size=13, fill=GREY)
    x = MARGIN
    for label, mark in entries:
        mark(x + 6, 82)
        drawing.text(x + 18, 86, label)
        x += 38 + 6.6 * len(label)


def square(drawing, colour):
    """A mark for the legend."""
    return lambda x, y: drawing.rect(x - 6, y - 6, 12, 12, fill=colour)


@dataclass(frozen=True)
class Bar:
    value: float
    label: str  # behind its end
    colour: str
    strong: bool = False  # whether the label is


@dataclass(frozen=True)
class BarChart:
    """Groups of horizontal bars from 0 on one axis, with a line at 1."""
    title: str
    subtitle: str
    axis: str
    legend: list[tuple[str, str]]  # label, colour
    groups: list[tuple[str, list[Bar]]]  # name, bars
    longest: float = math.inf  # bars beyond this end there, with an arrow

    BAR, GAP = 13, 13  # pixels: a bar, and the room between groups
    LEFT, RIGHT = 190, 130  # room for the names, and for the label of the longest bar

    def draw(self):
        bottom = TOP + sum(len(bars) * self.BAR + self.GAP for _, bars in self.groups)
        drawing = Drawing(WIDTH, bottom + 60, self.title, f"Bars by network: {self.axis}")
        header(drawing, self.title, self.subtitle, [(label, square(drawing, colour)) for label, colour in self.legend])
        longest = max([1.2, *(bar.value for _, bars in self.groups for bar in bars)])
        scale = Scale(0, min(longest, self.longest), self.LEFT, WIDTH - self.RIGHT)
        self._draw_axis(drawing, scale, TOP - 8, bottom)
        self._draw_names(drawing)
        places = list(self._places())
        for y, bar in places:
            drawing.rect(self.LEFT, y + 1, scale(bar.value) - self.LEFT, self.BAR - 2, fill=bar.colour)
        drawing.line(scale(1), TOP - 8, scale(1), bottom, stroke=BLACK, stroke_dasharray="4 3")
        for y, bar in places:
            beyond = " →" if bar.value > scale.high else ""
            drawing.text(scale(bar.value) + 5, y + self.BAR - 3, bar.label + beyond, size=11, halo=True,
                         font_weight="700" if bar.strong else None, fill=BLACK if bar.strong else GREY)
        return str(drawing)

    def _places(self):
        """(top, bar) of each bar."""
        y = TOP
        for _, bars in self.groups:
            for bar in bars:
                yield y, bar
                y += self.BAR
            y += self.GAP

    def _draw_names(self, drawing):
        y = TOP
        for name, bars in self.groups:
            height = len(bars) * self.BAR
            drawing.text(self.LEFT - 12, y + height / 2 + 4, name, size=13, anchor="end")
            y += height + self.GAP

    def _draw_axis(self, drawing, scale, top, bottom):
        for quarter in range(int(4 * scale.high) + 1):
            x = scale(quarter / 4)
            drawing.line(x, top, x, bottom, stroke=GRID if quarter else BLACK)
            drawing.text(x, bottom + 17, f"{quarter / 4:g}×", size=11, anchor="middle", fill=GREY)
        drawing.text((scale.start + scale.end) / 2, bottom + 42, self.axis, anchor="middle")


def latency_chart(results, cases, threads):
    """Each engine's latency on so many threads, as a multiple of the fastest peer's. None where no peer ran."""
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
    """How many times as fast as the fastest peer Attune is, on each number of threads. None where no peer ran."""
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
    """How many operations a second the processor can do, in 10⁹: of the narrowest numbers that the network has."""
    peak = "gflops_per_core"
    for kind, of_kind in (("bf16", "bf16_gflops_per_core"), ("integer", "int8_gops_per_core")):
        if any(kernel.get(kind) for kernel in profile["kernels"]):
            peak = of_kind
    return profile["peak"][peak] * profile["threads"]


def draw_mark(drawing, bound, x, y, radius):
    """A kernel. Its form says what limits it, as its colour does; the area does not depend on the form."""
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
    """In pixels, of a kernel that takes this share of the time; small ones are still to be seen."""
    return max(2.5, 16 * math.sqrt(share))


def powers_of_ten(scale):
    """Those on the scale, and how their numbers are anchored so that they stay within it."""
    low, high = round(math.log10(scale.low)), round(math.log10(scale.high))
    anchors = {low: "start", high: "end"}
    return [(10.0**exponent, anchors.get(exponent, "middle")) for exponent in range(low, high + 1)]


def power_above(values):
    """The least power of ten that is above all values."""
    return 10.0 ** (math.floor(math.log10(max(values))) + 1)


def counted(profile):
    """The kernels whose operations and bytes are known, and not nothing."""
    return [kernel for kernel in profile["kernels"] if kernel["flops"] and kernel["bytes"]]


def roofline_chart(cases, threads):
    """A panel a network, a mark a kernel, by operations a byte and a second. None where nothing was profiled."""
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
    """A panel's frame and grid, with numbers where an axis has a title."""
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
