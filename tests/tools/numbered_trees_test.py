"""tools/numbered_trees.py: parses without their text."""

import io
import json
import lzma
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools"))
import numbered_trees  # noqa: E402  # its folder must be on the path first

TREES = "(TOP (S (NP (NN 3)) (-LRB- -LRB-)))\n(())\n(TOP (NN c\u2028d))\n"
WORDS = "3 -LRB-\na ?\nc\u2028d\n"
FACTS = ("system=berkeley", "revision=1.7", "trained_on=WSJ sample", "command=java -a=b", "commit=0")


class NumberedTrees(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        silence = unittest.mock.patch("sys.stderr", io.StringIO())
        silence.start()
        self.addCleanup(silence.stop)

    def pack(self, trees=TREES, words=WORDS, facts=()):
        (self.folder / "trees").write_text(trees, encoding="utf8")
        (self.folder / "words").write_text(words, encoding="utf8")
        numbered_trees.main("pack", f"{self.folder}/trees", f"{self.folder}/words", f"{self.folder}/toy.ptb.xz", *facts)
        return lzma.decompress((self.folder / "toy.ptb.xz").read_bytes()).decode()

    def test_numbers_stand_in_place_of_the_words(self):
        self.assertEqual(self.pack(facts=FACTS), "(TOP (S (NP (NN 1)) (-LRB- 2)))\n(TOP (NN 1) (. 2))\n(TOP (NN 1))\n")
        about = json.loads((self.folder / "toy.json").read_text(encoding="utf8"))
        self.assertEqual((about["command"], about["sentences"], about["flat"]), ("java -a=b", 3, 1))

    def test_words_come_back_from_sentences_or_trees(self):
        self.pack()
        gold = self.folder / "gold.ptb"
        gold.write_text("(A (B 3) (C -LRB-))\n(A a) (A ?)\n(A c\u2028d)\n", encoding="utf8")
        for words in (self.folder / "words", gold):
            filled = numbered_trees.unpack(self.folder / "toy.ptb.xz", words)
            self.assertEqual(filled, [*TREES.split("\n")[:1], "(TOP (NN a) (. ?))", TREES.split("\n")[2]])
        gold.write_text("(A a)\n", encoding="utf8")
        self.assertRaisesRegex(SystemExit, "not parses of", numbered_trees.unpack, self.folder / "toy.ptb.xz", gold)

    def test_other_words_and_other_lines_are_errors(self):
        for trees, reason in (("(A a)\n(A b)", "2 trees, expected 1"), ("(A b)", ":1: word 1 is b, expected a"), ("(A (B a)", "unbalanced"),
                              ("(A a) (A a)", "more than one tree"), ("(A (B a) (B a))", "2 words, expected 1"), ("(A a))", "more than one tree")):
            self.assertRaisesRegex(SystemExit, reason, self.pack, trees, "a\n")

    def test_facts_are_complete_or_none(self):
        self.assertRaisesRegex(SystemExit, "expected each of", self.pack, facts=FACTS[1:])


if __name__ == "__main__":
    unittest.main()
