#!/usr/bin/env python3
"""How a sweep's differences depend on averaging and on the length of outputs, as a Markdown table.

    python3 tools/sensitivity.py experiments/multi30k/table3.json results/table3/runs

Reads the small files of finished runs (attn sweep --collect). For each row, in means over seeds: the difference from
the first row in perplexity with the scored weights and with those of the last update, in BLEU, and in BLEU divided by
the brevity penalty. The sweep has evaluators valid (loss) and test2016 (bleu), or those given by name.
"""
import argparse
import json
from pathlib import Path
from statistics import mean


def scores(run, loss, bleu):
    """Perplexity scored and of the last update, BLEU, brevity penalty, BLEU without it."""
    records = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf8").splitlines()]
    evaluations = [r for r in records if r["kind"] == "eval" and r["name"] == loss]
    last = max(evaluations, key=lambda record: record["step"])
    results = json.loads((run / "result.json").read_text(encoding="utf8"))["results"]
    values = results[bleu]["values"]
    return results[loss]["values"]["ppl"], last["ppl"], values["bleu"], values["bp"], values["bleu"] / values["bp"]


def signed(value):
    return f"{value:+.2f}".replace("-", "−")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sweep", type=Path)
    parser.add_argument("runs", type=Path)
    parser.add_argument("--loss", default="valid")
    parser.add_argument("--bleu", default="test2016")
    arguments = parser.parse_args()
    print("| row | Δ PPL, scored weights | Δ PPL, final weights | Δ BLEU | BP | Δ BLEU / BP |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    base = None
    for row in json.loads(arguments.sweep.read_text(encoding="utf8"))["rows"]:
        runs = sorted((arguments.runs / row["name"]).glob("seed-*"))
        if not runs:
            if base is None:
                raise SystemExit(f"{arguments.runs / row['name']}: no runs of the first row, with which the others are compared")
            continue
        means = [mean(column) for column in zip(*(scores(run, arguments.loss, arguments.bleu) for run in runs))]
        base = base or means
        scored, last, bleu, _, whole = ["" if means is base else signed(m - b) for m, b in zip(means, base)]
        print(f"| {row['name']} | {scored} | {last} | {bleu} | {means[3]:.3f} | {whole} |")


if __name__ == "__main__":
    main()
