"""Benchmarks commands in alternation: several rounds, medians and ratios to the first one.

    python3 tools/peers/compare.py --key tokens_per_second --rounds 5 \\
        attn="./run bench step experiments/multi30k/tiny.json --json" \\
        plain="python3 tools/peers/pytorch_step.py runs/tiny"

Each command prints one JSON object, or a list of one. On a shared machine only the ratios are meaningful. --record
results/speed/NAME.json keeps the rates of all rounds, from which tools/recompute computes the row NAME of a page.

    python3 tools/peers/compare.py --sweep runs/today --rounds 3 attn="attn --threads 1 bench step {config} --json"

With --sweep, one command, the rows of that sweep (or --rows A,B): each as a multiple of the first row, which is measured
before and after it, since machines drift, as measured and at equal FLOPs (the ratio of the FLOPs per second).
"""
import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time
from statistics import median


def values_of(command):
    done = subprocess.run(shlex.split(command), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{command}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    values = json.loads(done.stdout)
    if isinstance(values, list) and len(values) != 1:
        sys.exit(f"{command}: {len(values)} results; ask for one (--at-once N)")
    return values[0] if isinstance(values, list) else values


def table(head, rows):
    print(f"| {' | '.join(head)} |\n| --- |" + " ---: |" * (len(head) - 1))
    for row in rows:
        print(f"| {' | '.join(row)} |")


def processor():
    lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf8").split("\n\n")[0].split("\n")
    found = dict(re.split(r"\s*:\s*", line, maxsplit=1) for line in lines)
    return f"{found.get('model name', '?')}, family {found.get('cpu family', '?')}, model {found.get('model', '?')}"


def compare(commands, key, rounds, record):
    seen = {name: [] for name in commands}
    told = record and {"date": time.strftime("%Y-%m-%d"), "processor": processor(), "key": key, "commands": commands}
    for _ in range(rounds):
        for name, command in commands.items():
            seen[name].append(values_of(command))
            print(f"{name}: {seen[name][-1][key]:.5g}", file=sys.stderr, flush=True)
    rates = {name: [values[key] for values in found] for name, found in seen.items()}
    if record:
        record.write_text(json.dumps(told | {"rounds": rates}, indent=1) + "\n", encoding="utf8")
    first = next(iter(rates))
    rows = []
    for name, values in rates.items():
        # In each round the two were measured one after the other: the median of ratios cancels what both suffered.
        ratio = median(a / b for a, b in zip(rates[first], values))
        memory = [found.get("memory") for found in seen[name]]
        rows.append((name, f"{median(values):.4g}", f"{min(values):.4g} to {max(values):.4g}", f"{ratio:.2f} ×",
                     "–" if None in memory else f"{median(memory) / 1e9:.2f}"))
    table(("", f"{key} (median of {rounds})", "lowest to highest", f"{first} is faster by", "memory, GB"), rows)


def compare_rows(command, key, rounds, sweep, only):
    rows = json.loads((sweep / "sweep.json").read_text(encoding="utf8"))["rows"]
    if unknown := set(only) - {row["name"] for row in rows}:
        sys.exit(f"--rows {','.join(sorted(unknown))}: not a row of {sweep}")
    rows = [row for row in rows if not only or row is rows[0] or row["name"] in only]
    seen, ratios, flops = {row["name"]: [] for row in rows}, {row["name"]: [] for row in rows}, {}
    with tempfile.TemporaryDirectory() as folder:
        def rate(row):
            path = pathlib.Path(folder) / f"{row['name']}.json"
            path.write_text(json.dumps(row["config"]), encoding="utf8")
            values = values_of(command.replace("{config}", str(path)))
            flops[row["name"]] = values["flops_per_second"] / values[key]
            seen[row["name"]].append(values[key])
            return values[key]

        for number in range(rounds):
            before = rate(rows[0])
            for row in rows[1:]:
                own, after = rate(row), rate(rows[0])
                ratios[row["name"]].append(own / (0.5 * (before + after)))
                before = after
                print(f"round {number + 1}: {row['name']} {own:.0f}, {ratios[row['name']][-1]:.2f}", file=sys.stderr)
    work = {name: flops[name] / flops[rows[0]["name"]] for name in flops}
    table(("row", "target tokens/s", "× the first row", "lowest", "highest", "FLOPs ×", "at equal FLOPs ×"),
          [(name, f"{median(seen[name]):,.0f}",
            *([f"{median(own):.2f}", f"{min(own):.2f}", f"{max(own):.2f}", f"{work[name]:.3f}",
               f"{median(own) * work[name]:.2f}"] if own else [""] * 5)) for name, own in ratios.items()])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--key", default="tokens_per_second", help="JSON key of the value to compare; higher is better")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--record", type=pathlib.Path, metavar="FILE", help="writes the rates of all rounds, as JSON")
    parser.add_argument("--sweep", type=pathlib.Path, help="sweep directory, with sweep.json")
    parser.add_argument("--rows", default="", metavar="A,B", help="rows of the sweep (default: all)")
    parser.add_argument("commands", nargs="+", metavar="NAME=COMMAND")
    options = parser.parse_args()
    if bare := [command for command in options.commands if "=" not in command]:
        parser.error(f"{bare[0]}: expected NAME=COMMAND")
    commands = dict(command.split("=", 1) for command in options.commands)
    if options.sweep and (len(commands) != 1 or options.record):
        parser.error("--sweep: give one command, and no --record")
    if options.sweep:
        compare_rows(*commands.values(), options.key, options.rounds, options.sweep, options.rows.split(",") if options.rows else [])
    else:
        compare(commands, options.key, options.rounds, options.record)


if __name__ == "__main__":
    main()
