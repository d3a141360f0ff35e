#!/usr/bin/env python3
"""Draws the times of Table 1's layer types by sentence length, a panel for each width.

    build/release/app/attn bench table1 CONFIG --json > table1.json
    python3 tools/table1_plot.py table1.json [MORE.json …] results/table1/times.svg

Needs matplotlib. Each file holds a list of points; several files are joined.
"""
import json
import sys


def plot(points, path):
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot
    from matplotlib.ticker import NullLocator
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "attn", "font.size": 9})
    widths = sorted({point["width"] for point in points})
    lengths = sorted({point["length"] for point in points})
    layers = list(dict.fromkeys(point["layer"] for point in points))
    figure, axes = pyplot.subplots(1, len(widths), figsize=(2.6 * len(widths) + 0.6, 3.9), layout="constrained", squeeze=False)
    for axis, width in zip(axes.flat, widths):
        for i, layer in enumerate(layers):
            curve = sorted((point["length"], 1e3 * (point["forward"] + point["backward"])) for point in points
                           if point["layer"] == layer and point["width"] == width)
            style = "--" if layer.startswith("restricted") else "-"
            axis.plot(*zip(*curve), style, marker=".", color=f"C{i}", label=layer, linewidth=1.2)
        axis.axvline(width, color="0.6", linewidth=0.8, linestyle=":")
        axis.set(xscale="log", yscale="log", title=f"d = {width}", xlabel="tokens of a sentence, n")
        axis.set_xticks(lengths, [f"{n:,}" for n in lengths], fontsize=7)
        axis.xaxis.set_minor_locator(NullLocator())
        axis.grid(True, linewidth=0.3)
    axes.flat[0].set_ylabel(f"ms for {points[0]['tokens']:,} positions, one thread\nforward and backward")
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    points = []
    for name in sys.argv[1:-1]:
        with open(name, encoding="utf-8") as file:
            points += json.load(file)
    plot(points, sys.argv[-1])


if __name__ == "__main__":
    main()
