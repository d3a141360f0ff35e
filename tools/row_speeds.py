#!/usr/bin/env python3
"""Training speed of each row of a sweep as a multiple of the first row's, as measured and at equal FLOPs.

    python3 tools/row_speeds.py build/release/app/attn runs/today --threads 1 --rounds 3 > speeds.md

The first row is measured before and after every other one, and the ratio is that against the mean of both, since
machines drift. At equal FLOPs: the ratio of the FLOPs per second. Prints the medians over rounds as a table in
Markdown. Nothing else should run meanwhile.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile


def rate(arguments, config):
    """Target tokens per second and FLOPs per target token of one `attn bench step`."""
    command = [arguments.attn, "--device", "cpu", "--threads", str(arguments.threads), "bench", "step", str(config),
               "--json", "--seconds", str(arguments.seconds), "--batch-tokens", str(arguments.batch_tokens)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{config.name}: {done.stderr.strip()}")
    values = json.loads(done.stdout)
    return float(values["tokens_per_second"]), float(values["flops_per_second"]) / float(values["tokens_per_second"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("attn", help="the binary")
    parser.add_argument("sweep", type=pathlib.Path, help="sweep directory, with sweep.json")
    parser.add_argument("--rows", nargs="+", default=[], help="names of the rows (default: all)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0, help="of each measurement")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch-tokens", type=int, default=4096, help="largest batch to measure")
    arguments = parser.parse_args()
    try:
        rows = json.loads((arguments.sweep / "sweep.json").read_text(encoding="utf8"))["rows"]
    except OSError as error:
        parser.error(f"{arguments.sweep}: not a sweep directory ({error.strerror})")
    unknown = set(arguments.rows) - {row["name"] for row in rows}
    if unknown:
        parser.error(f"--rows {' '.join(sorted(unknown))}: no such row")
    first, rest = rows[0], [row for row in rows[1:] if not arguments.rows or row["name"] in arguments.rows]
    rates = {row["name"]: [] for row in rows}
    ratios = {row["name"]: [] for row in rest}
    flops = {}
    with tempfile.TemporaryDirectory() as folder:
        configs = {}
        for row in rows:
            configs[row["name"]] = pathlib.Path(folder) / f"{row['name']}.json"
            configs[row["name"]].write_text(json.dumps(row["config"]), encoding="utf8")
        for number in range(arguments.rounds):
            before, flops[first["name"]] = rate(arguments, configs[first["name"]])
            rates[first["name"]].append(before)
            for row in rest:
                name = row["name"]
                own, flops[name] = rate(arguments, configs[name])
                after, _ = rate(arguments, configs[first["name"]])
                rates[name].append(own)
                ratios[name].append(own / (0.5 * (before + after)))
                rates[first["name"]].append(after)
                before = after
                print(f"round {number + 1}: {name} {own:.0f} tokens/s, {ratios[name][-1]:.2f}", file=sys.stderr)
    print("| row | target tokens/s | × the first row | lowest | highest | FLOPs × | at equal FLOPs × |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    print(f"| {first['name']} | {statistics.median(rates[first['name']]):,.0f} | | | | | |")
    for row in rest:
        name = row["name"]
        ratio, work = statistics.median(ratios[name]), flops[name] / flops[first["name"]]
        print(f"| {name} | {statistics.median(rates[name]):,.0f} | {ratio:.2f} | {min(ratios[name]):.2f} "
              f"| {max(ratios[name]):.2f} | {work:.3f} | {ratio * work:.2f} |")


if __name__ == "__main__":
    main()
