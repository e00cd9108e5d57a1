"""The drawing tools for all figures: scales, legends, ticks and bar charts."""
import math
from dataclasses import dataclass

from common.report.svg import Drawing

WIDTH = 960
MARGIN = 24
TOP = 112  # where the plot begins, below the title and the legend

BLACK, GREY, GRID = "#222222", "#666666", "#dddddd"


class Scale:
    """Maps values from `low` to `high` to pixels from `start` to `end`; values beyond are clamped."""

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


def ticks(low, high, most=6):
    """Round numbers between the two, at most `most`."""
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= raw)
    return [step * i for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


@dataclass(frozen=True)
class Bar:
    value: float
    label: str  # after the end of the bar
    colour: str
    strong: bool = False  # whether the label is bold


@dataclass(frozen=True)
class BarChart:
    """Groups of horizontal bars that start at 0 on a shared axis, with a line at 1."""
    title: str
    subtitle: str
    axis: str
    legend: list[tuple[str, str]]  # label, colour
    groups: list[tuple[str, list[Bar]]]  # name, bars
    longest: float = math.inf  # longer bars end there, with an arrow

    BAR, GAP = 13, 13  # pixels: a bar, and the room between groups
    TICKS = 18  # most on the axis
    LEFT, RIGHT = 190, 130  # space for the names, and for the label of the longest bar

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
        """(top, bar) for each bar."""
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
        quarters = [quarter / 4 for quarter in range(int(4 * scale.high) + 1)]
        for value in quarters if len(quarters) <= self.TICKS else ticks(0, scale.high, self.TICKS):
            x = scale(value)
            drawing.line(x, top, x, bottom, stroke=GRID if value else BLACK)
            drawing.text(x, bottom + 17, f"{value:g}×", size=11, anchor="middle", fill=GREY)
        drawing.text((scale.start + scale.end) / 2, bottom + 42, self.axis, anchor="middle")


@dataclass(frozen=True)
class StackedBarChart:
    """Groups of horizontal bars that are sums of seconds, on a shared axis."""
    title: str
    subtitle: str
    colours: dict[str, str]  # of each part
    groups: list[tuple[str, list[tuple[str, dict[str, float]]]]]  # name, bars: name and {part: seconds}

    BAR, NAME, GAP, LEFT = 15, 18, 12, 150  # pixels: a bar, a group's name, the room below a group, that for bars' names

    def draw(self):
        bottom = TOP + sum(self.NAME + len(bars) * self.BAR + self.GAP for _, bars in self.groups)
        drawing = Drawing(WIDTH, bottom + 40, self.title, "Bars by group: seconds of each part")
        header(drawing, self.title, self.subtitle,
               [(part, square(drawing, colour)) for part, colour in self.colours.items()])
        longest = max(sum(parts.values()) for _, bars in self.groups for _, parts in bars)
        scale = Scale(0, longest, self.LEFT, WIDTH - MARGIN)
        for value in ticks(0, longest, 8):
            drawing.line(scale(value), TOP, scale(value), bottom - 8, stroke=GRID)
            drawing.text(scale(value), bottom + 8, f"{value:g} s", size=11, anchor="middle", fill=GREY)
        y = TOP
        for name, bars in self.groups:
            drawing.text(MARGIN, y + 12, name, size=13, font_weight="600")
            y += self.NAME
            for label, parts in bars:
                drawing.text(self.LEFT - 8, y + self.BAR - 4, label, size=11, anchor="end")
                before = 0
                for part, seconds in parts.items():
                    drawing.rect(scale(before), y + 1, scale(before + seconds) - scale(before), self.BAR - 2,
                                 fill=self.colours[part])
                    before += seconds
                y += self.BAR
            y += self.GAP
        drawing.line(self.LEFT, TOP, self.LEFT, bottom - 8, stroke=BLACK)
        return str(drawing)
