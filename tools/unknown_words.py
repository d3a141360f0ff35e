#!/usr/bin/env python3
"""F1 of a parser by the number of unknown words in the sentence.

    ./run score parse gold.ptb trees --json --per-sentence | python3 tools/unknown_words.py gold.ptb runs/craft

Known words are those of the run's vocabulary (data.tokenizer "words"). F1 is over the sentences that EVALB
scores; the last column counts those it skips because their words differ.
"""
import json
import sys
from pathlib import Path

from numbered_trees import LEAF, read_lines

GROUPS = [("0", 0), ("1", 1), ("2", 2), ("3-4", 4), ("5-8", 8), ("more", sys.maxsize)]


def f1(matched, gold, test):
    return 100.0 * 2 * matched / (gold + test) if gold + test else 0.0


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    known = {line.split("\t")[0] for line in read_lines(Path(sys.argv[2], "source.model"))}
    scores = json.load(sys.stdin)["per_sentence"]
    words = [[word for tag, word in LEAF.findall(line) if tag != "-NONE-"] for line in read_lines(sys.argv[1])]
    if len(words) != len(scores):
        sys.exit(f"{sys.argv[1]}: {len(words)} lines with trees, but scores of {len(scores)} sentences")
    print("| unknown words | sentences | words | F1 | skipped |\n| --- | ---: | ---: | ---: | ---: |")
    low = -1
    for name, high in GROUPS:
        of_group = [(s, w) for s, w in zip(scores, words) if low < sum(x not in known for x in w) <= high]
        low = high
        valid = [s for s, _ in of_group if s["status"] == 0]
        totals = [sum(s[key] for s in valid) for key in ("matched", "gold", "test")]
        print(f"| {name} | {len(of_group)} | {sum(len(w) for _, w in of_group)} | {f1(*totals):.2f} | "
              f"{len(of_group) - len(valid)} |")


if __name__ == "__main__":
    main()
