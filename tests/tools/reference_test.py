"""docs/reference/config.md and commands.md say what the program says; tools/reference.py writes them.

    python3 tests/tools/reference_test.py path/to/attn
"""
import os
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools"))
import reference  # noqa: E402  # its folder must be on the path first


class Reference(unittest.TestCase):
    program = ""

    def test_the_pages_are_the_programs_own_texts(self):
        done = subprocess.run([sys.executable, "-B", str(ROOT / "tools/reference.py"), self.program, "--check"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf8")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_every_option_and_command_has_its_place(self):
        config, commands = ((ROOT / f"docs/reference/{name}.md").read_text(encoding="utf8") for name in ("config", "commands"))
        for option in reference.read_options(reference.output_of(self.program, "config", "--explain")):
            if option["section"] != "eval[]":  # what evaluators share with search is not repeated
                self.assertIn(f"| `{option['name']}` | {reference.type_cell(option['type'])} |", config)
        for name in ("train", "sweep", "score bleu", "bench step"):
            self.assertIn(f"# attn {name}\n", commands)
        helps = {part.partition("\n")[0]: part for part in commands.split("\n## attn ")}
        for name in ("train", "translate", "parse", "eval", "score", "average", "config", "vocab", "generate"):
            self.assertIn("xample", helps[name])


if __name__ == "__main__":
    Reference.program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
