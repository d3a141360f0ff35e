#!/usr/bin/env python3
"""The scripts of `attn completion`, run by the shells that are installed.

    python3 tests/app/completion_test.py path/to/attn
"""
import shutil
import subprocess
import unittest

from program import ProgramTest, main

BASH = """source "$1"; shift
COMP_WORDS=(attn "$@"); COMP_CWORD=$#; COMPREPLY=()
_attn
printf '%s\\n' "${COMPREPLY[@]}"
"""


class Completion(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for shell in ("bash", "zsh", "fish"):
            cls.write(f"attn.{shell}", cls.attn("completion", shell).stdout)

    def complete(self, *words):
        """What bash offers for the last of the words."""
        done = subprocess.run(["bash", "--norc", "-c", BASH, "bash", str(self.path / "attn.bash"), *words],
                              capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    @unittest.skipUnless(shutil.which("bash"), "no bash")
    def test_bash_completes_commands_flags_and_choices(self):
        self.assertEqual(self.complete("tr"), ["train", "translate"])
        self.assertEqual(self.complete("score", "ch"), ["chrf"])
        self.assertIn("--chunk-size", self.complete("translate", "runs/tiny", "--"))
        self.assertNotIn("--window", self.complete("translate", "runs/tiny", "--"))  # a former name
        self.assertIn("--threads", self.complete("score", "bleu", "--"))
        self.assertEqual(self.complete("score", "bleu", "--tokenize", ""), ["13a", "none", "intl", "char", "compound"])
        self.assertEqual(self.complete("completion", "z"), ["zsh"])
        # The value of a flag is not a command, and without choices it is a file.
        self.assertEqual(self.complete("--threads", "train", "sc"), ["score"])
        self.assertEqual(self.complete("translate", "--input", ""), [])

    @unittest.skipUnless(shutil.which("bash"), "no bash")
    def test_bash_knows_every_command_of_the_help(self):
        listed = self.attn("--help").stdout.split("Subcommands:\n")[1].split("\n\n")[0]
        commands = [line.split()[0] for line in listed.splitlines()]
        self.assertGreater(len(commands), 10)
        offered = self.complete("")
        for command in commands:
            self.assertIn(command, offered)

    def test_zsh_and_fish_accept_their_scripts(self):
        for shell in ("zsh", "fish"):
            with self.subTest(shell=shell):
                if not shutil.which(shell):
                    self.skipTest(f"no {shell}")
                subprocess.run([shell, "-n", str(self.path / f"attn.{shell}")], check=True)

    def test_fish_completes_each_flag_under_its_command(self):
        lines = (self.path / "attn.fish").read_text().splitlines()
        nbest = [line for line in lines if " -l nbest-list " in line]
        self.assertEqual(len(nbest), 2)  # translate and parse
        for line in nbest:
            self.assertRegex(line, r"^complete -c attn -n '__fish_seen_subcommand_from (translate|parse)' ")
        self.assertTrue(any("-l tokenize" in line and "13a none" in line for line in lines))

    def test_another_shell_is_an_error(self):
        self.one_line("completion", "tcsh", code=2, names=["tcsh", "bash"])


if __name__ == "__main__":
    main()
