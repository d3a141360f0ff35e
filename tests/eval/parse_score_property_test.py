"""`attn score parse` against EVALB's rules, written down here a second time and in the plainest way: the rows of random
trees with random edits, under random parameters. (Sums and percentages: tests/eval/metrics/parse_score_test.cpp.)

    parse_score_property_test.py ATTN [ROUNDS [SEED]]
"""

import copy
import json
import os
import random
import subprocess
import sys
import tempfile

LABELS = ["S", "NP", "VP", "PP", "ADVP", "PRT", "TOP", "X", "NP-SBJ", "VP=2", "-NONE-", ""]
TAGS = ["DT", "NN", "VB", ",", ".", ":", "-NONE-", "NN-X", "''", "``", "POS", "CD"]
WORDS = ["a", "b", "dog", "Dog", "'", '"', "/", "*", ",", "é"]


class Parameters:
    """What a parameter file says."""

    def __init__(self, rng):
        def some(items, most):
            return rng.sample(items, rng.randint(0, most))

        self.labelled = rng.random() < 0.8
        self.delete = some(["TOP", "-NONE-", ",", ":", "``", "''", ".", "X"], 8)
        self.delete_for_length = some(["-NONE-", "."], 2)
        self.quotes = some(["``", "''", "POS", "NN", "CD", ":"], 6)
        self.labels = some([("ADVP", "PRT"), ("NP", "X"), ("X", "PP"), ("NN", "CD"), ("TOP", "S")], 3)
        self.words = some([("dog", "Dog"), ("a", "b"), ("b", "dog")], 2)

    def text(self):
        lines = ["DEBUG 0", "## a comment", "MAX_ERROR 10", f"LABELED {int(self.labelled)}"]
        lines += [f"DELETE_LABEL {label}" for label in self.delete]
        lines += [f"DELETE_LABEL_FOR_LENGTH {label}" for label in self.delete_for_length]
        lines += [f"QUOTE_LABEL {label}" for label in self.quotes]
        lines += [f"EQ_LABEL {a} {b}" for a, b in self.labels]
        lines += [f"EQ_WORD  {a}  {b}" for a, b in self.words]
        return "\n".join(lines) + "\n"


def same(a, b, pairs):
    return a == b or (a, b) in pairs or (b, a) in pairs


# A tree is [label, word] or [label, [trees]].


def random_tree(rng, words):
    if len(words) == 1 and rng.random() < 0.6:
        return [rng.choice(TAGS), words[0]]
    if rng.random() < 0.03:
        return [rng.choice(LABELS), [random_tree(rng, words), [rng.choice(LABELS), []]]]
    cuts = sorted(rng.sample(range(1, len(words)), rng.randint(0, min(3, len(words) - 1))))
    parts = [words[i:j] for i, j in zip([0] + cuts, cuts + [len(words)])]
    if len(parts) == 1 and len(words) > 1:
        parts = [words[:1], words[1:]]
    return [rng.choice(LABELS), [random_tree(rng, part) for part in parts]]


def leaves(tree):
    return [tree] if isinstance(tree[1], str) else [leaf for child in tree[1] for leaf in leaves(child)]


def nodes(tree):
    return [] if isinstance(tree[1], str) else [tree] + [node for child in tree[1] for node in nodes(child)]


def edit(rng, tree):
    """Changes a tree in place: a label, a tag, a word, a bracket in or out, a leaf in or out."""
    kind = rng.choice(["label", "label", "tag", "wrap", "wrap", "unwrap", "unwrap", "quote", "quote", "word", "drop"])
    inner = nodes(tree)
    if not leaves(tree):
        return
    if kind in ("tag", "word", "quote"):
        leaf = rng.choice(leaves(tree))
        if kind == "tag":
            leaf[0] = rng.choice(TAGS)
        elif kind == "word" and rng.random() < 0.3:
            leaf[1] = rng.choice(WORDS)
        elif leaf[1] in ("'", '"', "/"):
            leaf[0] = rng.choice(["``", "''", "POS", "CD"])
    elif inner:
        node = rng.choice(inner)
        children = node[1]
        if kind == "label" or not children:
            node[0] = rng.choice(LABELS)
        elif kind == "wrap":
            i = rng.randrange(len(children))
            j = rng.randint(i + 1, len(children))
            children[i:j] = [[rng.choice(LABELS), children[i:j]]]
        elif kind == "unwrap":
            i = rng.randrange(len(children))
            if isinstance(children[i][1], list) and children[i][1]:
                children[i : i + 1] = children[i][1]
        elif rng.random() < 0.2 and len(leaves(tree)) > 1:
            del children[rng.randrange(len(children))]


def write(tree):
    if isinstance(tree[1], str):
        return f"({tree[0]} {tree[1]})"
    return "(" + tree[0] + "".join(" " + write(child) for child in tree[1]) + ")"


class Side:
    """One tree (or several, or none) as EVALB keeps it: words, brackets as lists [start, end, label]."""

    def __init__(self, trees, parameters):
        self.words, self.brackets, self.quotes, self.length = [], [], [], 0
        self.parameters = parameters
        for tree in trees:
            self.walk(tree, [])

    def walk(self, tree, around):
        label, content = tree
        if isinstance(content, str):
            self.length += label not in self.parameters.delete_for_length
            if label in self.parameters.quotes and content in ("'", '"', "/"):
                self.quotes.append([len(self.words), label, content, len(self.brackets), list(around)])
            if label not in self.parameters.delete:
                self.words.append((label, content))
            return
        bracket = [len(self.words), None, label]
        self.brackets.append(bracket)
        for child in content:
            self.walk(child, around + [bracket])
        bracket[1] = len(self.words)

    def put_back(self, number):
        index, label, content, before, around = self.quotes[number]
        self.words.insert(index, (label, content))
        for bracket in self.brackets[before:]:
            bracket[0] += 1
            bracket[1] += 1
        for bracket in around:
            bracket[1] += 1
        for quote in self.quotes[number:]:
            quote[0] += 1

    def counting(self):
        kept = []
        for start, end, label in self.brackets:
            label = label.split("-")[0].split("=")[0]
            deleted = any(same(label, other, self.parameters.labels) for other in self.parameters.delete)
            if start < end and not deleted:
                kept.append((start, end, label))
        return kept


def fix_quotes(gold, test):
    delete = gold.parameters.delete
    for t, quote in enumerate(test.quotes):
        place = quote[0]
        for g, other in enumerate(gold.quotes):
            if other[0] != place or other[1] == quote[1]:
                continue
            if other[1] in delete and quote[1] not in delete:
                gold.put_back(g)
            elif quote[1] in delete and other[1] not in delete:
                test.put_back(t)


def evalb(gold_trees, test_trees, parameters):
    """The row of EVALB's table."""
    gold, test = Side(gold_trees, parameters), Side(test_trees, parameters)
    row = {"length": gold.length, "status": 0, "matched": 0, "gold": 0, "test": 0, "crossing": 0}
    row |= {"words": len(gold.words), "correct_tags": 0}
    if not test.words:
        return row | {"status": 2}
    if len(gold.words) != len(test.words):
        fix_quotes(gold, test)
    if len(gold.words) != len(test.words) or any(
        not same(a[1], b[1], parameters.words) for a, b in zip(gold.words, test.words)
    ):
        return row | {"status": 1}
    ours, theirs = gold.counting(), test.counting()
    free = list(theirs)
    for start, end, label in ours:
        for candidate in free:
            if candidate[:2] == (start, end) and (
                not parameters.labelled or same(label, candidate[2], parameters.labels)
            ):
                free.remove(candidate)  # the first that equals it, which is this one or its twin
                row["matched"] += 1
                break
    row["gold"], row["test"], row["words"] = len(ours), len(theirs), len(gold.words)
    row["crossing"] = sum(any(a < s < b < e or s < a < e < b for a, b, _ in ours) for s, e, _ in theirs )
    row["correct_tags"] = sum(same(a[0], b[0], parameters.labels) for a, b in zip(gold.words, test.words))
    return row


def check(got, wanted, where):
    for key, value in wanted.items():
        assert abs(got[key] - value) < 1e-9, f"{where}: {key} is {got[key]}, EVALB's rules say {value}"


def run_round(program, seed, folder):
    rng = random.Random(seed)
    parameters = Parameters(rng)
    pairs = []
    for _ in range(200):
        gold = random_tree(rng, [rng.choice(WORDS) for _ in range(rng.randint(1, 14))])
        test = copy.deepcopy(gold)
        for _ in range(rng.choice([0, 1, 2, 3, 8])):
            edit(rng, test)
        kind = rng.random()
        trees = [] if kind < 0.03 else test[1] if kind < 0.06 and isinstance(test[1], list) else [test]
        malformed = 0.06 <= kind < 0.09
        pairs.append((gold, trees, malformed))

    def file(name, text):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    gold = file("gold", "".join(write(gold) + "\n" for gold, _, _ in pairs))
    test = file("test", "".join(" ".join(map(write, trees)) + " )" * bad + "\n" for _, trees, bad in pairs))
    prm = file("some.prm", parameters.text())
    command = [program, "score", "parse", gold, test, "--params", prm, "--json", "--per-sentence"]
    out = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)

    statuses = []
    for i, (gold_tree, trees, malformed) in enumerate(pairs):
        row = evalb([gold_tree], [] if malformed else trees, parameters)
        if malformed:
            row["status"] = 1
        check(out["per_sentence"][i], row, f"seed {seed}, sentence {i + 1}: {write(gold_tree)} | {' '.join(map(write, trees))}")
        statuses.append(row["status"])
    return statuses


def main():
    program = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    statuses = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + rounds):
            statuses += run_round(program, seed, folder)
    kinds = {name: statuses.count(status) for status, name in enumerate(("valid", "errors", "skipped"))}
    assert all(kinds.values()), f"the sentences must be of all kinds: {kinds}"
    print(f"{len(statuses)} sentences in {rounds} rounds agree with EVALB's rules: {kinds}")


if __name__ == "__main__":
    main()
