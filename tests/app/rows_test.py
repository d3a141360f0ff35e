"""Rows of a sweep that are more than options: changed programs, tuned rows; test sets that are counted and sealed.

    python3 tests/app/rows_test.py path/to/attn

Standard library alone. Every case works in a temporary directory.
"""
import difflib
import json
import os
import pathlib
import shutil
import subprocess

from program import ROOT, ProgramTest, main, note_skipped, small_config


def git(folder, *arguments):
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}  # also below a hook of git
    return subprocess.run(["git", "-C", folder, "-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false",
                           *arguments], capture_output=True, text=True, check=True, env=own).stdout.strip()


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
        key = json.loads((self.path / "counted/E/seed-3/result.json").read_text())["results"]["test"]["text"]
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
        def refused(rule):
            for command in ("train", "base.json", "--run", "sealed"), ("eval", "open"):
                self.one_line(*command, "--set", f"eval.1.sealed={rule}", code=2, names=[
                    f"eval: test: the test set is sealed, and {rule} is not, as it stands, in the commit of this build"])
        self.attn("train", "base.json", "--run", "open")
        self.write("rule.md", "BLEU once, at the end.\n")
        refused("rule.md")
        git(self.path, "init", "-q")
        git(self.path, "add", "rule.md")
        git(self.path, "commit", "-q", "-m", "A rule")
        refused("rule.md")  # of another repository
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
        self.assertIn("changed/seed-3: by diff rate.diff", done.stderr)
        for text in ("diff rate.diff", "## Changes of the program", "+      rate = config.learning_rate * std::min(ramp, 0.1);"):
            self.assertIn(text, done.stdout)
        self.assertNotIn("different commits", done.stdout)
        self.assertEqual((self.path / "diff/changed/seed-3/change.txt").read_text(), (self.path / "rate.diff").read_text())
        facts = [json.loads((self.path / f"diff/{row}/seed-3/run.json").read_text()) for row in ("base", "changed")]
        self.assertEqual([facts[0]["commit"], facts[1]["commit"]], [commit, commit + "+changes"])
        self.assertEqual(facts[0]["texts"], facts[1]["texts"])  # one vocabulary
        self.assertIn("2 runs are already finished", self.attn("sweep", "diff.json", "--run", "diff").stderr)


class Tuning(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.attn("generate", "corpus", "--train", "300", "--valid", "20", "--test", "20")
        config = small_config(5, steps=10, log_every=5)
        config["eval"][1]["test"] = True
        cls.write("base.json", config)
        cls.write("tuned.json", {"base": "base.json", "tune": {"train.learning_rate": [0.0001, 0.001, 0.002], "updates": 5},
                                 "rows": [{"name": "base", "seeds": 2}, {"name": "wide", "set": {"model": {"d_ff": 128}}},
                                          {"name": "E", "baseline": "wide", "set": {"model": {"position": "none"}}}]})

    def tune(self, run, *arguments, code=0, sweep="tuned.json"):
        return self.attn("sweep", sweep, "--run", run, *arguments, code=code)

    def tuned(self):
        """The whole sweep, which is trained once."""
        if not hasattr(Tuning, "done"):
            Tuning.done = self.tune("tuned")
        return self.done

    def trials(self, run):
        """{row: {learning rate: perplexity of its trial}}."""
        found = {}
        for result in (self.path / run / "tune").glob("*/seed-3/result.json"):
            row, _, rate = result.parents[1].name.partition(".learning_rate=")
            found.setdefault(row, {})[float(rate)] = json.loads(result.read_text())["results"]["valid"]["values"]["ppl"]
        return found

    def test_every_row_has_the_same_trials_and_then_all_seeds(self):
        done = self.tuned()
        trials = self.trials("tuned")
        self.assertEqual({row: sorted(rates) for row, rates in trials.items()},
                         {row: [0.0001, 0.001, 0.002] for row in ("base", "wide", "E")})
        best = {row: min(rates, key=rates.get) for row, rates in trials.items()}
        for row, rate in best.items():
            note = f"Note: tuned: {row}: of 3 trials train.learning_rate={rate} (perplexity {trials[row][rate]:.2f}"
            self.assertIn(note + (")" if rate == 0.001 else ", train.learning_rate at an edge of the grid)"), done.stdout)
            self.assertIn(note.removeprefix("Note: "), done.stderr)
        rates = {path.parent.name + "/" + path.stem: json.loads(path.read_text())["train"]["learning_rate"]
                 for path in (self.path / "tuned").glob("*/seed-*.json")}
        expected = {f"{row}/seed-{seed}": best["base"] for row, seeds in (("base", (3, 4)), ("wide", (3,)), ("E", (3,))) for seed in seeds}
        expected.update({f"{row}.tuned/seed-3": best[row] for row in ("wide", "E") if best[row] != best["base"]})
        self.assertEqual(rates, expected)
        # Trials do not look at the test set, and are not repeated.
        self.assertIn(f"scored {len(expected)} times by {len(expected)} runs of this report", done.stdout)
        again = self.tune("tuned")
        self.assertNotIn("training", again.stderr)
        without_ledger = lambda text: [line for line in text.splitlines() if "by its ledger" not in line]
        self.assertEqual(without_ledger(again.stdout), without_ledger(done.stdout))
        self.assertIn("base.learning_rate=0.002", self.attn("report", "tuned/tune").stdout)
        dry = self.tune("tuned", "--dry-run", "--no-measure").stdout
        self.assertIn("tuning, 3 trials of each row: 9 runs, in tuned/tune\n(9 of the runs have ended)\n", dry)

    def test_a_row_with_another_choice_has_both_settings(self):
        """The results of trials are edited: one row prefers the middle, one diverged everywhere but at the lowest rate."""
        self.tuned()
        shutil.copytree(self.path / "tuned", self.path / "both")
        for result in (self.path / "both/tune").glob("*/seed-3/result.json"):
            row, _, rate = result.parents[1].name.partition(".learning_rate=")
            value = json.loads(result.read_text())
            chosen = {"base": 0.002, "wide": 0.001, "E": 0.0001}[row]
            value["results"]["valid"]["values"]["ppl"] = 5.0 if float(rate) == chosen else 6.0
            value["end"] = "diverged" if row == "E" and float(rate) != chosen else "steps"
            result.write_text(json.dumps(value))
        for row in ("base", "wide", "E", "wide.tuned", "E.tuned"):
            shutil.rmtree(self.path / "both" / row, ignore_errors=True)
        done = self.tune("both", "--collect", "kept")
        rows = json.loads((self.path / "both/sweep.json").read_text())["rows"]
        seen = [(row["name"], rows[row["baseline"]]["name"], row["config"]["train"]["learning_rate"]) for row in rows]
        rate = seen[0][2]
        self.assertEqual(seen[:3], [("base", "base", rate), ("wide", "base", rate), ("E", "wide", rate)])
        self.assertIn(("wide.tuned", "base", 0.001), seen)
        self.assertEqual([row[:2] for row in seen if row[0] == "E.tuned"], [("E.tuned", "wide.tuned")])
        self.assertIn("| wide.tuned", done.stdout)
        # A collection has the trials.
        self.assertEqual(len(list((self.path / "kept/tune").glob("*/seed-3/result.json"))), 9)
        moved = self.tune("moved", "--collect", "kept")
        self.assertIn("9 finished runs taken from kept/tune", moved.stderr)
        self.assertNotIn("training", moved.stderr)

    def test_killed_in_its_trials_it_goes_on(self):
        sweep = json.loads((self.path / "tuned.json").read_text())
        sweep["tune"]["train.learning_rate"], sweep["rows"] = [0.001, 1e30], sweep["rows"][:2]
        self.write("killed.json", sweep)
        process = self.start("sweep", "killed.json", "--run", "killed")
        self.wait_for("its first trial", process, "killed/tune/*/seed-3/result.json")
        self.end(process)
        self.assertFalse((self.path / "killed/sweep.json").exists())
        done = self.tune("killed", "--only", "base", "--seeds", "1", sweep="killed.json")
        self.assertIn("already finished", done.stderr)
        ends = [json.loads(result.read_text())["end"] for result in (self.path / "killed/tune").glob("*/seed-3/result.json")]
        self.assertEqual(sorted(ends), ["diverged", "diverged", "steps", "steps"])

    def test_mistakes_are_one_line(self):
        tuned = json.loads((self.path / "tuned.json").read_text())
        for tune, names in (({"train.learning_rate": [0.1]}, ["tune.updates: null"]),
                            ({"train.rate": [0.1], "updates": 5}, ["tune", "train.rate"]),
                            ({"model.d_ff": [64, 256], "updates": 5}, ["row wide sets model.d_ff itself"]),
                            ({"train.steps": [1, 2], "updates": 5}, ["tune.train.steps: [1,2]: cannot be chosen"]),
                            ({"train.learning_rate": 0.1, "updates": 5}, ["tune.train.learning_rate"])):
            self.write("mistake.json", {**tuned, "tune": tune})
            self.one_line("sweep", "mistake.json", code=2, names=names)
        self.write("mistake.json", {**tuned, "rows": [*tuned["rows"], {"name": "unvalidated", "set": {"eval": []}}]})
        self.one_line("sweep", "mistake.json", code=2, names=["tune: row unvalidated needs an evaluator of kind loss"])
        self.write("array.json", {**tuned, "rows": [{"name": "base"}]})
        script = self.attn("sweep", "array.json", "--run", "array", "--slurm", "--no-submit").stderr
        self.assertIn("run the same command again for what follows these trials", script)
        self.assertEqual((self.path / "array/tune/slurm.sh").read_text().count("learning_rate="), 3)


if __name__ == "__main__":
    main()
