#!/usr/bin/env python3
"""A baseline for the parsers: an unlexicalized PCFG estimated from the same trees, parsed by CKY.

    python3 tools/pcfg_baseline.py corpora/craft/train.ptb corpora/craft/dev.ptb > pcfg.ptb
    ./run score parse corpora/craft/dev.ptb pcfg.ptb

Rules by relative frequency, binarized to the right with horizontal and vertical Markov orders (Johnson 1998; Klein and
Manning 2003); words seen once are mapped to classes by shape and suffix. The input is the words of the gold
trees, without tags. Sentences longer than --longest, and those without a parse, get a flat tree under TOP. Needs numpy.
"""
import argparse
import collections
import math
import re
import sys

import numpy as np

NONE = -np.inf


def read_trees(path):
    """(label, [children]) or (tag, word), below the outer bracket; one tree after the other."""
    with open(path, encoding="utf8") as file:
        stack = [[]]
        for token in re.findall(r"[()]|[^ \t\r\n()]+", file.read()):
            if token == "(":
                stack.append([])
            elif token != ")":
                stack[-1].append(token)
            else:
                node = stack.pop()
                label = node[0] if node and isinstance(node[0], str) else ""
                rest = node[1:] if label or not node else node
                tree = (label, rest[0]) if rest and isinstance(rest[0], str) else (label, rest)
                if len(stack) == 1:
                    yield strip_root(tree)
                else:
                    stack[-1].append(tree)


def strip_root(tree):
    return tree[1][0] if tree[0] in ("", "TOP", "ROOT", "S1") and len(tree[1]) == 1 and is_inner(tree) else tree


def is_inner(tree):
    return not isinstance(tree[1], str)


def leaves(tree):
    return [leaf for child in tree[1] for leaf in leaves(child)] if is_inner(tree) else [tree]


def write(tree):
    return f"({tree[0]} {' '.join(map(write, tree[1])) if is_inner(tree) else tree[1]})"


def word_class(word):
    shape = "".join(name for name, pattern in (("A", "[A-Z]"), ("a", "[a-z]"), ("0", "[0-9]"), ("-", "-"))
                    if re.search(pattern, word))
    ending = word[-3:] if len(word) >= 5 and re.fullmatch("[a-z]+", word[-3:]) else ""
    return f"<{shape}|{ending}>"


class Grammar:
    """Symbols are numbers; tags are "t:NN", so that a label of the same name is another symbol."""

    def __init__(self, trees, horizontal, vertical):
        self.horizontal, self.vertical = horizontal, vertical
        counts = collections.Counter(word for tree in trees for _, word in leaves(tree))
        self.known = {word for word, count in counts.items() if count > 1}
        self.rules, self.emissions = collections.Counter(), collections.Counter()
        self.roots = collections.Counter()
        for tree in trees:
            self.roots[self.count(tree, ())] += 1
        self.index()

    def lookup(self, word):
        return word if word in self.known else word_class(word)

    def flat(self, words):
        """Leaves with each word's most frequent tag."""
        best = [max(self.tags.get(self.lookup(word), self.any_tag), key=lambda tag: tag[1])[0] for word in words]
        return [(self.names[tag][2:], word) for tag, word in zip(best, words)]

    def count(self, tree, parents):
        label = tree[0]
        if not is_inner(tree):
            self.emissions["t:" + label, self.lookup(tree[1])] += 1
            return "t:" + label
        name = "^".join((label,) + parents[:self.vertical - 1])
        children = [self.count(child, (label,) + parents) for child in tree[1]]
        left = name
        for i, child in enumerate(children[:-2]):
            seen = "_".join(children[max(0, i + 1 - self.horizontal):i + 1]) if self.horizontal else ""
            rest = f"@{name}|{seen}"
            self.rules[left, (child, rest)] += 1
            left = rest
        self.rules[left, tuple(children[-2:])] += 1
        return name

    def index(self):
        names = sorted({name for left, right in self.rules for name in (left, *right)} | set(self.roots))
        self.names, self.ids = names, {name: i for i, name in enumerate(names)}
        totals = collections.Counter()
        for (left, _), count in self.rules.items():
            totals[left] += count
        binary, unary = [], []
        for (left, right), count in self.rules.items():
            row = [self.ids[left], *(self.ids[r] for r in right), math.log(count / totals[left])]
            (binary if len(right) == 2 else unary).append(row)
        binary.sort()
        self.left, self.first, self.second = (np.array([r[i] for r in binary]) for i in range(3))
        self.weight = np.array([r[3] for r in binary])
        self.starts = np.flatnonzero(np.r_[True, self.left[1:] != self.left[:-1]])
        self.unary = [(a, b, w) for a, b, w in unary if a != b]
        tag_totals = collections.Counter()
        for (tag, _), count in self.emissions.items():
            tag_totals[tag] += count
        self.tags = collections.defaultdict(list)
        for (tag, word), count in self.emissions.items():
            if tag in self.ids:
                self.tags[word].append((self.ids[tag], math.log(count / tag_totals[tag])))
        total = sum(tag_totals.values())
        self.any_tag = [(self.ids[t], math.log(c / total) - 10) for t, c in tag_totals.items() if t in self.ids]
        root_total = sum(self.roots.values())
        self.root = np.full(len(names), NONE)
        for name, count in self.roots.items():
            self.root[self.ids[name]] = math.log(count / root_total)


class Chart:
    """CKY over one sentence. score[i, j] holds the best log-probability of each symbol over words i to j - 1."""

    def __init__(self, grammar, words):
        self.g, self.words, n = grammar, words, len(words)
        self.score = np.full((n + 1, n + 1, len(grammar.names)), NONE)
        self.back = {}
        for i, word in enumerate(words):
            for tag, weight in grammar.tags.get(grammar.lookup(word), grammar.any_tag):
                self.score[i, i + 1, tag] = weight
            self.add_unary(i, i + 1)
        for width in range(2, n + 1):
            for i in range(n - width + 1):
                self.fill(i, i + width)

    def fill(self, i, j):
        g = self.g
        splits = np.arange(i + 1, j)
        both = self.score[i, splits][:, g.first] + self.score[splits, j][:, g.second]
        best = both.argmax(axis=0)
        values = both[best, np.arange(len(best))] + g.weight
        tops = np.maximum.reduceat(values, g.starts)
        ends = np.r_[g.starts[1:], len(values)]
        for start, end, top in zip(g.starts, ends, tops):
            if top > NONE:
                rule = start + int(values[start:end].argmax())
                symbol = g.left[start]
                self.score[i, j, symbol] = top
                self.back[i, j, symbol] = (int(splits[best[rule]]), g.first[rule], g.second[rule])
        self.add_unary(i, j)

    def add_unary(self, i, j):
        cell = self.score[i, j]
        for _ in range(5):
            changed = False
            for a, b, weight in self.g.unary:
                if cell[b] + weight > cell[a]:
                    cell[a] = cell[b] + weight
                    self.back[i, j, a] = (None, b, None)
                    changed = True
            if not changed:
                return

    def best_tree(self):
        final = self.score[0, len(self.words)] + self.g.root
        root = int(final.argmax())
        return self.build(0, len(self.words), root)[0] if final[root] > NONE else None

    def build(self, i, j, symbol):
        """The constituents that the symbol stands for: several for one made by binarization."""
        name = self.g.names[symbol]
        step = self.back.get((i, j, symbol))
        if step is None:
            return [(name[2:], self.words[i])]
        split, first, second = step
        if split is None:
            parts = self.build(i, j, first)
        else:
            parts = self.build(i, split, first) + self.build(split, j, second)
        return parts if name.startswith("@") else [(name.split("^")[0], parts)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--horizontal", type=int, default=1, help="horizontal Markov order: siblings kept in a binarized rule")
    parser.add_argument("--vertical", type=int, default=1, help="vertical Markov order; 2: labels are annotated with their parent")
    parser.add_argument("--longest", type=int, default=60, help="maximum sentence length in words; longer sentences get a flat tree")
    arguments = parser.parse_args()
    grammar = Grammar(list(read_trees(arguments.train)), arguments.horizontal, arguments.vertical)
    print(f"{len(grammar.names)} symbols, {len(grammar.weight)} binary and {len(grammar.unary)} unary rules",
          file=sys.stderr)
    flat = 0
    for tree in read_trees(arguments.test):
        words = [word for _, word in leaves(tree)]
        parse = Chart(grammar, words).best_tree() if 0 < len(words) <= arguments.longest else None
        flat += parse is None
        print(write(("TOP", [parse] if parse else grammar.flat(words))), flush=True)
    print(f"{flat} sentences without a parse", file=sys.stderr)


if __name__ == "__main__":
    main()
