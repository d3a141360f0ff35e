"""The Python beside attn ends lines and words where attn does: tools/peers/text_lines.py, tools/numbered_trees.py."""
import re
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools/peers"))
sys.path.insert(0, str(ROOT / "tools"))
from text_lines import read_lines  # noqa: E402  # its folder must be on the path first
import numbered_trees  # noqa: E402  # likewise


class TextLines(unittest.TestCase):
    def lines(self, content):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "text"
            file.write_bytes(content.encode())
            return read_lines(file)

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

    def test_words_of_a_tree_end_at_ascii_blanks_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "gold.ptb"
            file.write_bytes("(S (NN a\u00a0b) (VB\tc\u2028d\u0085))\n(S (NN e))\n".encode())
            words = [[word for _, word in numbered_trees.LEAF.findall(line)] for line in numbered_trees.read_lines(file)]
            self.assertEqual(words, [["a\u00a0b", "c\u2028d\u0085"], ["e"]])


if __name__ == "__main__":
    unittest.main()
