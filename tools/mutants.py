#!/usr/bin/env python3
"""Plants errors in kernels/cuda, one at a time, and counts those that the emulated tests find.

    tools/mutants.py BUILD [--sample N] [--files norm.cu …]     BUILD: a build folder with tests/test_cuda

Errors are of operators, bounds, constants, indices, jumps and barriers. Each is compiled in place of the library
attn_emulated_kernels, in two seconds, and counts as found if a test fails, the emulator objects or the time runs out.
Prints the errors that were not found, and the table by file. Those that results/mutants.md explains change no result and
do not count; exit code 1 if the others are more than 5 %. A sample is the same whenever it is drawn.
"""
import argparse
import collections
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = "kernels/cuda"
FILES = ("device.h", "dropout.cu", "embedding.cu", "loss.cu", "norm.cu")
SECONDS = 30  # of a run of the tests, which takes one
FOUND = 0.95

CHANGES = [  # (pattern, what takes its place); operators have spaces around them, brackets of templates have none
    (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " + "), (r" / ", " * "), (r" % ", " / "), (r" \+= ", " -= "),
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
    (r" && ", " || "), (r" \|\| ", " && "), (r" \^ ", " | "), (r" >> ", " << "), (r" << ", " >> "),
    (r"\+\+(\w)", r"--\1"), (r"\b0\b(?!\.)", "1"), (r"\b1\b(?!\.)", "2"), (r"\b[248]\b(?!\.)", "1"), (r"\b0\.0f", "1.0f"),
    (r"\b1\.0f", "2.0f"), (r"\bfmaxf\b", "fminf"), (r"\[([^\[\]]+)\]", r"[\1 + 1]"), (r"\blane\b", "warp"),
    (r"\brow\b", "0"), (r"\bcolumn\b", "0"), (r"__syncthreads\(\);", ""), (r"\b(continue|break|return);", ";"),
    (r"!(\w)", r"\1")]
ARRAY = re.compile(r"\s*(const )?(Four|Group|float|uint32_t) \w+\[")  # a longer one is no error
UNCHANGED = re.compile(r"^\s*(//|#|template|extern|namespace|static constexpr|constexpr uint|inline|ATTN_SHARED)|__device__|asm\(|"
                       r"^\s*(NORM|SMOOTHED_LOSS)")


def mutants(name):
    """(file, line number, line, changed line) of every change."""
    text = (ROOT / FOLDER / name).read_text(encoding="utf-8").split("\n")
    end = next((i for i, line in enumerate(text) if line.startswith("}  // namespace")), len(text))
    for number, line in enumerate(text[:end]):
        if UNCHANGED.search(line):
            continue
        code = line.split("//")[0]
        for pattern, replacement in CHANGES:
            if replacement.endswith("]") and ARRAY.match(code):
                continue
            for match in re.finditer(pattern, code):
                changed = code[:match.start()] + match.expand(replacement) + code[match.end():]
                yield name, number, line, changed


def verdict(mutant, build, work):
    """"found", "not found" or "not C++"."""
    name, number, _, changed = mutant
    text = (ROOT / FOLDER / name).read_text(encoding="utf-8").split("\n")
    text[number] = changed
    (work / FOLDER).mkdir(parents=True, exist_ok=True)
    for other in FILES:
        (work / FOLDER / other).unlink(missing_ok=True)
    (work / FOLDER / name).write_text("\n".join(text), encoding="utf-8")
    compiled = subprocess.run(
        ["g++", "-std=c++20", "-O0", "-w", "-fsanitize=bounds", "-fsanitize-undefined-trap-on-error", "-fPIC", "-shared",
         "-I", work, "-I", ROOT, "-o", work / "libattn_emulated_kernels.so", ROOT / "tests/support/emulated_kernels.cpp"],
        capture_output=True, check=False)
    if compiled.returncode != 0:
        return "not C++"
    try:
        ran = subprocess.run([build / "tests/test_cuda", "--abort"], capture_output=True, timeout=SECONDS, check=False,
                             env={**os.environ, "LD_LIBRARY_PATH": str(work)})
    except subprocess.TimeoutExpired:
        return "found"
    return "not found" if ran.returncode == 0 else "found"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--sample", type=int, help="how many errors, of all files (default: all)")
    parser.add_argument("--files", nargs="+", choices=FILES, default=FILES)
    options = parser.parse_args()
    chosen = [mutant for name in options.files for mutant in mutants(name)]
    every = len(chosen)
    if options.sample and options.sample < every:
        chosen = sorted(random.Random(1).sample(chosen, options.sample), key=chosen.index)
    explained = (ROOT / "results/mutants.md").read_text(encoding="utf-8")
    counts = {name: collections.Counter() for name in options.files}
    with tempfile.TemporaryDirectory(prefix="attn-mutants-") as work:
        if verdict(("device.h", 0, "", (ROOT / FOLDER / "device.h").read_text(encoding="utf-8").split("\n")[0]),
                   options.build.resolve(), Path(work)) != "not found":
            sys.exit("mutants: the tests fail without an error planted")
        for mutant in chosen:
            result = verdict(mutant, options.build.resolve(), Path(work))
            row = f"| {mutant[0]} | `{mutant[2].strip()}` | `{mutant[3].strip()}` |"
            if result == "not found" and row in explained:
                result = "explained"
            elif result == "not found":
                print(row, flush=True)
            counts[mutant[0]][result] += 1
    kinds = ["found", "not found", "explained", "not C++"]
    print(f"\n{len(chosen)} of {every} errors\n\n| file | planted | {' | '.join(kinds)} |\n| --- |{' ---: |' * 5}")
    for name, of in counts.items():
        print(f"| {name} | {sum(of.values())} | {' | '.join(str(of[kind]) for kind in kinds)} |")
    found, missed = (sum(of[kind] for of in counts.values()) for kind in kinds[:2])
    print(f"\n{found / (found + missed):.1%} found")
    return int(found < FOUND * (found + missed))


if __name__ == "__main__":
    sys.exit(main())
