#!/usr/bin/env python3
"""Trains and runs the first stage of BLLIP (Charniak 2000): github.com/BLLIP/bllip-parser at f83be9f1.

    tools/peers/bllip.py train bllip-parser/first-stage model/ train.ptb [more.ptb …]
    tools/peers/bllip.py parse bllip-parser/first-stage model/ words out.ptb [--nbest 50] [--overparsing 100]

bllip-parser/first-stage holds trainParser and parseIt as its README builds them, for gnu++98. Files have one tree or
one tokenized sentence on each line. Every twentieth tree tunes the smoothing, unless it has a label that the others
lack; the others are trained on. parse writes BLLIP's own flat tree for a sentence without a parse, and counts these;
with --nbest, it writes n-best lists as attn parse --nbest-list does, for attn fuse.
Prints each command and its CPU seconds.
"""
import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path

from berkeley import run
from text_lines import read_lines

STATIC = ("bugFix.txt", "headInfo.txt", "terms.txt", "featInfo.*")


def prepare(source, model, trees):
    """The files that training reads: BLLIP's own, with the labels and tags of these trees."""
    model.mkdir(parents=True)
    for pattern in STATIC:
        for file in (source / "DATA/EN").glob(pattern):
            shutil.copy(file, model)
    heads = read_lines(model / "headInfo.txt")
    heads = [line for head in heads for line in ([head, head.replace("NP", "NML", 1)] if head.startswith("  NP ") else [head])]
    (model / "headInfo.txt").write_text("\n".join(heads) + "\n", encoding="utf8")
    words, labels = {}, set()
    for tree in trees:
        for tag, word in re.findall(r"\(([^\s()]+) ([^\s()]+)\)", tree):
            words.setdefault(tag, set()).add(word)
        labels.update(re.findall(r"\(([^\s()]+) (?=\()", tree))
    terms = read_lines(model / "terms.txt")
    known = {term.split()[0] for term in terms if term.strip()}
    added = [f"{tag}\t{2 if len(words[tag]) > 50 else 1}" for tag in sorted(words.keys() - known)]
    added += [f"{label}\t0" for label in sorted(labels - known - words.keys())]
    constituents = [at for at, term in enumerate(terms) if term.split()[1:] == ["0"]]
    terms[constituents[0]:constituents[0]] = [line for line in added if not line.endswith("\t0")]  # tags come first
    (model / "terms.txt").write_text("\n".join(terms + [line for line in added if line.endswith("\t0")]) + "\n", encoding="utf8")
    print("added terms:", *(line.replace("\t", "=") for line in added), file=sys.stderr)


def train(source, model, files):
    trees = [re.sub(r"^\(TOP ", "(S1 ", tree) for file in files for tree in read_lines(file)]
    prepare(source, model, trees)
    fit = {tree for at, tree in enumerate(trees) if at % 20 != 19}
    known = {label for tree in fit for label in re.findall(r"\(([^\s()]+)", tree)}
    tune = [at % 20 == 19 and known.issuperset(re.findall(r"\(([^\s()]+)", tree)) for at, tree in enumerate(trees)]
    with tempfile.TemporaryDirectory() as folder:
        for name, wanted in (("train", False), ("tune", True)):
            chosen = [tree + "\n" for tree, is_tune in zip(trees, tune) if is_tune == wanted]
            Path(folder, name).write_text("".join(chosen), encoding="utf8")
            print(f"{name}: {len(chosen)} trees", file=sys.stderr)
        run([str(source / "TRAIN/trainParser"), "-parser", "-En", f"{model}/", f"{folder}/train", f"{folder}/tune"], stdout=sys.stderr)


def tree_over(sentence, tree):
    """The tree with the sentence's own words, as BLLIP writes [ as -LSB-."""
    words = iter(sentence.split())
    return re.sub(r"\(([^\s()]+) ([^\s()]+)\)", lambda leaf: f"({leaf[1]} {next(words, leaf[2])})", re.sub(r"^\(S1 ", "(TOP ", tree))


def nbest_list(lines, sentences):
    """BLLIP's lists: the number of parses and that of the sentence, from 1; then two lines each, log-probability and tree."""
    lines = iter(lines)
    for head in filter(None, lines):
        count, sentence = map(int, head.split())
        for score, tree in [(next(lines), next(lines)) for _ in range(count)]:
            yield f"{sentence - 1} ||| {tree_over(sentences[sentence - 1], tree)} ||| logp= {score} ||| {score}"


def parse(source, model, words, output, nbest=0, overparsing=210):
    with tempfile.TemporaryDirectory() as folder:
        marked, raw, log = (Path(folder) / name for name in ("words", "trees", "log"))
        sentences = read_lines(words)
        marked.write_text("".join(f"<s> {line} </s>\n" for line in sentences), encoding="utf8")
        with open(raw, "wb") as out, open(log, "wb") as errors:
            run([str(source / "PARSE/parseIt"), "-K", "-l399", f"-T{overparsing}", *([f"-N{nbest}"] if nbest else []),
                 f"{model}/", str(marked)], stdout=out, stderr=errors)
        lines = read_lines(raw)
        trees = list(nbest_list(lines, sentences)) if nbest else list(map(tree_over, sentences, filter(None, lines)))
        if not nbest and len(trees) != len(sentences):
            raise SystemExit(f"{words}: {len(trees)} trees of {len(sentences)} sentences")
        warned = log.read_text(encoding="utf8", errors="replace")
    failed = len(re.findall("Parse failed|skipping sentence", warned))
    print(f"{len(trees)} trees; {failed} sentences without a parse have a flat tree", file=sys.stderr)
    output.write_text("".join(tree + "\n" for tree in trees), encoding="utf8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["train", "parse"])
    parser.add_argument("source", type=Path, help="first-stage of BLLIP, built")
    parser.add_argument("model", type=Path, help="a folder; train creates it")
    parser.add_argument("files", nargs="+", type=Path, help="train: trees; parse: sentences, then the output")
    parser.add_argument("--nbest", type=int, default=0, help="parse: length of the lists (default: the best trees alone)")
    parser.add_argument("--overparsing", type=int, default=210, help="parse: BLLIP's -T, less is faster")
    options = parser.parse_args()
    if options.action == "train":
        train(options.source, options.model, options.files)
    else:
        words, output = options.files
        parse(options.source, options.model, words, output, options.nbest, options.overparsing)


if __name__ == "__main__":
    main()
