#!/usr/bin/env python3
"""How a training step grows: target tokens/s against sentence length, batch, vocabulary, width, depth and threads.

    python3 tools/growth.py path/to/attn [--config experiments/multi30k/tiny.json] [--seconds 3] [--rounds 3]

Prints Markdown tables of medians, on invented text, so it needs no data. GFLOP/s are those of the closed form
(model/size.cpp): where they stay level, the step grows as the paper's Table 1 says its products must.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys


def width(n):
    return [f"--set=model.{name}={value}" for name, value in
            (("d_model", n), ("d_ff", 2 * n), ("d_k", n // 4), ("d_v", n // 4))]


# What grows, its values, and the arguments that set it.
SERIES = (
    ("tokens of a sentence", (10, 20, 40, 80, 160, 320), lambda n: ["--invented", str(n)]),
    ("tokens of a batch", (512, 1024, 2048, 4096, 8192), lambda n: [f"--set=data.batch_tokens={n}"]),
    ("vocabulary", (1000, 4000, 10000, 37000), lambda n: ["--vocabulary", str(n)]),
    ("d_model (d_ff = 2 d_model, d_k = d_model / 4)", (64, 128, 256, 512), width),
    ("layers", (1, 2, 4, 8), lambda n: [f"--set=model.layers={n}"]),
)


def measure(options, arguments, threads):
    command = [options.attn, "--threads", str(threads), "bench", "step", options.config, "--json", "--seconds",
               str(options.seconds), "--batch-tokens", "100000"]
    if "--invented" not in arguments:
        command += ["--invented", "20"]
    done = subprocess.run(command + arguments, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command + arguments)}: exit code {done.returncode}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("attn")
    parser.add_argument("--config", default="experiments/multi30k/tiny.json")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    points = [(name, value, arguments(value), cores) for name, values, arguments in SERIES for value in values]
    points += [("threads", n, [], n) for n in sorted({1, (cores + 1) // 2, cores})]
    before = None
    for name, value, arguments, threads in points:
        if name != before:
            print(f"\n| {name} | target tokens/s | GFLOP/s | GB |\n| --- | --- | --- | --- |")
        before = name
        runs = [measure(options, arguments, threads) for _ in range(options.rounds)]
        rate, flops, memory = (statistics.median(run[key] for run in runs)
                               for key in ("tokens_per_second", "flops_per_second", "memory"))
        print(f"| {value:,} | {rate:,.0f} | {flops / 1e9:.0f} | {memory / 1e9:.2f} |", flush=True)


if __name__ == "__main__":
    main()
