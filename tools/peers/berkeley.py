#!/usr/bin/env python3
"""Trains and runs the Berkeley parser 1.7 (Petrov et al. 2006): the jar of github.com/slavpetrov/berkeleyparser at 0df1ae75.

    tools/peers/berkeley.py train BerkeleyParser-1.7.jar out.gr train.ptb [more.ptb …] --cycles 5 --seed 1
    tools/peers/berkeley.py parse BerkeleyParser-1.7.jar out.gr words out.ptb

train also leaves the grammar of each step: out.gr_5_smoothing.gr is that of 5 cycles. Files have one tree or one
tokenized sentence on each line. parse writes "(())" for a sentence without a parse: tools/numbered_trees.py makes flat
trees of them. Needs Java. Prints each command and its CPU seconds.
"""
import argparse
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from text_lines import read_lines

JAVA = ["java", "-XX:+UseSerialGC", "-XX:CICompilerCount=2", "-Dfile.encoding=UTF-8"]


def run(command, **options):
    print(" ".join(command), file=sys.stderr, flush=True)
    subprocess.run(command, check=True, **options)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"CPU {used.ru_utime + used.ru_stime:.1f} s, {used.ru_maxrss / 1024:.0f} MB", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["train", "parse"])
    parser.add_argument("jar", type=Path)
    parser.add_argument("grammar", type=Path)
    parser.add_argument("files", nargs="+", type=Path, help="train: trees; parse: sentences, then the output")
    parser.add_argument("--cycles", type=int, default=5, help="of split, merge and smooth")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=Path, help="a grammar to which --cycles are added")
    parser.add_argument("--memory", default="8g")
    options = parser.parse_args()
    java = [*JAVA, f"-Xmx{options.memory}", "-cp", str(options.jar)]
    package = "edu.berkeley.nlp.PCFGLA"
    if options.action == "parse":
        words, output = options.files
        with tempfile.TemporaryDirectory() as folder:  # the parser prints some errors among the trees
            raw = Path(folder) / "trees"
            run([*java, f"{package}.BerkeleyParser", "-gr", str(options.grammar), "-inputFile", str(words),
                 "-outputFile", str(raw), "-maxLength", "399"], stdout=sys.stderr)
            trees = [re.sub(r"^\( \((.*)\) \)$", r"(TOP (\1))", tree) for tree in read_lines(raw)]
        output.write_text("".join(tree + "\n" for tree in trees), encoding="utf8")
        return
    with tempfile.TemporaryDirectory() as folder:
        trees = Path(folder) / "train.ptb"
        with open(trees, "w", encoding="utf8") as file:
            for source in options.files:
                file.writelines(re.sub(r"^\(TOP ", "( ", tree) + "\n" for tree in read_lines(source))
        run([*java, f"{package}.GrammarTrainer", "-treebank", "SINGLEFILE", "-path", str(trees), "-out", str(options.grammar),
             "-SMcycles", str(options.cycles), "-randSeed", str(options.seed),
             *(["-in", str(options.start)] if options.start else [])], stdout=sys.stderr)


if __name__ == "__main__":
    main()
