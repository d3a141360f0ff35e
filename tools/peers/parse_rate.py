#!/usr/bin/env python3
"""Sentences that a parser parses in a second, its model loaded, as JSON for tools/peers/compare.py.

    tools/peers/parse_rate.py words 40 20 attn --threads 1 parse runs/genia --input {words}

Takes the first 20 sentences of 40 words (within 5 %) from a file of tokenized sentences, runs the command on them once
and on them four times over, and divides the additional sentences by the additional time, so that loading and a virtual
machine's warm-up do not count. {words} is the file of these sentences; {out} is a file that the command may write.
"""
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from text_lines import read_lines


def seconds(command, sentences):
    with tempfile.TemporaryDirectory() as folder:
        words = Path(folder) / "words"
        words.write_text("".join(line + "\n" for line in sentences), encoding="utf8")
        start = time.monotonic()
        subprocess.run([word.format(words=words, out=Path(folder) / "out") for word in command], check=True, stdout=subprocess.DEVNULL)
        return time.monotonic() - start


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    path, length, count, command = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    sentences = [line for line in read_lines(path) if abs(len(line.split()) - length) <= 0.05 * length][:count]
    if len(sentences) < count:
        sys.exit(f"{path}: {len(sentences)} sentences of {length} words, expected {count}")
    once, four_times = seconds(command, sentences), seconds(command, sentences * 4)
    print(json.dumps({"sentences_per_second": 3 * count / (four_times - once), "first_seconds": once}))


if __name__ == "__main__":
    main()
