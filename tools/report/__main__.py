"""Draws the page of a report, report.html, and its figures as SVG and PDF, from what `attn report` wrote.

    attn report runs/table3 && python3 tools/report runs/table3     ./run report runs/table3 calls both

Needs NumPy, SciPy and matplotlib. The page is one file that loads nothing. Significance is read from rows.csv; computed
here are only the summaries of rows: Kendall's τ with the paper, and the smallest differences that the tests can find.
"""
import argparse
import html
import statistics
import sys
from pathlib import Path

try:
    import figures
    from data import Report
except ImportError as error:
    sys.exit(f"the page needs NumPy, SciPy and matplotlib ({error}): pip install numpy scipy matplotlib")

STYLE = """
:root { --ink: #17202c; --faint: #5d6877; --rule: #e3e7ec; --shade: #f5f7f9; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1288px; padding: 20px 24px 60px; color: var(--ink); background: #fff;
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; font-variant-numeric: tabular-nums; }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 40px 0 4px; }
p { margin: 5px 0; max-width: 110ch; overflow-wrap: anywhere; }
.small, details { color: var(--faint); font-size: 0.85rem; }
.state { color: #c8500a; }
svg { display: block; width: 100%; height: auto; }
figure { margin: 0; min-width: 0; }
.narrow { display: none; }
.panels { display: grid; gap: 18px 24px; grid-template-columns: repeat(auto-fill, minmax(min(100%, 350px), 1fr)); }
.key span { margin-right: 16px; white-space: nowrap; }
.scroll { overflow-x: auto; margin: 8px 0; }
table { border-collapse: separate; border-spacing: 0; font-size: 0.84rem; }
th, td { padding: 3px 8px; text-align: right; white-space: nowrap; }
thead th { color: var(--faint); border-bottom: 1px solid #9aa4b2; vertical-align: bottom; }
th.text, td.text, tbody th { text-align: left; }
td.long { white-space: normal; min-width: 30em; }
tbody th { position: sticky; left: 0; background: #fff; white-space: normal; }
tbody tr:nth-child(even) > * { background: var(--shade); }
pre { overflow-x: auto; background: var(--shade); padding: 8px 12px; }
code, pre { font: 0.88em ui-monospace, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
@media (max-width: 900px) { .wide { display: none; } .narrow { display: grid; gap: 16px; } body { padding: 14px 14px 40px; } }
@media print { @page { margin: 12mm; } body { padding: 0; font-size: 9pt; } h2 { break-after: avoid; }
  .wide { display: none; } .narrow { display: grid; gap: 12px; grid-template-columns: 1fr 1fr; } .panels { grid-template-columns: 1fr 1fr; }
  figure, tr { break-inside: avoid; } .scroll { overflow: visible; } table { font-size: 6.5pt; } th, td { padding: 1px 3px; }
  thead th { white-space: normal; } td.long { min-width: 0; } tbody th { position: static; } }
"""


def escaped(text):
    return html.escape(str(text))


def paragraphs(lines, style="small"):
    return "".join(f'<p class="{style}">{escaped(line)}</p>\n' for line in lines if line)


def html_table(columns, rows):
    """columns: [(title, whether text)]."""
    kinds = [' class="text"' if text else "" for _, text in columns]
    head = "".join(f"<th{kind}>{escaped(title)}</th>" for kind, (title, _) in zip(kinds, columns))

    def cell(i, text):
        kind = ' class="text long"' if i and columns[i][1] and len(text) > 24 else kinds[i]
        return f"<td{kind}>{escaped(text)}</td>" if i else f"<th>{escaped(text)}</th>"
    body = "".join(f"<tr>{''.join(cell(i, text) for i, text in enumerate(row))}</tr>\n" for row in rows)
    return f'<div class="scroll" tabindex="0"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody></table></div>\n'


def printed_table(table, first=()):
    """A table of report.json; the columns of the metrics `first` come after the first column, without their intervals,
    which are drawn."""
    columns = table["columns"]

    def place(i):
        return next((n for n, key in enumerate(first) if columns[i]["key"].split("_")[0] == key), len(first))
    order = [0, *sorted((i for i in range(1, len(columns)) if not columns[i]["key"].endswith("_interval")), key=place)]
    return html_table([(columns[i]["title"], columns[i]["text"]) for i in order], [[row[i] for i in order] for row in table["rows"]])


def summary(report):
    """For each metric the first row's score, how many rows differ, and the comparison with the paper."""
    facts = {report.first: [], "rows that differ significantly": [], "with the paper's sign / against it / unclear": [],
             "Kendall's τ of the differences with the paper's": [], "smallest difference that one test finds / after Holm": []}
    metrics = [metric for metric in report.metrics if report.compared(metric["key"])]
    for metric in metrics:
        key = metric["key"]
        compared, verdicts = report.compared(key), report.verdicts(key)
        tau, found = report.rank_correlation(key), report.detectable(key)
        signs = [verdicts[word] for word in ("agrees", "disagrees", "inconclusive")]
        interval = "" if not tau or not tau[1] else f" [{tau[1][0]:.2f}, {tau[1][1]:.2f}]"
        mean, deviation = (report.value(report.first, key, part) for part in ("mean", "deviation"))
        texts = ["" if mean is None else f"{mean:.2f}" + (f" ± {deviation:.2f}" if deviation is not None else ""),
                 f"{sum(report.marked(row, key, 'significant') for row in compared)} of {len(compared)}",
                 "{} / {} / {}".format(*signs) if sum(signs) else "", f"{tau[0]:.2f}{interval}" if tau else "",
                 f"{found[0]:.2f} / {found[1]:.2f}" if found else ""]
        for cells, text in zip(facts.values(), texts):
            cells.append(text)
    titles = [("", True)] + [(f"{metric['title']}, {metric['evaluator']}", False) for metric in metrics]
    return html_table(titles, [[name, *cells] for name, cells in facts.items() if any(cells)]) if metrics else ""


def heads_table(report):
    """Importance by kind of attention, and how many heads can be masked at a loss of 1 BLEU; means over runs."""
    lines = []
    for row, runs in report.heads().items():
        cells = [row, f"{statistics.mean(len(run['heads']) for run in runs):.0f}"]
        for kind in ("encoder", "decoder", "cross"):
            shares = [sum(h["importance"] for h in run["heads"] if h["kind"] == kind) / sum(h["importance"] for h in run["heads"])
                      for run in runs if all(h["importance"] is not None for h in run["heads"])]
            cells.append(f"{100 * statistics.mean(shares):.0f}" if shares else "")
        masked = []
        for run in (run for run in runs if "pruning" in run):
            points = run["pruning"]
            kept = [point["masked"] for point in points if point["bleu"] >= points[0]["bleu"] - 1]
            masked.append(max(kept) / len(run["heads"]))
        lines.append(cells + [f"{100 * statistics.mean(masked):.0f}" if masked else ""])
    titles = ("row", "heads", "importance, %: encoder", "decoder", "cross", "can be masked, %")
    return html_table([(title, i == 0) for i, title in enumerate(titles)], lines) if lines else ""


class Page:
    def __init__(self, report):
        self.report, self.parts, self.folder = report, [], report.directory / "figures"
        self.folder.mkdir(exist_ok=True)

    def add(self, text, heading="", caption=""):
        if text:
            self.parts.append((f"<h2>{escaped(heading)}</h2>\n{paragraphs([caption])}" if heading else "") + text)

    def figure(self, name, figure, style="", saved=True):
        """The figure as HTML, and in the folder of figures."""
        if figure is None:
            return ""
        path = self.folder / "".join(c if c.isalnum() or c in "-_=" else "-" for c in name)
        return f'<figure class="{style}">{figures.svg_of(figure, escaped(name), path if saved else None)}</figure>\n'

    def panels(self, drawn):
        text = "".join(self.figure(name, figure) for name, figure in drawn)
        return text and f'<div class="panels">\n{text}</div>\n'

    def forest(self):
        report = self.report
        metrics = [metric for metric in report.metrics if report.compared(metric["key"])]
        if not metrics:
            return ""
        wide = "".join(self.figure(f"differences-{i // 2 + 1}" if len(metrics) > 2 else "differences",
                                   figures.draw_forest(report, metrics[i:i + 2], figures.WIDE, 4.2), "wide")
                       for i in range(0, len(metrics), 2))
        narrow = "".join(self.figure("", figures.draw_forest(report, [metric], figures.NARROW, 1.15), saved=False) for metric in metrics)
        paper = any(report.value(row, m["key"], "paper_difference") is not None for m in metrics for row in report.names)
        marks = ["● significant (*)", "○ not significant", "— 95 % interval, an arrow where it is cut"]
        marks += ["◇ the paper's difference", "orange: against the paper's sign"] if paper else []
        key = "".join(f"<span>{mark}</span> " for mark in marks)
        return f'<p class="small key">{key}</p>\n{wide}<div class="narrow">{narrow}</div>\n'

    def cost(self):
        for metric in self.report.metrics:
            figure = figures.draw_cost(self.report, metric, 7)
            if figure:
                narrow = self.figure("", figures.draw_cost(self.report, metric, figures.NARROW), saved=False)
                return self.figure("cost", figure, "wide") + f'<div class="narrow">{narrow}</div>\n'
        return ""

    def sweep(self):
        report = self.report
        self.add(summary(report))
        self.add(self.forest())
        self.add(printed_table(report.meta["results"], [metric["key"] for metric in report.metrics]) +
                 paragraphs(report.meta["notes"]) + "<details open><summary>Columns and tests</summary>" +
                 paragraphs(report.meta["legend"]) + "</details>\n", "Results")
        self.add(self.panels(figures.draw_learning_curves(report)), "Learning curves",
                 f"Mean over seeds, with their range as a band; {report.first} in grey. Weights that are not averaged.")
        self.add(self.panels(figures.draw_options(report)), "By option", "Means over seeds; bars: one standard deviation.")
        self.add("".join(f"<p>{escaped(row['name'])}: {escaped(row['change_label'])}</p>\n<pre>{escaped(row['change'])}</pre>\n"
                         for row in report.rows.values() if row.get("change")), "Changes of the program")
        pruning = figures.draw_pruning(report) if report.heads() else None
        self.add(heads_table(report) + self.panels([("heads", pruning)]), "Heads", "From heads.json of the runs (attn heads); can be "
                 "masked: the largest share at which BLEU is at most 1 lower.")
        self.add(self.cost(), "Score and cost", "Means over seeds; bars: one standard deviation. Of rows that cost the same, the best and "
                 "the worst are named. Blue: significantly different.")

    def run(self):
        self.add(paragraphs(self.report.meta["notes"]))
        self.add(self.panels(figures.draw_run_curves(self.report)))
        self.add(printed_table(self.report.meta["scores"]), "Scores")

    def text(self):
        meta = self.report.meta
        if "scores" in meta:
            self.run()
        else:
            self.sweep()
        self.add(printed_table(meta["cost"]), "Training cost", "Means over runs; speeds only of rows whose runs had one kind of processor.")
        facts = [key for key in self.report.runs[0] if key in ("row", "seed", "commit", "processor", "gpu", "precision", "libtorch", "started")] \
            if self.report.runs else []
        runs = html_table([(key, True) for key in facts], [[run[key] for key in facts] for run in self.report.runs]) if facts else ""
        self.add(f"<p><code>{escaped(meta['command'])}</code></p>\n<details><summary>Provenance of the runs</summary>{runs}</details>\n" +
                 paragraphs([meta["made"]]), "Reproduce")
        head = f"<h1>{escaped(meta['title'])}</h1>\n{paragraphs([meta['about']])}{paragraphs([meta['state']], 'state')}"
        return ('<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, '
                f'initial-scale=1">\n<title>{escaped(meta["title"])}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{head}'
                + "".join(self.parts) + "</body>\n</html>\n")


def main():
    parser = argparse.ArgumentParser(prog="tools/report", description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path, help="directory of a sweep or a run")
    directory = parser.parse_args().directory
    if not (directory / "report.json").is_file():
        sys.exit(f"{directory}/report.json is missing: run attn report {directory} first")
    page = directory / "report.html"
    page.write_text(Page(Report(directory)).text(), encoding="utf8")
    print(f"written: {page}, and its figures as SVG and PDF in {directory}/figures", file=sys.stderr)


if __name__ == "__main__":
    main()
