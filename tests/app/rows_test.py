#!/usr/bin/env python3
"""Rows of a sweep that are more than options: test sets that are counted and sealed, with the real binary.

    python3 tests/app/rows_test.py path/to/attn

Standard library alone. Every case works in a temporary directory.
"""
import json
import subprocess

from program import ROOT, ProgramTest, main, note_skipped, small_config


def git(folder, *arguments):
    return subprocess.run(["git", "-C", folder, "-c", "user.name=test", "-c", "user.email=test@localhost", *arguments],
                          capture_output=True, text=True, check=True).stdout.strip()


class TestSets(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.attn("generate", "corpus", "--train", "300", "--valid", "20", "--test", "20")
        config = small_config(4, steps=8, log_every=4)
        config["eval"].append({"name": "test_ppl", "kind": "loss", "data": "corpus/test", "every": 4, "test": True})
        config["eval"][1]["test"] = True
        cls.write("base.json", config)
        cls.write("sweep.json", {"base": "base.json", "rows": [{"name": "base", "seeds": 2},
                                                               {"name": "E", "set": {"model": {"position": "none"}}}]})

    def test_scorings_are_counted_in_runs_sweep_and_beside_the_corpus(self):
        """BLEU at the end and the loss twice: three scorings of one text in each of three runs."""
        ledger = self.path / "corpus/test.ledger.jsonl"
        ledger.unlink(missing_ok=True)
        report = self.attn("sweep", "sweep.json", "--run", "counted").stdout
        self.assertRegex(report, r"Note: test set corpus/test \(\w{8}\): scored 9 times by 3 runs of this report; by its "
                                 r"ledger 9 times by 3 runs\n")
        (key, entry), = json.loads((self.path / "counted/E/seed-3/run.json").read_text())["tests"].items()
        self.assertEqual(entry, {"set": "corpus/test", "times": 3})
        lines = [json.loads(line) for line in ledger.read_text().splitlines()]
        self.assertEqual({(line["text"], line["commit"]) for line in lines}, {(key, lines[0]["commit"])})
        self.assertEqual(sorted((line["evaluator"], line["step"]) for line in lines if line["run"].endswith("E/seed-3")),
                         [("test", 8), ("test_ppl", 4), ("test_ppl", 8)])
        # By hand, too; another run is another one, also in the same directory.
        self.attn("eval", "counted/E/seed-3")
        self.attn("train", "base.json", "--run", "alone")
        self.assertIn("scored 3 times by 1 run of this report; by its ledger 14 times by 4 runs", self.attn("report", "alone").stdout)
        # Another text has counts of its own.
        text = (self.path / "corpus/test.de").read_text()
        self.addCleanup((self.path / "corpus/test.de").write_text, text)
        (self.path / "corpus/test.de").write_text(text.upper())
        self.attn("train", "base.json", "--run", "upper")
        self.assertIn("ledger 3 times by 1 run\n", self.attn("report", "upper").stdout)

    def test_a_set_that_is_marked_later_changes_no_run(self):
        unmarked = {"base": "base.json", "set": {"eval": small_config(4)["eval"]}, "rows": [{"name": "base"}]}
        self.write("later.json", unmarked)
        self.attn("sweep", "later.json", "--run", "later")
        unmarked["set"]["eval"][1]["test"] = True
        self.write("later.json", unmarked)
        self.assertIn("1 run is already finished", self.attn("sweep", "later.json", "--run", "later").stderr)

    def test_a_sealed_set_is_not_scored_before_its_rule_is_in_the_build(self):
        def refused(rule, why):
            for command in ("train", "base.json", "--run", "sealed"), ("eval", "open"):
                self.one_line(*command, "--set", f"eval.1.sealed={rule}", code=2,
                              names=["eval: test: the test set is sealed, and ", f"{why}", "commit the rule, then build again"])
        self.attn("train", "base.json", "--run", "open")
        self.write("rule.md", "BLEU once, at the end.\n")
        refused("rule.md", "rule.md is not in git")
        git(self.path, "init", "-q")
        git(self.path, "add", "rule.md")
        refused("rule.md", "rule.md is not in git")
        git(self.path, "commit", "-q", "-m", "A rule")
        refused("rule.md", "rule.md is not in the commit of this build")
        self.write("rule.md", "BLEU.\n")
        refused("rule.md", "rule.md has uncommitted changes")
        self.assertFalse((self.path / "sealed/config.json").exists())
        self.one_line("train", "base.json", "--set", "eval.0.sealed=rule.md", code=2, names=["sealed", "requires test=true"])
        commit = self.attn("--version").stdout.split("(")[1].split(")")[0].partition("+")[0]
        if subprocess.run(["git", "-C", ROOT, "diff", "--quiet", commit, "--", "LICENSE"], capture_output=True).returncode:
            return note_skipped("a sealed test set is scored: this build is not of a commit of its sources")
        self.attn("train", "base.json", "--run", "unsealed", "--set", f"eval.1.sealed={ROOT}/LICENSE")


if __name__ == "__main__":
    main()
