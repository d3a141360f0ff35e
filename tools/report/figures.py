"""Figures of a report, by matplotlib: each as SVG for the page and for slides, and as PDF for a paper."""
import io
import re
import statistics

import matplotlib
import numpy

matplotlib.use("svg")
from matplotlib import pyplot, ticker  # noqa: E402

matplotlib.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "attn", "pdf.fonttype": 42, "font.size": 9, "axes.spines.top": False,
    "axes.spines.right": False, "axes.edgecolor": "#9aa4b2", "axes.labelcolor": "#5d6877", "xtick.color": "#5d6877",
    "ytick.color": "#5d6877", "text.color": "#17202c", "axes.titlesize": 10, "axes.titleweight": "bold",
    "axes.titlelocation": "left", "grid.color": "#e3e7ec", "grid.linewidth": 0.6, "legend.frameon": False,
    "legend.fontsize": 8})
INK, FAINT, GREY, BLUE, ORANGE = "#17202c", "#5d6877", "#8a94a3", "#0067b0", "#c8500a"
COLOURS = (BLUE, ORANGE, "#00805f", "#b03f86", "#8a6a00", "#6a4fc4", "#2b8cb8")
WIDE, NARROW, PANEL = 12.4, 3.9, 3.9  # inches, at 100 pixels an inch on the page
MAX_CURVES = 7
SAME_FLOPS = 1.05  # rows that cost the same up to this factor are named once


def minus(value, digits=2):
    return f"{value:+.{digits}f}".replace("-", "−")


def short(text, length):
    if len(text) > length and "=" in text:  # a row of a grid: its values
        text = ", ".join(part.rpartition("=")[2] for part in re.split(r"\.(?=\w+=)", text))
    return text if len(text) <= length else text[:length - 1].rstrip(" ,") + "…"


def svg_of(figure, description, path=None):
    """The figure as an element of the page, scaled to its column; saved as path.svg and path.pdf, too."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    if path:
        path.with_suffix(".svg").write_text(text.getvalue(), encoding="utf8")
        figure.savefig(path.with_suffix(".pdf"), metadata={"CreationDate": None})
    svg = text.getvalue()[text.getvalue().index("<svg"):]
    head = f'<svg viewBox="\\1" style="max-width:{figure.get_figwidth() * 100:.0f}px" role="img" aria-label="{description}">'
    pyplot.close(figure)
    svg = re.sub('<svg [^>]*?viewBox="([^"]*)"[^>]*>', head, svg, count=1)
    return re.sub("<metadata>.*?</metadata>|font-family: [^;\"]*;? ?", "", svg, flags=re.S)  # the page's font


def plain_ticks(axis):
    axis.set_major_locator(ticker.MaxNLocator(5))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,g}"))


# --- differences from the baselines: a forest plot ----------------------------------------------------------------


def forest_lines(report):
    """The rows by group: (row, text), and (None, name of the group) as headings of several rows."""
    lines = []
    for name, rows in report.groups():
        if len(rows) > 1 and len(name) > 1:
            lines.append((None, name))
        lines += [(row, report.words(row)) for row in rows]
    shown = {row for metric in report.metrics for row in report.compared(metric["key"])}
    return [line for line in lines if line[0] is None or line[0] in shown]


def forest_range(report, metric, rows):
    """Both ends of the axis: all differences but those of unstable rows, and of intervals as much as is no wider."""
    rows = [row for row in rows if not report.marked(row, metric, "unstable")] or rows
    values = [report.value(row, metric, column) for row in rows for column in ("difference", "paper_difference")]
    values = [value for value in values if value is not None] + [0.0]
    reach = max(max(values) - min(values), 1e-3)
    ends = values + [min(max(end, min(values) - reach / 3), max(values) + reach / 3) for row in rows
                     for end in (report.value(row, metric, "interval_low"), report.value(row, metric, "interval_high"))
                     if end is not None]
    return min(ends) - 0.03 * reach, max(ends) + 0.03 * reach


def draw_difference(axis, report, metric, row, y, limits):
    significant = report.marked(row, metric, "significant")
    verdict = report.statistics[row].get(f"{metric}_verdict")
    colour = FAINT if not significant else ORANGE if verdict == "disagrees" else BLUE
    low, high, value = (report.value(row, metric, column) for column in ("interval_low", "interval_high", "difference"))
    if low is not None:
        axis.plot([max(low, limits[0]), min(high, limits[1])], [y, y], color=colour, linewidth=1.4, zorder=2)
    for end, cut, mark in ((limits[0], min(value, value if low is None else low) < limits[0], "<"),
                           (limits[1], max(value, value if high is None else high) > limits[1], ">")):
        if cut:  # the interval, or the difference of an unstable row, is beyond the axis
            mark = mark if not axis.xaxis_inverted() else {"<": ">", ">": "<"}[mark]
            axis.plot(end, y, marker=mark, color=colour, markersize=5, clip_on=False, zorder=3)
    paper = report.value(row, metric, "paper_difference")
    if paper is not None:
        axis.plot(paper, y, marker="D", markersize=4.5, color="white", markeredgecolor=GREY, zorder=3)
    if limits[0] <= value <= limits[1]:
        axis.plot(value, y, marker="o", markersize=6, zorder=4, color=colour if significant else "white", markeredgecolor=colour)


def draw_forest(report, metrics, width, names):
    """A panel for each metric; better is to the right. `names`: inches for the names of rows."""
    lines = forest_lines(report)
    height = 0.23 * len(lines) + 0.95
    figure = pyplot.figure(figsize=(width, height))
    numbers = 0.75  # inches for the differences in words, beside each panel
    panel = (width - names) / len(metrics)
    for i, metric in enumerate(metrics):
        left = names + i * panel
        axis = figure.add_axes((left / width, 0.5 / height, (panel - numbers) / width, 1 - 0.95 / height))
        key = metric["key"]
        rows = report.compared(key)
        axis.set_ylim(len(lines) - 0.5, -0.5)
        limits = forest_range(report, key, rows)
        axis.set_xlim(*(limits[::-1] if metric["lower_is_better"] else limits))
        axis.axvline(0, color=GREY, linewidth=1, zorder=1)
        axis.grid(axis="x")
        axis.set_yticks([])
        axis.spines["left"].set_visible(False)
        axis.xaxis.set_major_locator(ticker.MaxNLocator(6 if panel > 3 else 4))
        axis.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}".replace("-", "−")))
        axis.set_title(f"{metric['title']}, {metric['evaluator']}")
        axis.set_xlabel("difference from the baseline; better →")
        beside = axis.get_yaxis_transform()  # x in parts of the panel, y in data
        for y, (row, words) in enumerate(lines):
            if y % 2 and row:
                axis.axhspan(y - 0.5, y + 0.5, color="#f5f7f9", zorder=0)
            if row and row in rows:
                draw_difference(axis, report, key, row, y, limits)
                star = " *" if report.marked(row, key, "significant") else ""
                axis.text(1.03, y, minus(report.value(row, key, "difference")) + star, transform=beside, va="center",
                          fontsize=8.5, color=INK if star else FAINT)
    inches = figure.dpi_scale_trans
    for y, (row, words) in enumerate(lines):
        at = height - 0.45 - (y + 0.5) * (height - 0.95) / max(len(lines), 1)
        if row is None:
            figure.text(0.05, at, short(words, int(width * 9)), transform=inches, va="center", fontsize=8, color=FAINT, style="italic")
            continue
        figure.text(0.05, at, short(row, int(names * 11)), transform=inches, va="center", weight="bold", fontsize=8.5)
        room = int((names - 0.25) * 14.5 - len(row) * 1.15)
        if room > 12:
            figure.text(0.2 + 0.078 * len(short(row, int(names * 11))), at, short(words, room), transform=inches, va="center",
                        fontsize=8, color=FAINT)
    return figure


# --- curves, options, cost, heads ---------------------------------------------------------------------------------


def panel(title, x, y, width=PANEL, height=2.7, legend=0):
    """Axes with room below for a legend of so many lines."""
    figure, axis = pyplot.subplots(figsize=(width, height + 0.18 * legend))
    figure.subplots_adjust(left=0.58 / width, right=1 - 0.12 / width, top=1 - 0.28 / height, bottom=(0.48 + 0.18 * legend) / (height + 0.18 * legend))
    axis.grid(True)
    axis.set_title(title)
    axis.set(xlabel=x, ylabel=y)
    return figure, axis


def add_legend(figure, columns=4):
    """Below the axes, where it hides nothing."""
    figure.legend(loc="lower center", ncols=columns, handlelength=1.4, columnspacing=1.2, borderaxespad=0.1)


def draw_curve(axis, curve, label, colour):
    """The mean over seeds, and their range as a band, up to where the first seed ends."""
    by_step = {}
    for points in curve.values():
        for step, value in points:
            by_step.setdefault(step, []).append(value)
    steps = sorted(step for step in by_step if len(by_step[step]) == len(curve)) or sorted(by_step)
    axis.plot(steps, [statistics.mean(by_step[step]) for step in steps], color=colour, label=label, linewidth=1.5,
              marker="" if len(steps) > 30 else ".")
    if len(curve) > 1:
        axis.fill_between(steps, *zip(*[(min(by_step[s]), max(by_step[s])) for s in steps]), color=colour, alpha=0.15, linewidth=0)
    return [value for values in by_step.values() for value in values]


def late_log(axis, values):
    """Perplexities of the first evaluations are many times the last ones: up to three times the best, logarithmic."""
    low, high = min(values), max(values)
    axis.set(yscale="log", ylim=(low * 0.97, min(high, 3 * low) * 1.03))
    axis.yaxis.set_minor_locator(ticker.NullLocator())
    plain_ticks(axis.yaxis)


def draw_learning_curves(report):
    """(name, figure): perplexity by updates, a panel for each group of rows, with the first row in grey."""
    evaluator = next((m["evaluator"] for m in report.metrics if m["key"] == "ppl"), None)
    curve_of = {row: report.curves.get((row, evaluator, "ppl")) for row in report.names}
    groups = report.groups() or [(report.first, [])]
    for name, rows in groups:
        rows = [row for row in rows if curve_of[row]]
        for start in range(0, max(len(rows), 1), MAX_CURVES):
            part = rows[start:start + MAX_CURVES]
            if not part and (len(groups) > 1 or not curve_of[report.first]):
                continue
            title = name if len(rows) <= MAX_CURVES else f"{name} ({start + 1} to {start + len(part)} of {len(rows)})"
            columns = 4 if max(map(len, part), default=0) <= 10 else 2
            figure, axis = panel(short(title, 46), "updates", "perplexity (log scale)", legend=1 + len(part) // columns)
            values = draw_curve(axis, curve_of[report.first], report.first, GREY) if curve_of[report.first] else []
            for row, colour in zip(part, COLOURS):
                values += draw_curve(axis, curve_of[row], short(row.removeprefix(f"{name}."), 24), colour)
            late_log(axis, values)
            axis.set_xlim(0)
            add_legend(figure, columns)
            plain_ticks(axis.xaxis)
            yield f"curve-{name}" + (f"-{start // MAX_CURVES + 1}" if len(rows) > MAX_CURVES else ""), figure


def draw_run_curves(report):
    """(name, figure) of a single run: each evaluator's main metric, and perplexity of training in grey."""
    for metric in report.metrics:
        curves = {evaluator: curve for (_, evaluator, key), curve in report.curves.items() if key == metric["key"]}
        if not curves:
            continue
        perplexity = metric["key"] == "ppl"
        figure, axis = panel(metric["title"], "updates", metric["title"] + (" (log scale)" if perplexity else ""),
                             legend=1 + (len(curves) - 1) // 4)
        colours = iter(COLOURS * 3)
        values = []
        for evaluator, curve in curves.items():
            values += draw_curve(axis, curve, evaluator, GREY if evaluator == "training" else next(colours))
        if perplexity:
            late_log(axis, values)
        add_legend(figure)
        plain_ticks(axis.xaxis)
        yield f"curve-{metric['key']}", figure


def draw_options(report):
    """(name, figure): the mean score by the value of a numeric option that a group of rows varies."""
    for name, rows in report.groups():
        grid = report.grid(rows)
        for metric in report.metrics if grid else ():
            option, values = grid
            points = sorted((value, report.value(row, metric["key"], "mean"), report.value(row, metric["key"], "deviation"))
                            for row, value in values.items() if report.value(row, metric["key"], "mean") is not None)
            if len(points) < 3:
                continue
            x, means, deviations = zip(*points)
            log = min(x) > 0 and max(x) > 4 * min(x)
            figure, axis = panel(f"{metric['title']} by {option}", option + (" (log scale)" if log else ""), metric["title"], height=2.4)
            axis.errorbar(x, means, [deviation or 0.0 for deviation in deviations], color=BLUE, marker="o", markersize=4, capsize=2)
            if log:
                axis.set_xscale("log", base=2)
            axis.set_xticks(x, [f"{value:g}" for value in x])
            axis.xaxis.set_minor_locator(ticker.NullLocator())
            yield f"option-{name}-{metric['key']}", figure


def draw_cost(report, metric, width):
    """Score by training FLOPs. Of rows that cost the same, the best and the worst are named; the others are in the table."""
    points = [(report.flops(row), report.value(row, metric["key"], "mean"), row) for row in report.names]
    points = sorted(point for point in points if None not in point)
    if len({flops for flops, _, _ in points}) < 3:
        return None
    figure, axis = panel("", "training FLOPs of a run (log scale)", metric["title"], width, 3.6)
    clusters = []
    for point in points:
        if not clusters or point[0] >= clusters[-1][0][0] * SAME_FLOPS:
            clusters.append([])
        clusters[-1].append(point)
    named = {report.first} | {pick(cluster, key=lambda point: point[1])[2] for cluster in clusters for pick in (min, max)}
    for flops, mean, row in points:
        deviation = report.value(row, metric["key"], "deviation")
        colour = INK if row == report.first else BLUE if report.marked(row, metric["key"], "significant") else GREY
        axis.errorbar(flops, mean, deviation or 0.0, color=colour, marker="o", markersize=4, elinewidth=0.8)
        if row in named:
            axis.annotate(short(row, 24), (flops, mean), (5, 3), textcoords="offset points", fontsize=8, color=colour)
    axis.set_xscale("log")
    axis.margins(x=0.12)
    if metric["lower_is_better"]:
        axis.invert_yaxis()
        axis.set_ylabel(f"{metric['title']}, reversed")
    return figure


def draw_pruning(report):
    """BLEU by the share of heads masked, the least important first; None without such runs."""
    figure, axis = panel("", "% of heads masked, the least important first", "BLEU", legend=2)
    colours = iter((GREY, *COLOURS))
    for row, runs in report.heads().items():
        curves = [[(100 * point["masked"] / len(run["heads"]), point["bleu"]) for point in run["pruning"]] for run in runs if "pruning" in run]
        if curves and (colour := next(colours, None)):
            axis.plot([x for x, _ in curves[0]], numpy.mean([[y for _, y in curve] for curve in curves], axis=0), marker=".",
                      color=colour, label=row)
    if not axis.lines:
        return None
    add_legend(figure)
    return figure
