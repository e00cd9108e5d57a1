"""The figures of docs/tuning.md, as SVG, in the style of the performance lab's."""
from common.report.charts import BLACK, GREY, GRID, TOP, WIDTH, Scale, StackedBarChart, header, square, ticks
from common.report.lines import COLOURS, LineChart, Series
from common.report.svg import Drawing
from common.report.words import plural
from tuning import curves
from tuning import results as ask

STAGE_COLOURS = {"prepare": "#cc79a7", "select": "#e69f00", "build": "#0072b2", "measure": "#d55e00",
                 "update": "#009e73", "finalize": "#56b4e9"}
RANK_BINS = 8
KERNELS = "the best kernels together, against the untuned ones; higher is better; bands are 95 % intervals of the mean"

SPEED = "times as fast as untuned"


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
    return StackedBarChart(title="What the stages of tuning take", subtitle="seconds of a run, the mean over its seeds",
                           colours=STAGE_COLOURS, groups=groups).draw()


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
