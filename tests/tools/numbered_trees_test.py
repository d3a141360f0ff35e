"""tools/numbered_trees.py: parses without their text; tools/peers/text_lines.py ends lines where attn does."""

import io
import itertools
import json
import lzma
import re
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

    def pack(self, trees=TREES, words=WORDS, facts=(), name="toy.ptb.xz"):
        (self.folder / "trees").write_text(trees, encoding="utf8")
        (self.folder / "words").write_text(words, encoding="utf8")
        numbered_trees.main("pack", f"{self.folder}/trees", f"{self.folder}/words", f"{self.folder}/{name}", *facts)
        data = (self.folder / name).read_bytes()
        return (lzma.decompress(data) if name.endswith(".xz") else data).decode()

    def test_numbers_stand_in_place_of_the_words(self):
        self.assertEqual(self.pack(facts=FACTS), "(TOP (S (NP (NN 1)) (-LRB- 2)))\n(TOP (NN 1) (. 2))\n(TOP (NN 1))\n")
        about = json.loads((self.folder / "toy.json").read_text(encoding="utf8"))
        self.assertEqual((about["command"], about["sentences"], about["flat"]), ("java -a=b", 3, 1))

    def test_words_come_back_from_sentences_or_trees(self):
        self.assertEqual(self.pack(name="toy.ptb"), self.pack())
        gold = self.folder / "gold.ptb"
        gold.write_text("(A (B 3) (C -LRB-))\n(A a) (A ?)\n(A c\u2028d)\n", encoding="utf8")
        for words, name in itertools.product((self.folder / "words", gold), ("toy.ptb", "toy.ptb.xz")):
            filled = numbered_trees.unpack(self.folder / name, words)
            self.assertEqual(filled, [*TREES.split("\n")[:1], "(TOP (NN a) (. ?))", TREES.split("\n")[2]])
        gold.write_text("(A a)\n", encoding="utf8")
        self.assertRaisesRegex(SystemExit, "not parses of", numbered_trees.unpack, self.folder / "toy.ptb.xz", gold)

    def test_other_words_and_other_lines_are_errors(self):
        for trees, reason in (("(A a)\n(A b)", "2 trees, expected 1"), ("(A b)", ":1: word 1 is b, expected a"), ("(A (B a)", "unbalanced"),
                              ("(A a) (A a)", "more than one tree"), ("(A (B a) (B a))", "2 words, expected 1"), ("(A a))", "more than one tree")):
            self.assertRaisesRegex(SystemExit, reason, self.pack, trees, "a\n")

    def test_facts_are_complete_or_none_and_a_name_says_what_the_file_is(self):
        self.assertRaisesRegex(SystemExit, "expected a name", self.pack, name="toy.json")
        self.assertRaisesRegex(SystemExit, "expected each of", self.pack, facts=FACTS[1:])

    def test_words_of_a_tree_end_at_ascii_blanks_alone(self):
        file = self.folder / "gold.ptb"
        file.write_bytes("(S (NN a\u00a0b) (VB\tc\u2028d\u0085))\n(S (NN e))\n".encode())
        self.assertEqual(numbered_trees.sentences(file), [["a\u00a0b", "c\u2028d\u0085"], ["e"]])


class TextLines(unittest.TestCase):
    def lines(self, content):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "text"
            file.write_bytes(content.encode())
            return numbered_trees.read_lines(file)

    def test_only_line_feeds_end_a_line(self):
        for character in "\u2028\u2029\u0085\u000b\u000c\u001c\u001d\u001e\r":
            line = f"one{character}line"
            self.assertEqual(self.lines(f"{line}\nnext\n"), [line, "next"], ascii(character))

    def test_ends_of_line_and_of_file_are_as_in_training(self):
        self.assertEqual(self.lines(""), [])
        self.assertEqual(self.lines("\n"), [""])
        self.assertEqual(self.lines("a\r\n\r\nb"), ["a", "", "b"])
        self.assertEqual(self.lines("a\n\nb\n\n"), ["a", "", "b", ""])
        self.assertEqual(self.lines("\ufeffa\n"), ["a"])

    def test_no_driver_ends_lines_elsewhere(self):
        for file in sorted(ROOT.glob("tools/peers/*.py")):
            code = re.sub(r'""".*?"""', "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
            for reading in (r"(?<!__doc__)\.splitlines\(", r"\breadlines?\(", r" as lines:"):
                self.assertIsNone(re.search(reading, code), file)


if __name__ == "__main__":
    unittest.main()
