#!/usr/bin/env python3
"""Parses without their text: a word's number in its sentence, from 1, stands in place of the word.

    tools/numbered_trees.py words gold.ptb > words
    tools/numbered_trees.py pack parses.ptb words SET.SYSTEM.ptb[.xz] [system=… revision=… trained_on=… command=… commit=…]
    tools/numbered_trees.py unpack SET.SYSTEM.ptb[.xz] words > parses.ptb

A line is a tree or a tokenized sentence; `words` may also be a file of trees. pack requires trees over the words of the
sentences; a sentence without a parse, "(())" or an empty line, gets a flat tree. With facts, pack also writes
SET.SYSTEM.json: the facts, the number of sentences and that of flat trees.
"""
import json
import lzma
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "peers"))
from text_lines import read_lines  # noqa: E402

FACTS = ("system", "revision", "trained_on", "command", "commit")
LEAF = re.compile(r"\(([^\s()]+)[ \t]+([^ \t()]+)\)")
EMPTY = re.compile(r"(\(\(?\)?\))?\s*")
TAGS = {"?": ".", "!": ".", ";": ":", "--": ":", "...": ":"} | {word: word for word in ". , : `` '' -LRB- -RRB- $ #".split()}


def sentences(path):
    """The words of each line: of a tree if the line begins with a bracket."""
    return [[word for _, word in LEAF.findall(line)] if line.startswith("(") else re.findall(r"[^ \t]+", line) for line in read_lines(path)]


def flat_tree(words):
    return "(TOP " + " ".join(f"({TAGS.get(word, 'NN')} {word})" for word in words) + ")"


def wrong_with(tree, words):
    """Why this isn't a tree over the words; "" if it is."""
    depth = 0
    for bracket in re.finditer(r"[()]", tree):
        depth += 1 if bracket[0] == "(" else -1
        if depth <= 0 and tree[bracket.end():].strip():
            return "more than one tree"
    if depth or not tree.startswith("("):
        return "unbalanced brackets"
    if outside := re.sub(r"\([^\s()]*|\)|\s", " ", LEAF.sub(" ", tree)).split():
        return f"{outside[0]} is in no bracket of its own"
    found = [word for _, word in LEAF.findall(tree)]
    if len(found) != len(words):
        return f"{len(found)} words, expected {len(words)}"
    return next((f"word {i} is {a}, expected {b}" for i, (a, b) in enumerate(zip(found, words), 1) if a != b), "")


def pack(trees, words):
    """The numbered trees, one on each line, and how many are flat for want of a parse."""
    lines, of_words, flat = read_lines(trees), sentences(words), 0
    if len(lines) != len(of_words):
        raise SystemExit(f"{trees}: {len(lines)} trees, expected {len(of_words)}, one for each sentence of {words}")
    numbered = []
    for at, (tree, sentence) in enumerate(zip(lines, of_words), 1):
        if EMPTY.fullmatch(tree):
            tree, flat = flat_tree(sentence), flat + 1
        if wrong := wrong_with(tree, sentence):
            raise SystemExit(f"{trees}:{at}: {wrong}")
        numbered.append(LEAF.sub(lambda leaf, number=iter(range(1, len(sentence) + 1)): f"({leaf[1]} {next(number)})", tree) + "\n")
    return "".join(numbered), flat


def unpack(path, words):
    """The trees of a .ptb or .ptb.xz file with their words."""
    data, of_words = Path(path).read_bytes(), sentences(words)
    lines = (lzma.decompress(data) if str(path).endswith(".xz") else data).decode().splitlines()
    if [[number for _, number in LEAF.findall(line)] for line in lines] != [[str(i + 1) for i in range(len(s))] for s in of_words]:
        raise SystemExit(f"{path}: not parses of the sentences of {words}")
    return [LEAF.sub(lambda leaf: f"({leaf[1]} {sentence[int(leaf[2]) - 1]})", line) for line, sentence in zip(lines, of_words)]


def main(action, *arguments):
    if action == "words" and len(arguments) == 1:
        print("\n".join(" ".join(words) for words in sentences(arguments[0])))
    elif action == "unpack" and len(arguments) == 2:
        print("\n".join(unpack(*arguments)))
    elif action == "pack" and len(arguments) >= 3:
        trees, words, output, *facts = arguments
        about = dict(fact.split("=", 1) for fact in facts if "=" in fact)
        if facts and (len(about) != len(facts) or set(about) != set(FACTS)):
            raise SystemExit(f"numbered_trees.py: expected each of {'=… '.join(FACTS)}=…, or none")
        numbered, flat = pack(trees, words)
        if not output.endswith((".ptb", ".ptb.xz")):
            raise SystemExit(f"{output}: expected a name that ends in .ptb or .ptb.xz")
        data, count = numbered.encode(), numbered.count("\n")
        Path(output).write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME) if output.endswith(".xz") else data)
        if about:
            about_file = Path(output.removesuffix(".xz").removesuffix(".ptb") + ".json")
            about_file.write_text(json.dumps(about | {"sentences": count, "flat": flat}, indent=2) + "\n", encoding="utf8")
        print(f"{output}: {count} trees, {flat} flat", file=sys.stderr)
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:] or [""])
    except (OSError, ValueError, lzma.LZMAError) as error:
        sys.exit(f"numbered_trees.py: {error}")
