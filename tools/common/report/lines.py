"""Charts of lines."""
import math
from dataclasses import dataclass

from common.report.charts import GREY, GRID, TOP, WIDTH, Scale, header, square, ticks
from common.report.svg import Drawing

COLOURS = ("#d55e00", "#0072b2", "#009e73", "#e69f00", "#cc79a7", "#56b4e9")
NO_BAND = (-math.inf, math.inf)  # the ends of a point's band if it has none


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
