"""Treebanks in the form that the configs expect: one (TOP …) tree on each line, without traces and function tags.

    python3 data/treebanks.py [--encoding latin-1] wsj_0001.mrg wsj_0002.mrg … > train.ptb

Also used by data/fetch, for public treebanks. data/treebanks.json names the files of each split, in the order of their trees.
"""

import argparse
import re
import sys
import tarfile
import xml.etree.ElementTree
import zipfile
from pathlib import Path

TOKEN = re.compile(r"[()]|[^\s()]+")
WSJ_SAMPLE = {"train": range(1, 131), "dev": range(131, 161), "test": range(161, 200)}  # wsj_0001 to 0130, …
GENIA_TAGS = {"PERIOD": ".", "COMMA": ",", "COLON": ":", "LRB": "-LRB-", "RRB": "-RRB-", "PRPP": "PRP$", "WPP": "WP$", "LQT": "``",
              "RQT": "''"}
ESCAPES = {"&lt;": "<", "&gt;": ">", "&amp;": "&", "-LSB-": "[", "-RSB-": "]"}
OUTER = ("", "ROOT", "S1", "TOP", "VROOT")  # labels of the bracket around a tree
DEEPEST = 400  # brackets within each other; the deepest tree of these corpora has 34


class TreebankError(ValueError):
    """A file that isn't a treebank: place and problem, in one line."""


def line(text, found):
    return text.count("\n", 0, found.start()) + 1


def trees(text, name, strict):
    """The trees of a text in Penn's format as nested lists [label, child, …]; a tag's only child is its word. `strict`: a bracket
    without a word, which clean() would remove, is an error."""
    stack, first = [[]], None
    for found in TOKEN.finditer(text):
        token = found[0]
        if token == "(":
            first = found if len(stack) == 1 else first
            stack.append([])
            if len(stack) > DEEPEST:
                raise TreebankError(f"{name}:{line(text, found)}: more than {DEEPEST} brackets within each other")
        elif token == ")" and len(stack) > 1:
            node = stack.pop()
            words = [child for child in node[1:] if isinstance(child, str)]
            if strict and (len(stack) > 1 and not node or len(node) == 1 and isinstance(node[0], str)):
                raise TreebankError(f"{name}:{line(text, found)}: a bracket without a tag and a word ({' '.join(node)}); round "
                                    "brackets are written as -LRB- and -RRB-")
            if strict and words and (isinstance(node[0], list) or node[0] in OUTER or len(words) < len(node) - 1):
                raise TreebankError(f"{name}:{line(text, found)}: the word {words[0]} has no tag of its own")
            stack[-1].append(node)
            if len(stack) == 1:
                yield stack[0].pop()
        elif token == ")" or len(stack) == 1:
            raise TreebankError(f"{name}:{line(text, found)}: {token!r} outside a tree")
        else:
            stack[-1].append(token)
    if len(stack) > 1:
        raise TreebankError(f"{name}:{line(text, first)}: a tree begins here that is not complete at the end of the file")


def clean(node):
    """The tree without empty nodes, function tags and indices; None if nothing is left."""
    label = node[0] if node and isinstance(node[0], str) else ""
    if label == "-NONE-":
        return None
    label = label if label[:1] in ("-", "=", "|") else re.split(r"[-=|]", label)[0]
    children = [child if isinstance(child, str) else clean(child) for child in node[1 if label else 0:]]
    children = [child for child in children if child is not None]
    return [label, *children] if children else None


def written(node):
    return node if isinstance(node, str) else f"({' '.join(map(written, node))})"


def top(node):
    """The tree on one line under TOP, in place of the outer bracket of any other name; "" if nothing is left."""
    node = clean(node)
    return "" if node is None else written(["TOP", *node[1:]] if node[0] in OUTER else ["TOP", node])


def has_blank(node):
    """Whether a word has a blank inside, which the format cannot express."""
    return sum(isinstance(child, str) for child in node) > 2 or any(has_blank(child) for child in node if isinstance(child, list))


def penn(text, name, strict=False):
    """Leaves out trees that have a word with a blank, and says so."""
    left_out = 0
    for tree in trees(text, name, strict):
        if has_blank(tree):
            left_out += 1
        elif flat := top(tree):
            yield flat
    if left_out:
        print(f"{name}: trees left out because a word has a blank inside: {left_out}", file=sys.stderr)


def genia_node(element):
    """The tree of <cons> and <tok> elements. Null constituents have no tokens: clean() removes them."""
    if element.tag != "tok":
        return [element.get("cat", "S"), *(genia_node(child) for child in element if child.tag in ("cons", "tok"))]
    tag = GENIA_TAGS.get(element.get("cat"), element.get("cat"))
    word = "".join("".join(element.itertext()).split())  # without the blanks inside some tokens
    return [tag, tag if word == '"' else word.replace("(", "-LRB-").replace(")", "-RRB-")]


def genia_xml(text, name):
    """The sentences of an abstract, with an S over each as in the division that the literature uses."""
    try:
        root = xml.etree.ElementTree.fromstring(text)
    except xml.etree.ElementTree.ParseError as error:
        raise TreebankError(f"{name}: {error}") from error
    for sentence in root.iter("sentence"):
        yield top(genia_node(sentence))


def genia_division(text, name):
    """The trees of the division itself, with brackets and signs written plainly."""
    for tree in penn(text, name):
        yield re.sub("|".join(ESCAPES), lambda found: ESCAPES[found[0]], tree)


def genia_train(archive, ids):
    """The abstracts of GENIA's XML in the order of the division. Its ids have leading zeros, the names of the files do not."""
    with tarfile.open(archive) as members:
        abstracts = {member.name: members.extractfile(member).read() for member in members if member.name.endswith(".xml")}
    for number in ids.read_text(encoding="utf8").split():
        name = f"GENIA_treebank_v1/{number.lstrip('0')}.xml"
        if name not in abstracts:
            raise TreebankError(f"contains no {name}")
        yield from genia_xml(abstracts[name], name)


def wsj_sample(archive, split):
    with zipfile.ZipFile(archive) as members:
        for number in WSJ_SAMPLE[split]:
            name = f"treebank/combined/wsj_{number:04d}.mrg"
            if name not in members.namelist():
                raise TreebankError(f"contains no {name}")
            yield from penn(members.read(name).decode(), name)


def convert(corpus, split, files):
    """Yields the trees of a split. `files`: its downloads, in the order of data/treebanks.json."""
    if corpus == "wsj-sample":
        yield from wsj_sample(*files, split)
    elif corpus == "genia" and split == "train":
        yield from genia_train(*files)
    else:
        form = genia_division if corpus == "genia" else penn
        for file in files:
            yield from form(file.read_text(encoding="utf8"), file.name)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, help="bracketed trees in any layout")
    parser.add_argument("--encoding", default="utf-8-sig", help="of the files (default: UTF-8); the output is UTF-8")
    options = parser.parse_args()
    try:
        for file in options.files:
            for tree in penn(file.read_text(encoding=options.encoding), file, strict=True):
                sys.stdout.buffer.write(f"{tree}\n".encode())
    except UnicodeDecodeError as error:
        sys.exit(f"{file}: not {error.encoding} at byte {error.start}; give --encoding, such as latin-1")
    except (TreebankError, OSError, LookupError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
