"""The figures of docs/study.md, as SVG, in the style of the performance lab's."""
from common.report.charts import BLACK, GREY, GRID, TOP, WIDTH, Bar, BarChart, Scale, header, square, ticks
from common.report.svg import Drawing
from common.report.words import milliseconds, plural
from study import results as ask
from study.networks import FLOAT, VERSIONS, busy_setups, quiet_setups

COLOURS = dict(zip((version.name for version in VERSIONS),
                   ("#666666", "#56b4e9", "#0072b2", "#d55e00", "#e69f00", "#009e73")))
LEGEND = [(version.title, COLOURS[version.name]) for version in VERSIONS]


def bars(own, function, text, *arguments):
    """A bar for each version whose value is known, as is the float version's; `text` makes a label from the value."""
    found = []
    for version in VERSIONS:
        ratio = ask.to_float(function, own, *arguments, version.name)
        if ratio:
            label = text(function(own, *arguments, version.name))
            found.append(Bar(ratio, label, COLOURS[version.name]))
    return found


def chart(title, subtitle, axis, groups):
    """The chart, or None if no group has bars."""
    groups = [(name, found) for name, found in groups if found]
    return BarChart(title, subtitle, axis, LEGEND, groups).draw() if groups else None


def latency_chart(results, setup):
    groups = [(network.title, bars(own, ask.latency, milliseconds, setup)) for network, own in ask.measured(results)]
    return chart(f"Latency on {plural(setup.threads, 'thread')}",
                 "as a multiple of the float version's; shorter is better; the numbers are medians in ms",
                 "latency ÷ latency of the float version", groups)


def throughput_chart(results):
    groups = [(f"{network.title}, {setup.batch}×{setup.streams}×{setup.threads}",
               bars(own, ask.per_second, "{:.1f}".format, setup))
              for network, own in ask.measured(results) for setup in busy_setups(results["settings"]["processors"])]
    return chart("Throughput", "as a multiple of the float version's in the same setup, batch × streams × threads; "
                               "longer is better; the numbers are pictures a second",
                 "throughput ÷ throughput of the float version", groups)


def size_chart(results):
    groups = [(network.title, bars(own, ask.size, lambda size: f"{1e-6 * size:.1f} MB"))
              for network, own in ask.measured(results)]
    return chart("Size", "of the artifact, as a multiple of the float version's; shorter is better",
                 "bytes ÷ bytes of the float version", groups)


def trade_points(own, setup):
    """(version, latency as a multiple of the float version's, share of equal classes) for all that have both."""
    points = []
    for version in VERSIONS:
        ratio = ask.to_float(ask.latency, own, setup, version.name)
        top1 = 1.0 if version == FLOAT else ask.agreement(own, version.name, "top1")
        if ratio and top1 is not None:
            points.append((version, ratio, top1))
    return points


def trade_chart(results):
    """One panel per network, one mark per version: its agreement with the float version, against its latency on one
    thread. None if no panel has marks."""
    setup = quiet_setups(results["settings"]["processors"])[0]
    panels = [(network.title, points) for network, own in ask.measured(results)
              if len(points := trade_points(own, setup)) > 1]
    if not panels:
        return None
    width, height, left, gap = 288, 250, 74, 22
    title = "Gain and agreement of the versions"
    drawing = Drawing(WIDTH, TOP + height + 56, title, "Panels by network: equal classes against latency")
    header(drawing, title, "a mark a version, on 1 thread; the upper left is best: quick, and every picture has the "
                           "class that the float version gives it",
           [(label, square(drawing, colour)) for label, colour in LEGEND])
    longest = max(1.1, *(1.05 * ratio for _, points in panels for _, ratio, _ in points))
    least = min(0.9, *(top1 for _, points in panels for _, _, top1 in points))
    for column, (name, points) in enumerate(panels):
        across = Scale(0, longest, left + column * width, left + (column + 1) * width - gap)
        up = Scale(least - 0.02, 1.02, TOP + height, TOP + 8)
        draw_panel(drawing, across, up, column == 0)
        for version, ratio, top1 in points:
            drawing.circle(across(ratio), up(top1), 6, fill=COLOURS[version.name], fill_opacity=0.85, stroke="#ffffff")
        drawing.text(across.end - 8, up.start - 9, name, size=13, anchor="end", font_weight="600")
    return str(drawing)


def draw_panel(drawing, across, up, is_first):
    """Frame and grid; the first panel also has numbers on the axis of shares."""
    for value in ticks(across.low, across.high):
        drawing.line(across(value), up.start, across(value), up.end, stroke=GRID)
        drawing.text(across(value), up.start + 15, f"{value:g}×", size=10, anchor="middle", fill=GREY)
    for value in ticks(up.low, 1):
        drawing.line(across.start, up(value), across.end, up(value), stroke=BLACK if value == 1 else GRID)
        if is_first:
            drawing.text(across.start - 6, up(value) + 3.5, f"{100 * value:.3g} %", size=10, anchor="end", fill=GREY)
    drawing.rect(across.start, up.end, across.end - across.start, up.start - up.end, fill="none", stroke=GREY)
    drawing.text((across.start + across.end) / 2, up.start + 36, "latency ÷ float's", size=11, anchor="middle")
    if is_first:
        drawing.text(across.start - 54, (up.start + up.end) / 2, "equal classes", size=11, anchor="middle", turned=True)


def figures(results):
    """{file name: SVG}"""
    quiet = quiet_setups(results["settings"]["processors"])
    drawn = {"trade.svg": trade_chart(results),
             **{f"latency-{setup.threads}.svg": latency_chart(results, setup) for setup in quiet},
             "throughput.svg": throughput_chart(results), "size.svg": size_chart(results)}
    return {name: drawing for name, drawing in drawn.items() if drawing}
