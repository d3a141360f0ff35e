#!/usr/bin/env python3
"""Rows of a sweep that are more than options: changed programs; test sets that are counted and sealed.

    python3 tests/app/rows_test.py path/to/attn

Standard library alone. Every case works in a temporary directory.
"""
import difflib
import json
import pathlib
import shutil
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


class ChangedPrograms(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.attn("generate", "corpus", "--train", "300", "--valid", "20", "--test", "20")
        cls.write("base.json", small_config(4, steps=8, log_every=4))
        cls.write("other", f'#!/bin/sh\necho "$@" >> "$0.calls"\nexec {cls.program} "$@"\n')
        (cls.path / "other").chmod(0o755)

    def sweep_file(self, name, **row):
        self.write(name, {"base": "base.json", "rows": [{"name": "base"}, {"name": "changed", **row}]})

    @staticmethod
    def diff(name, old, new):
        """A diff of the sources in which `old` becomes `new`."""
        text = (ROOT / name).read_text()
        assert text.count(old) == 1, (name, old)
        lines = difflib.unified_diff(text.splitlines(True), text.replace(old, new).splitlines(True), f"a/{name}", f"b/{name}")
        return "".join(lines)

    def test_the_diffs_of_experiments_apply_and_are_short(self):
        diffs = sorted((ROOT / "experiments/diffs").glob("*.diff"))
        self.assertEqual(len(diffs), 3)
        for diff in diffs:
            subprocess.run(["git", "apply", "--check", diff], cwd=ROOT, check=True)
            self.assertLess(len(diff.read_text().splitlines()), 30)

    def test_a_row_is_trained_by_another_binary(self):
        self.sweep_file("binary.json", binary="other")
        done = self.attn("sweep", "binary.json", "--run", "binary", "--collect", "kept")
        self.assertIn("binary other (", done.stdout)
        self.assertIn("had no effect?", done.stdout)  # since it is the same program
        record = (self.path / "binary/changed/seed-3/change.txt").read_text()
        self.assertRegex(record, r"^attn \d.*\nhash \w{16}\n$")
        self.assertFalse((self.path / "binary/base/seed-3/change.txt").exists())
        trained = [call for call in (self.path / "other.calls").read_text().splitlines() if " train " in call]
        self.assertEqual([call.split(" train ")[1].split()[0] for call in trained], ["binary/changed/seed-3.json"])
        self.check_page("binary", ["Changes of the program", "binary other"])
        # A collection has the record; a task of Slurm runs the row's program.
        self.assertEqual((self.path / "kept/changed/seed-3/change.txt").read_text(), record)
        self.assertIn("2 finished runs taken", self.attn("sweep", "binary.json", "--run", "again", "--collect", "kept").stderr)
        self.attn("sweep", "binary.json", "--run", "array", "--slurm", "--no-submit")
        script = (self.path / "array/slurm.sh").read_text()
        self.assertIn(f"programs=( [1]='{self.path}/other' )", script)
        # Another binary by the same name, or none, is a change.
        before = (self.path / "other").read_text()
        self.addCleanup(self.write, "other", before)
        self.write("other", before + "# changed\n")
        self.one_line("sweep", "binary.json", "--run", "binary", code=2, names=["changed/seed-3 (diff or binary)"])
        self.one_line("sweep", "binary.json", "--run", "more", "--collect", "kept", code=2, names=["kept/changed/seed-3", "different diff or binary"])
        self.sweep_file("binary.json")
        self.one_line("sweep", "binary.json", "--run", "binary", code=2, names=["changed/seed-3 (diff or binary)"])

    def test_a_mistake_is_one_line_before_anything_trains(self):
        self.write("some.diff", self.diff("train/schedule.cpp", "std::sqrt(std::max(warmup, 1.0) / n)", "1.0"))
        for row, names in (({"diff": "none.diff"}, ["none.diff"]), ({"binary": "base.json"}, ["base.json --version: not a build of attn"]),
                           ({"diff": "some.diff", "binary": "other"}, ["rows[1].binary", "keep one"])):
            self.sweep_file("mistake.json", **row)
            self.one_line("sweep", "mistake.json", code=2 if "none.diff" not in row.values() else 3, names=names)
        self.write("mistake.json", {"base": "base.json", "rows": [{"name": "base", "diff": "some.diff"}]})
        self.one_line("sweep", "mistake.json", code=2, names=["rows[0]", "is the baseline, which this program trains"])
        self.sweep_file("mistake.json", diff="some.diff")
        copy = self.path / "copied/app/attn"
        copy.parent.mkdir(parents=True)
        shutil.copy(self.program, copy)
        done = subprocess.run([copy, "sweep", "mistake.json"], cwd=self.path, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("a diff needs the build folder of attn", done.stderr)
        self.assertFalse((self.path / "runs").exists())

    def test_a_row_is_trained_by_a_build_with_its_diff(self):
        """Of a diff that compiles little again: two torch-free sources."""
        commit = self.attn("--version").stdout.split("(")[1].split(")")[0]
        build = pathlib.Path(self.program).parents[1]
        if not (build / "CMakeCache.txt").exists() or not shutil.which("ninja"):
            return note_skipped("a row with a diff needs the build folder of the program, and ninja")
        self.write("rate.diff", self.diff("train/schedule.cpp", "std::sqrt(std::max(warmup, 1.0) / n)", "0.1"))
        self.sweep_file("diff.json", diff="rate.diff")
        if "+" in commit or " " in commit:
            self.one_line("sweep", "diff.json", code=2, names=["rate.diff", "compared with an unchanged commit", commit])
            return note_skipped("a row with a diff needs a build of an unchanged commit")
        self.write("old.diff", self.diff("train/schedule.cpp", "std::sqrt(", "std::cbrt(").replace(" break;", " stop;"))
        self.write("broken.diff", self.diff("base/hash.cpp", "#include \"base/hash.h\"", "#include \"base/hash.h\"\nint x = y;"))
        for name, names in (("old", ["does not apply to commit " + commit]), ("broken", ["does not compile", "base/hash.cpp:2:9: error"])):
            self.sweep_file(f"{name}.json", diff=f"{name}.diff")
            self.one_line("sweep", f"{name}.json", code=2, timeout=1200, names=[f"{name}.diff: ", *names])
            self.assertFalse(list(self.path.glob("runs/*/*/seed-*/config.json")))
        done = self.attn("sweep", "diff.json", "--run", "diff", timeout=1200)
        self.assertIn("changed: diff rate.diff", done.stderr)
        for text in ("diff rate.diff", "## Changes of the program", "+      rate = config.learning_rate * std::min(ramp, 0.1);"):
            self.assertIn(text, done.stdout)
        self.assertNotIn("different commits", done.stdout)
        self.assertEqual((self.path / "diff/changed/seed-3/change.txt").read_text(), (self.path / "rate.diff").read_text())
        facts = [json.loads((self.path / f"diff/{row}/seed-3/run.json").read_text()) for row in ("base", "changed")]
        self.assertEqual([facts[0]["commit"], facts[1]["commit"]], [commit, commit + "+changes"])
        self.assertEqual(facts[0]["texts"], facts[1]["texts"])  # one vocabulary
        self.assertIn("2 runs are already finished", self.attn("sweep", "diff.json", "--run", "diff").stderr)


if __name__ == "__main__":
    main()
