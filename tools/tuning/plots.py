"""The figures of docs/tuning.md, as SVG, in the style of the performance lab's."""
import math
from dataclasses import dataclass

from common.report.charts import BLACK, GREY, GRID, MARGIN, TOP, WIDTH, Scale, header, square, ticks
from common.report.svg import Drawing
from common.report.words import plural
from tuning import curves
from tuning import results as ask

COLOURS = ("#d55e00", "#0072b2", "#009e73", "#e69f00", "#cc79a7", "#56b4e9")
STAGE_COLOURS = {"prepare": "#cc79a7", "select": "#e69f00", "build": "#0072b2", "measure": "#d55e00",
                 "update": "#009e73", "finalize": "#56b4e9"}
RANK_BINS = 8
KERNELS = "the best kernels together, against the untuned ones; higher is better; bands are 95 % intervals of the mean"

SPEED = "times as fast as untuned"


@dataclass(frozen=True)
class Series:
    """A line with a band: (x, mean, lower end, upper end) for each point."""
    label: str
    colour: str
    points: list[tuple[float, float, float, float]]
    steps: bool = False  # whether a value holds until the next point


def value_range(series):
    """(low, high) of an axis: it shows all means, and of the bands only what is within half of the means' range beyond
    them."""
    means = [point[1] for line in series for point in line.points]
    low, high = min(means), max(means)
    room = (high - low) / 2 or max(abs(high), 1) / 100
    ends = [end for line in series for point in line.points for end in point[2:] if math.isfinite(end)]
    return max(low - room, min([low, *ends])) - room / 10, min(high + room, max([high, *ends])) + room / 10


def corners(points, steps):
    """The corners of the line through these points, or of a staircase."""
    if not steps:
        return points
    return [corner for before, point in zip(points[:1] + points, points)
            for corner in ((point[0], before[1]), point)]


@dataclass(frozen=True)
class LineChart:
    """Panels of lines, one per network, each with axes of its own."""
    title: str
    subtitle: str
    x_title: str
    y_title: str
    panels: list[tuple[str, list[Series]]]  # name, lines

    COLUMNS, PANEL_WIDTH, PANEL_HEIGHT, LEFT, BELOW = 2, 456, 300, 74, 66  # pixels

    def draw(self):
        rows = math.ceil(len(self.panels) / self.COLUMNS)
        drawing = Drawing(WIDTH, TOP + rows * self.PANEL_HEIGHT, self.title, f"{self.y_title} against {self.x_title}")
        entries = {line.label: line.colour for _, series in self.panels for line in series}
        header(drawing, self.title, self.subtitle, [(label, square(drawing, colour))
                                                    for label, colour in entries.items()])
        for index, (name, series) in enumerate(self.panels):
            row, column = divmod(index, self.COLUMNS)
            left, top = self.LEFT + column * self.PANEL_WIDTH, TOP + row * self.PANEL_HEIGHT + 14
            last = max(point[0] for line in series for point in line.points)
            across = Scale(0, last, left, left + self.PANEL_WIDTH - self.LEFT - 10)
            up = Scale(*value_range(series), top + self.PANEL_HEIGHT - self.BELOW, top)
            self._draw_axes(drawing, across, up)
            for line in series:
                self._draw_band(drawing, across, up, line)
            for line in series:
                points = corners([point[:2] for point in line.points], line.steps)
                drawing.polyline([(across(x), up(y)) for x, y in points], stroke=line.colour, stroke_width=1.8)
            drawing.text(across.end, top - 5, name, size=13, anchor="end", font_weight="600")
        return str(drawing)

    def _draw_axes(self, drawing, across, up):
        for value in ticks(across.low, across.high):
            drawing.line(across(value), up.start, across(value), up.end, stroke=GRID)
            drawing.text(across(value), up.start + 15, f"{value:g}", size=10, anchor="middle", fill=GREY)
        for value in ticks(up.low, up.high):
            drawing.line(across.start, up(value), across.end, up(value), stroke=GRID)
            drawing.text(across.start - 6, up(value) + 3.5, f"{value:.4g}", size=10, anchor="end", fill=GREY)
        drawing.rect(across.start, up.end, across.end - across.start, up.start - up.end, fill="none", stroke=GREY)
        drawing.text((across.start + across.end) / 2, up.start + 34, self.x_title, size=11, anchor="middle")
        drawing.text(across.start - 54, (up.start + up.end) / 2, self.y_title, size=11, anchor="middle", turned=True)

    def _draw_band(self, drawing, across, up, line):
        points = [point for point in line.points if math.isfinite(point[2])]
        lows, highs = ([(x, ends[end]) for x, _, *ends in points] for end in (0, 1))
        edge = [*corners(highs, line.steps), *reversed(corners(lows, line.steps))]
        if edge:
            drawing.polygon([(across(x), up(y)) for x, y in edge], fill=line.colour, fill_opacity=0.15)


def strategies_chart(results):
    """One panel per network, one line per strategy: the kernels' speed against trials. None if nothing has run."""
    entries, panels = ask.entries(results, 1), []
    for network in ask.distinct(entries, "network"):
        lines = []
        for colour, strategy in zip(COLOURS, ask.distinct(entries, "strategy")):
            runs = ask.of(entries, network=network, strategy=strategy)
            mean = curves.mean_curve([curves.curve(entry, "trials") for entry in runs]) if runs else []
            if mean:
                lines.append(Series(strategy, colour, mean, steps=True))
        if lines:
            panels.append((network, lines))
    return LineChart(
        title="Search strategies alone, at equal budgets",
        subtitle=KERNELS,
        x_title="trials", y_title=SPEED, panels=panels).draw() if panels else None


def arms_chart(panels_of_arms, axis, title):
    """One panel for each (name, {arm: runs}), one line per arm. None if there is no panel."""
    panels = []
    for name, arms in panels_of_arms:
        means = [(arm, colour, curves.mean_curve([curves.curve(entry, axis) for entry in runs]))
                 for colour, (arm, runs) in zip(COLOURS, arms.items())]
        lines = [Series(*line, steps=True) for line in means if line[-1]]
        if lines:
            panels.append((name, lines))
    return LineChart(
        title=title,
        subtitle=KERNELS,
        x_title="trials" if axis == "trials" else "seconds of tuning", y_title=SPEED, panels=panels).draw() if panels else None


def transfer_chart(results):
    entries = ask.entries(results, 2)
    panels = [(f"{network} after {first}" if first else network, ask.transfer_arms(ask.of(entries, network=network)))
              for network, first in ask.transfer_networks(entries).items()]
    return arms_chart(panels, "trials", "A second network, by what its tuning knows at the start")


def pretrained_chart(results):
    entries = ask.entries(results, 3)
    panels = [(network, ask.model_arms(ask.of(entries, network=network)))
              for network in ask.distinct(entries, "network")]
    return arms_chart(panels, "trials", "Searching by what the cost model begins with")


def soon_chart(results):
    cold, _, pretrained_run, _ = ask.soon_runs(ask.entries(results, 7))
    arms = {"nothing": [cold] if cold else [], "a model of other networks": [pretrained_run] if pretrained_run else []}
    arms = {arm: runs for arm, runs in arms.items() if runs}
    panels = [(next(iter(arms.values()))[0]["case"]["network"], arms)] if arms else []
    return arms_chart(panels, "seconds", "One network for long, by what its tuning knows at the start")


def rank_lines(entries):
    """The lines for one network: rank correlation by trials, in bins."""
    longest = max(entry["trials"] for entry in entries)
    lines = []
    for colour, (arm, runs) in zip(COLOURS, ask.model_arms(entries).items()):
        points = curves.binned([entry["ranks"] for entry in runs], longest, RANK_BINS)
        if points:
            lines.append(Series(arm, colour, points))
    return lines


def ranks_chart(results):
    entries = ask.entries(results, 4)
    panels = [(network, rank_lines(ask.of(entries, network=network))) for network in ask.distinct(entries, "network")]
    panels = [(network, lines) for network, lines in panels if lines]
    return LineChart(
        title="How the cost model ranks candidates that are then measured",
        subtitle="Kendall's tau by eighths of the trials; 1 is the measured order, 0 chance; bands are 95 % intervals",
        x_title="trials", y_title="rank correlation", panels=panels).draw() if panels else None


def stages_chart(results):
    """Bars of seconds, stage by stage. None if nothing has run."""
    entries = ask.entries(results, 5)
    if not entries:
        return None
    groups = [(network, [(strategy, ask.stage_means(runs)) for strategy in ask.distinct(entries, "strategy")
                         if (runs := ask.of(entries, network=network, strategy=strategy))])
              for network in ask.distinct(entries, "network")]
    bar, gap, left = 15, 30, 150
    bottom = TOP + sum(len(bars) * bar + gap for _, bars in groups)
    title = "What the stages of tuning take"
    drawing = Drawing(WIDTH, bottom + 40, title, "Bars by network and strategy: seconds of each stage")
    header(drawing, title, "seconds of a run, the mean over its seeds",
           [(stage, square(drawing, colour)) for stage, colour in STAGE_COLOURS.items()])
    longest = max(sum(stages.values()) for _, bars in groups for _, stages in bars)
    scale = Scale(0, longest, left, WIDTH - MARGIN)
    for value in ticks(0, longest, 8):
        drawing.line(scale(value), TOP, scale(value), bottom - 8, stroke=GRID)
        drawing.text(scale(value), bottom + 8, f"{value:g} s", size=11, anchor="middle", fill=GREY)
    y = TOP
    for name, bars in groups:
        drawing.text(MARGIN, y + 12, name, size=13, font_weight="600")
        y += 18
        for strategy, stages in bars:
            drawing.text(left - 8, y + bar - 4, strategy, size=11, anchor="end")
            before = 0
            for stage, seconds in stages.items():
                drawing.rect(scale(before), y + 1, scale(before + seconds) - scale(before), bar - 2,
                             fill=STAGE_COLOURS[stage])
                before += seconds
            y += bar
        y += gap - 18
    drawing.line(left, TOP, left, bottom - 8, stroke=BLACK)
    return str(drawing)


def deployment_chart(results):
    """One row per network and number of threads: a mark for the speedup of the tuned network, with its interval. None
    if nothing has run."""
    entries = ask.entries(results, 6)
    if not entries:
        return None
    thread_counts = ask.distinct(entries, "threads")
    colours = dict(zip(thread_counts, COLOURS))
    row, gap, left, right = 17, 12, 170, 190
    names = ask.distinct(entries, "network")
    bottom = TOP + row * len(entries) + gap * len(names)
    title = "Tuned networks against untuned ones"
    drawing = Drawing(WIDTH, bottom + 60, title, "Marks by network: times as fast, with intervals")
    header(drawing, title, "times as fast, with 95 % intervals; bold where the interval leaves out 1",
           [(plural(threads, "thread"), square(drawing, colours[threads])) for threads in thread_counts])
    gains = [entry["speedups"]["untuned"] for entry in entries]
    scale = Scale(min(1, *(low for _, low, _ in gains)), max(1.01, *(high for *_, high in gains)), left, WIDTH - right)
    for value in ticks(scale.low, scale.high, 8):
        drawing.line(scale(value), TOP - 8, scale(value), bottom, stroke=GRID)
        drawing.text(scale(value), bottom + 17, f"{value:.4g}×", size=11, anchor="middle", fill=GREY)
    drawing.line(scale(1), TOP - 8, scale(1), bottom, stroke=BLACK, stroke_dasharray="4 3")
    drawing.text((left + WIDTH - right) / 2, bottom + 42, "latency untuned ÷ tuned", anchor="middle")
    y = TOP
    for network in names:
        own = ask.of(entries, network=network)
        drawing.text(left - 16, y + row * len(own) / 2 + 4, network, size=13, anchor="end")
        for entry in own:
            draw_gain(drawing, scale, y + row / 2, entry["speedups"]["untuned"], colours[entry["case"]["threads"]])
            y += row
        y += gap
    return str(drawing)


def draw_gain(drawing, scale, y, gain, colour):
    """A mark with its interval, and both as text at the right."""
    ratio, low, high = gain
    drawing.line(scale(low), y, scale(high), y, stroke=colour, stroke_width=2)
    for end in (low, high):
        drawing.line(scale(end), y - 4, scale(end), y + 4, stroke=colour, stroke_width=2)
    drawing.circle(scale(ratio), y, 4, fill=colour)
    drawing.text(scale.end + 14, y + 4, f"{ratio:.3f}× ({low:.3f} to {high:.3f})", size=11,
                 font_weight="700" if ask.is_sure(gain) else None)


CHARTS = {1: ("strategies.svg", strategies_chart), 2: ("transfer.svg", transfer_chart),
          3: ("pretrained.svg", pretrained_chart), 4: ("ranks.svg", ranks_chart), 5: ("stages.svg", stages_chart),
          6: ("deployed.svg", deployment_chart), 7: ("soon.svg", soon_chart)}


def figures(documents):
    """{file name: SVG}, from the experiments' documents by number."""
    drawn = {CHARTS[number][0]: CHARTS[number][1](results) for number, results in documents.items()}
    return {name: drawing for name, drawing in drawn.items() if drawing}
