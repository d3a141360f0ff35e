#!/usr/bin/env python3
"""F1 of a parser by the number of unknown words in the sentence.

    ./run score parse gold.ptb trees --json --per-sentence | python3 tools/unknown_words.py gold.ptb runs/craft

Known words are those of the run's vocabulary (data.tokenizer "words"). F1 is over the sentences that EVALB
scores; the last column counts those it skips because their words differ.
"""
import json
import re
import sys
from pathlib import Path

GROUPS = [("0", 0), ("1", 1), ("2", 2), ("3-4", 4), ("5-8", 8), ("more", sys.maxsize)]


def read(path):
    return Path(path).read_bytes().decode("utf8")


def gold_words(path):
    """The words of each tree of a file with one tree per line, without traces. Blanks and ends of line are ASCII's: others are
    parts of words, as in attn."""
    for line in read(path).rstrip("\n").split("\n"):
        yield [word for tag, word in re.findall(r"\(([^\s()]+)\s+([^\s()]+)\)", line, re.ASCII) if tag != "-NONE-"]


def f1(matched, gold, test):
    return 100.0 * 2 * matched / (gold + test) if gold + test else 0.0


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    lines = read(Path(sys.argv[2], "source.model")).split("\n")
    known = {line.split("\t")[0] for line in lines}
    scores = json.load(sys.stdin)["per_sentence"]
    words = list(gold_words(sys.argv[1]))
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
