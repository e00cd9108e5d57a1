"""The figures of docs/scheduling.md, as SVG."""
from common.report.charts import (BLACK, GREY, GRID, MARGIN, TOP, WIDTH, Bar, BarChart, Scale, StackedBarChart, header,
                                  square, ticks)
from common.report.lines import COLOURS, NO_BAND, LineChart, Series
from common.report.svg import Drawing
from common.report.words import plural
from common.stats import part_seconds

STRATEGY_COLOURS = {"sequential": "#999999", "uncoordinated": "#d55e00", "lockstep": "#e69f00",
                    "first_come": "#56b4e9", "predictive": "#0072b2", "back_to_back": "#009e73"}
# The stages of tuning that a chart shows as one, by the beginnings of their names.
PARTS = {"open, prepare": ("open", "prepare"), "search": ("select",), "build": ("build",), "check": ("check",),
         "measure": ("calibrate", "time"), "learn": ("learn",), "finalize": ("confirm_", "compare_", "layout_",
                                                                              "network_", "finish", "write")}
PART_COLOURS = dict(zip(PARTS, ("#999999", "#e69f00", "#0072b2", "#56b4e9", "#d55e00", "#009e73", "#cc79a7")))
INTERLEAVING = ("lockstep", "first_come", "predictive", "back_to_back")  # of those that are simulated with many devices


def makespan_chart(results):
    """A bar for each schedule: how many times the bound it took."""
    groups = []
    for jobs in dict.fromkeys(row["jobs"] for row in results["schedules"]):
        groups.append((plural(jobs, "job"), [
            Bar(row["makespan"] / row["bound"], f"{row['strategy']}, {row['makespan']:.0f} s",
                STRATEGY_COLOURS[row["strategy"]], strong=row["strategy"] == "predictive")
            for row in results["schedules"] if row["jobs"] == jobs]))
    legend = {row["strategy"]: STRATEGY_COLOURS[row["strategy"]] for row in results["schedules"]}
    return BarChart(
        title="What strategies take, against the bound",
        subtitle="until the last job has ended; 1 is the least that the jobs' stages allow, as they take alone",
        axis="time ÷ bound", legend=list(legend.items()), groups=groups).draw()


def stages_chart(results):
    """Bars of seconds, part by part: alone, and with each strategy."""
    most = max(row["jobs"] for row in results["schedules"])
    alone = {}
    for one in results["alone"].values():
        for stage, seconds in one["stage_seconds"].items():
            alone[stage] = alone.get(stage, 0) + seconds
    bars = [("alone", part_seconds(alone, PARTS))]
    bars += [(row["strategy"], part_seconds(row["stage_seconds"], PARTS))
             for row in results["schedules"] if row["jobs"] == most]
    return StackedBarChart(title="What stages take beside other jobs",
                           subtitle=f"seconds of all stages of {plural(most, 'job')} together",
                           colours=PART_COLOURS, groups=[(plural(most, "job"), bars)]).draw()


def differences_chart(results):
    """Curves: the share of the candidates whose ratio differs by at most so much."""
    panels = []
    for jobs in dict.fromkeys(row["jobs"] for row in results["schedules"] if row["jobs"] > 1):
        lines = []
        for row in results["schedules"]:
            if row["jobs"] == jobs and row["differences"]:
                count = len(row["differences"])
                points = [(100 * (index + 1) / count, 100 * value, *NO_BAND)
                          for index, value in enumerate(row["differences"][:max(1, count * 95 // 100)])]
                lines.append(Series(row["strategy"], STRATEGY_COLOURS[row["strategy"]], points))
        panels.append((plural(jobs, "job"), lines))
    return LineChart(
        title="What other jobs do to measurements",
        subtitle="how far a candidate's ratio to its baseline lies from that of the run alone, without the last 5 %",
        x_title="candidates, %", y_title="difference, %", panels=panels).draw() if panels else None


def simulated_chart(results):
    """A panel for each number of jobs: the time by the number of devices, against the bound."""
    panels, unlike = [], [row for row in results["simulated"] if row["mix"] == "unlike"]
    for jobs in dict.fromkeys(row["jobs"] for row in unlike):
        rows = [row for row in unlike if row["jobs"] == jobs]
        lines = [Series(strategy, STRATEGY_COLOURS[strategy],
                        [(row["devices"], row["makespan"][strategy] / row["bound"], *NO_BAND) for row in rows])
                 for strategy in INTERLEAVING]
        panels.append((plural(jobs, "job"), lines))
    return LineChart(
        title="Simulated: more jobs and more devices",
        subtitle="unlike jobs; each device stands in a host of its own, with processors that build",
        x_title="devices", y_title="time ÷ bound", panels=panels).draw() if panels else None


class Gantt:
    """Who holds the device and who the processors that build, by time; a panel for each strategy."""

    ROW, GAP, LEFT = 24, 30, 130  # pixels: a row, the room between panels, that for rows' names

    def __init__(self, rows, jobs):
        self._rows = rows
        self._colours = dict(zip(jobs, COLOURS))

    def draw(self):
        height = 2 * self.ROW + self.GAP + 18
        bottom = TOP + len(self._rows) * height
        title = "Who holds the device, and who the processor that builds"
        drawing = Drawing(WIDTH, bottom + 30, title, "Bars by resource: stages, coloured by job")
        header(drawing, title, "stages by time, coloured by job",
               [(job, square(drawing, colour)) for job, colour in self._colours.items()])
        longest = max(row["makespan"] for row in self._rows)
        across = Scale(0, longest, self.LEFT, WIDTH - MARGIN)
        for value in ticks(0, longest, 10):
            drawing.line(across(value), TOP, across(value), bottom - 8, stroke=GRID)
            drawing.text(across(value), bottom + 8, f"{value:g} s", size=11, anchor="middle", fill=GREY)
        for number, row in enumerate(self._rows):
            self._draw_panel(drawing, across, TOP + number * height, row)
        return str(drawing)

    def _draw_panel(self, drawing, across, top, row):
        drawing.text(MARGIN, top + 12, f"{row['strategy']}, {row['makespan']:.0f} s", size=13, font_weight="600")
        for on_device, name in ((True, "device"), (False, "builds")):
            y = top + 18 + (0 if on_device else self.ROW)
            drawing.text(self.LEFT - 8, y + self.ROW - 8, name, size=11, anchor="end")
            for job, _, is_on_device, start, end in row["stages"]:
                if is_on_device == on_device:
                    drawing.rect(across(start), y + 2, across(end) - across(start), self.ROW - 4,
                                 fill=self._colours[job], fill_opacity=0.8)
        drawing.line(self.LEFT, top + 18, self.LEFT, top + 18 + 2 * self.ROW, stroke=BLACK)


def gantt_chart(results):
    rows = [row for row in results["schedules"] if "stages" in row]
    return Gantt(rows, results["networks"]).draw() if rows else None


CHARTS = {"makespan.svg": makespan_chart, "gantt.svg": gantt_chart, "stages.svg": stages_chart,
          "differences.svg": differences_chart, "simulated.svg": simulated_chart}


def figures(results):
    """{file name: SVG}."""
    drawn = {name: chart(results) for name, chart in CHARTS.items()}
    return {name: drawing for name, drawing in drawn.items() if drawing}
