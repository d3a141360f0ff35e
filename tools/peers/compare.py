#!/usr/bin/env python3
"""Benchmarks commands in alternation: several rounds, medians and ratios to the first one.

    python3 tools/peers/compare.py --key tokens_per_second --rounds 5 \\
        attn="./run bench step experiments/multi30k/tiny.json --json" \\
        plain="python3 tools/peers/pytorch_step.py runs/tiny"

Each command prints one JSON object, or a list of one. On a shared machine only the ratios are meaningful.
"""
import argparse
import json
import shlex
import statistics
import subprocess
import sys


def values_of(command):
    done = subprocess.run(shlex.split(command), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    values = json.loads(done.stdout)
    if not isinstance(values, list):
        return values
    if len(values) != 1:
        sys.exit(f"{command}: {len(values)} results; ask for one (--at-once N)")
    return values[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--key", required=True, help="JSON key of the value to compare; higher is better")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("commands", nargs="+", metavar="NAME=COMMAND")
    options = parser.parse_args()
    commands = dict(command.split("=", 1) for command in options.commands)
    seen = {name: [] for name in commands}
    memory = {name: [] for name in commands}
    for _ in range(options.rounds):
        for name, command in commands.items():
            values = values_of(command)
            seen[name].append(values[options.key])
            memory[name].append(values.get("memory"))
            print(f"{name}: {seen[name][-1]:.5g}", file=sys.stderr, flush=True)
    first = next(iter(seen))
    print(f"| | {options.key} (median of {options.rounds}) | lowest to highest | {first} is faster by | memory, GB |")
    print("| --- | --- | --- | --- | --- |")
    for name, values in seen.items():
        # In each round the two were measured one after the other: the median of ratios cancels what both suffered.
        ratio = statistics.median(a / b for a, b in zip(seen[first], values))
        resident = f"{statistics.median(memory[name]) / 1e9:.2f}" if None not in memory[name] else "–"
        print(f"| {name} | {statistics.median(values):.4g} | {min(values):.4g} to {max(values):.4g} | {ratio:.2f} × | "
              f"{resident} |")


if __name__ == "__main__":
    main()
