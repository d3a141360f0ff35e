#!/usr/bin/env python3
"""Training rates of all rows of a sweep, with several runs at once, by several programs in alternation.

    attn sweep experiments/multi30k/table3.json --run runs/rates --slurm --no-submit   # writes the rows' configs
    python3 tools/peers/sweep_rates.py --jobs 2 --rounds 2 \\
        attn="attn --threads 1 bench step {config} --vocabulary 4000 --json --seconds 2" \\
        torch="python3 tools/peers/pytorch_step.py --config {config} --vocabulary 4000 --threads 1 --seconds 2" \\
        -- runs/rates/submitted/*/*/seed-1.json

Each command prints one JSON object with tokens_per_second. A row's rate is the sum of the jobs' rates, its median over
the rounds. The last line is the rate of the whole sweep, in which every row trains on as many tokens.
"""
import argparse
import json
import pathlib
import shlex
import statistics
import subprocess
import sys


def rate(command, config, jobs):
    """The summed tokens/s of `jobs` processes that run at the same time."""
    words = shlex.split(command.replace("{config}", shlex.quote(str(config))))
    running = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(jobs)]
    total = 0.0
    for process in running:
        out, errors = process.communicate()
        if process.returncode != 0:
            sys.exit(f"{shlex.join(words)}: exit code {process.returncode}\n{errors[-2000:]}")
        total += json.loads(out)["tokens_per_second"]
    return total


def whole(rates):
    """The rate over all rows: harmonic, since each row trains on as many tokens."""
    return len(rates) / sum(1 / rate for rate in rates)


def table(measured, rows):
    names = list(measured)
    head = ["row", *names, *(f"{names[0]} / {name}" for name in names[1:])]
    print("| " + " | ".join(head) + " |\n| --- |" + " ---: |" * (len(head) - 1))
    medians = {name: [statistics.median(rates) for rates in measured[name].values()] for name in names}
    for i, row in enumerate([*rows, "sweep"]):
        values = [medians[name][i] if i < len(rows) else whole(medians[name]) for name in names]
        cells = [row, *(f"{value:,.0f}" for value in values), *(f"{values[0] / value:.2f}" for value in values[1:])]
        print("| " + " | ".join(cells) + " |")


def main():
    arguments = sys.argv[1:]
    if "--" not in arguments:
        sys.exit("usage: sweep_rates.py [--jobs N] [--rounds N] NAME=COMMAND … -- CONFIG …")
    cut = arguments.index("--")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("commands", nargs="+", metavar="NAME=COMMAND")
    options = parser.parse_args(arguments[:cut])
    configs = [pathlib.Path(path) for path in arguments[cut + 1:]]
    rows = [path.parent.name for path in configs]
    commands = dict(command.split("=", 1) for command in options.commands)
    measured = {name: {row: [] for row in rows} for name in commands}
    for _ in range(options.rounds):
        for row, config in zip(rows, configs):
            for name, command in commands.items():
                measured[name][row].append(rate(command, config, options.jobs))
                print(f"{row} {name}: {measured[name][row][-1]:,.0f}", file=sys.stderr, flush=True)
    table(measured, rows)


if __name__ == "__main__":
    main()
