#!/usr/bin/env python3
"""Scaling of a training step: target tokens/s by sentence length, batch, vocabulary, width, depth and threads.

    python3 tools/growth.py path/to/attn [--config experiments/multi30k/tiny.json] [--precision fp32 bf16]
                                         [--seconds 3] [--rounds 3] [--plot results/growth.svg]

Prints Markdown tables of medians, measured on synthetic text. MFLOPs per target token are those of the closed form
(model/size.h): Table 1's terms n·d² and n²·d, and the output layer. At constant GFLOP/s time is proportional to them.
The last lines give the share of n²·d by sentence length. --plot (needs matplotlib) draws the rates; the dashed lines
assume the GFLOP/s (per thread) of the first point.
"""
import argparse
import collections
import importlib.util
import json
import os
import statistics
import subprocess
import sys

Point = collections.namedtuple("Point", "value rate flops memory")  # target tokens/s, FLOP/s, bytes


def width(n):
    return [f"--set=model.{name}={value}" for name, value in
            (("d_model", n), ("d_ff", 2 * n))]


# What grows, its values, and the arguments that set it.
SERIES = (
    ("tokens of a sentence", (10, 20, 40, 80, 160, 320), lambda n: ["--synthetic", str(n)]),
    ("tokens of a batch", (512, 1024, 2048, 4096, 8192), lambda n: [f"--set=data.batch_tokens={n}"]),
    ("vocabulary", (1000, 4000, 10000, 37000), lambda n: ["--vocabulary", str(n)]),
    ("d_model (d_ff = 2 d_model, d_k = d_model / 4)", (64, 128, 256, 512), width),
    ("layers", (1, 2, 4, 8), lambda n: [f"--set=model.layers={n}"]),
)


def run(options, precision, arguments, threads):
    command = [options.attn, "--threads", str(threads), "bench", "step", options.config, "--json", "--seconds",
               str(options.seconds), "--batch-tokens", "100000", f"--set=train.precision={precision}"]
    if "--synthetic" not in arguments:
        command += ["--synthetic", "20"]
    done = subprocess.run(command + arguments, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command + arguments)}: exit code {done.returncode}")
    return json.loads(done.stdout)


def measure(options, value, arguments, threads):
    """A point for each precision, which take turns."""
    runs = [[run(options, precision, arguments, threads) for precision in options.precision]
            for _ in range(options.rounds)]
    return [Point(value, *(statistics.median(one[key] for one in of_precision)
                           for key in ("tokens_per_second", "flops_per_second", "memory")))
            for of_precision in zip(*runs)]


def mflops(point):
    return point.flops / point.rate / 1e6


def print_shares(rows):
    """FLOPs per token are a + b n: the product of scores and values grows with n, everything else does not."""
    first, last = rows[0][0], rows[-1][0]
    slope = (mflops(last) - mflops(first)) / (last.value - first.value)
    shares = [f"{100 * slope * points[0].value / mflops(points[0]):.0f} % at {points[0].value}" for points in rows]
    print(f"\nShare of n²·d in a step's FLOPs: {', '.join(shares)} tokens.")


def print_head(name, precisions):
    columns = [name, "MFLOPs per token"] + [f"{precision}, {unit}" for precision in precisions for unit in ("tokens/s", "GFLOP/s", "GB")]
    print(f"\n| {' | '.join(columns)} |\n{'| --- ' * len(columns)}|")


def print_row(points):
    cells = [f"{points[0].value:,}", f"{mflops(points[0]):.1f}"]
    for point in points:
        cells += [f"{point.rate:,.0f}", f"{point.flops / 1e9:.0f}", f"{point.memory / 1e9:.2f}"]
    print(f"| {' | '.join(cells)} |", flush=True)


def plot(path, precisions, curves):
    import matplotlib
    matplotlib.use("svg")
    from matplotlib import pyplot
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "attn", "font.size": 9})
    figure, axes = pyplot.subplots(2, 3, figsize=(10, 6), layout="constrained")
    thousands = FuncFormatter(lambda x, _: f"{x:,.0f}")
    for axis, (name, rows) in zip(axes.flat, curves.items()):
        values = [points[0].value for points in rows]
        for i, precision in enumerate(precisions):
            curve = [points[i] for points in rows]
            axis.plot(values, [point.rate for point in curve], "o-", color=f"C{i}", label=precision)
            level = [point.rate * curve[0].flops / point.flops for point in curve]
            if name == "threads":
                level = [rate * value / values[0] for rate, value in zip(level, values)]
            axis.plot(values, level, "--", color=f"C{i}", linewidth=0.8)
        axis.set(xscale="log", yscale="log", xlabel=name.replace(" (", "\n("))
        low, high = axis.get_ylim()
        if high < 4 * low:  # at least a factor of 4, so that several ticks have labels
            middle = (low * high) ** 0.5
            axis.set_ylim(middle / 2, middle * 2)
        axis.set_xticks(values, [f"{value:,}" for value in values])
        axis.xaxis.set_minor_locator(NullLocator())
        axis.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7)))
        axis.yaxis.set_minor_locator(NullLocator())
        axis.yaxis.set_major_formatter(thousands)
        axis.grid(True, which="both", linewidth=0.3)
    axes.flat[0].legend()
    figure.supylabel("target tokens/s")
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("attn")
    parser.add_argument("--config", default="experiments/multi30k/tiny.json")
    parser.add_argument("--precision", nargs="+", default=["fp32"], choices=["fp32", "bf16"])
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--plot", metavar="FILE.svg")
    options = parser.parse_args()
    if options.plot and not importlib.util.find_spec("matplotlib"):
        sys.exit("--plot requires matplotlib: pip install matplotlib")  # before the minutes of measurement
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    series = [(name, [(value, arguments(value), cores) for value in values]) for name, values, arguments in SERIES]
    series.append(("threads", [(n, [], n) for n in sorted({1, (cores + 1) // 2, cores})]))
    curves = {}
    for name, settings in series:
        print_head(name, options.precision)
        curves[name] = []
        for setting in settings:
            curves[name].append(measure(options, *setting))
            print_row(curves[name][-1])
    print_shares(curves[SERIES[0][0]])
    if options.plot:
        plot(options.plot, options.precision, curves)


if __name__ == "__main__":
    main()
