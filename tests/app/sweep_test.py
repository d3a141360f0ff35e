"""Sweeps and their reports with the real binary: killed, changed, broken and interrupted ones.

    python3 tests/app/sweep_test.py path/to/attn

Standard library alone. Every case works in a temporary directory.
"""
import contextlib
import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import time

from program import ProgramTest, main, small_config

BASE = {**small_config(20, steps=40, log_every=5, checkpoint_every=4, keep_last=1), "search": {"alpha": 0.3}}
SWEEP = {
    "base": "base.json",
    "rows": [{"name": "base", "seeds": 2, "paper": {"ppl": 4.92, "bleu": 25.8}},
             {"name": "E", "set": {"model": {"position": "none"}}, "paper": {"ppl": 5.2, "bleu": 25.0}}],
}


class Sweeps(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.attn("generate", "corpus", "--train", "1000", "--valid", "40", "--test", "30")
        cls.write("base.json", BASE)
        cls.write("sweep.json", SWEEP)
        cls.write("one.json", {"base": "base.json", "rows": [{"name": "base"}]})

    def scores(self, sweep):
        """What may not depend on how often the sweep was killed."""
        rows = csv.DictReader(io.StringIO(self.attn("report", sweep, "--format", "runs").stdout))
        return [[row[key] for key in ("row", "seed", "finished", "ppl", "bleu", "parameters", "target_tokens", "flops")] for row in rows]

    def whole(self):
        if not (self.path / "whole/report.md").exists():
            self.attn("sweep", "sweep.json", "--run", "whole")
        return self.scores("whole")

    def test_a_sweep_trains_all_rows_and_reports(self):
        scores = self.whole()
        self.assertEqual([row[:3] for row in scores], [["base", "3", "1"], ["base", "4", "1"], ["E", "3", "1"]])
        self.assertNotEqual(scores[0][3], scores[1][3])
        report = (self.path / "whole/report.md").read_text()
        for part in ("position none", "BLEU", "Signature", "±"):
            self.assertIn(part, report)
        self.assertIn("\\toprule\nrow & other & PPL & PPL paper & BLEU & BLEU paper &", (self.path / "whole/table.tex").read_text())
        self.check_page("whole", ["rows that differ", "better →", "Learning curves", "position none"],
                  figures=["differences.svg", "differences.pdf", "curve-E.pdf"])
        result = json.loads((self.path / "whole/E/seed-3/result.json").read_text())
        self.assertGreater(result["flops"], 0)
        # All rows share one vocabulary.
        self.assertEqual(len(list((self.path / "whole/vocabulary").glob("*/source.model"))), 1)

    def test_run_again_it_has_nothing_to_do(self):
        self.whole()
        state = lambda: {p: p.stat().st_mtime_ns for p in (self.path / "whole").glob("*/seed-*/checkpoints/*")}
        before, again = state(), self.attn("sweep", "sweep.json", "--run", "whole").stderr
        self.assertIn("3 runs are already finished", again)
        self.assertNotIn("training", again)
        self.assertEqual(state(), before)

    def test_a_report_says_which_planned_runs_are_missing(self):
        self.copy("partial")
        plan = json.loads((self.path / "partial/sweep.json").read_text())
        self.assertEqual([row["seeds"] for row in plan["rows"]], [2, 1])
        self.assertNotIn("runs finished", self.attn("report", "partial").stdout)
        shutil.rmtree(self.path / "partial/base/seed-4")
        report = self.attn("report", "partial").stdout
        for text in ("2 of 3 runs finished: 1 not run.", "1 of 2 seeds not run"):
            self.assertIn(text, report)
        states = {row["row"]: row["state"] for row in csv.DictReader((self.path / "partial/rows.csv").read_text().splitlines())}
        self.assertEqual(states, {"base": "1 of 2 seeds not run", "E": ""})
        self.assertEqual(len(self.scores("partial")), 2)
        self.assertIn("    attn --threads 1 sweep sweep.json --run whole\n", report)
        report = self.attn("sweep", "sweep.json", "--run", "partial", "--seeds", "1").stdout
        self.assertNotIn("runs finished", report)
        self.assertIn("    attn --threads 1 sweep sweep.json --run partial --seeds 1\n", report)

    def test_killed_three_times_it_ends_with_the_same_table(self):
        expected = self.whole()
        steps = lambda: sorted(str(p) for p in (self.path / "killed").glob("*/seed-*/checkpoints/step-*"))
        for _ in range(3):
            before = steps()
            process = self.start("sweep", "sweep.json", "--run", "killed")
            while steps() == before:
                self.assertIsNone(process.poll(), "it ended before it was killed")
                time.sleep(0.002)
            process.kill()
            process.communicate()
        self.attn("sweep", "sweep.json", "--run", "killed")
        self.assertEqual(self.scores("killed"), expected)

    def test_changed_runs_are_listed_and_the_report_counts_them_as_omitted(self):
        self.copy("omitted")
        for seed in range(5, 8):
            shutil.copytree(self.path / "omitted/base/seed-3", self.path / f"omitted/base/seed-{seed}")
            config = json.loads((self.path / f"omitted/base/seed-{seed}/config.json").read_text())
            self.write(f"omitted/base/seed-{seed}/config.json", dict(config, seed=seed))
        plan = json.loads((self.path / "omitted/sweep.json").read_text())
        for more in ((), ("--dry-run", "--no-measure")):
            self.one_line("sweep", "sweep.json", "--run", "omitted", "--seeds", "5", "--set", "model.dropout=0.2", *more, code=2,
                          names=["base/seed-3 (model.dropout), ", "base/seed-7 (model.dropout)", "--set applies to all rows"])
        self.assertEqual(json.loads((self.path / "omitted/sweep.json").read_text()), plan)
        plan["rows"][1]["config"]["model"]["dropout"] = 0.2
        self.write("omitted/sweep.json", plan)
        report = self.attn("report", "omitted").stdout
        self.assertIn("1 omitted (see the notes)", report)
        self.assertNotIn("not run", report)
        self.assertIn("seed 3 trained with a different config", report)

    def test_a_longer_training_resumes_also_in_another_directory(self):
        def sweep(run, steps, **more):
            return self.attn("sweep", "sweep.json", "--run", run, "--only", "base", "--seeds", "1", "--set",
                             "train.patience=50", f"train.steps={steps}", **more).stderr
        sweep("place", 20)
        (self.path / "place").rename(self.path / "longer")
        sweep("./longer", 40)
        self.assertFalse((self.path / "place").exists())
        run = self.path / "longer/base/seed-3"
        self.assertEqual(json.loads((run / "config.json").read_text())["train"]["steps"], 40)
        self.assertIn("1 run is already finished", sweep("longer", 40))
        # The training is as long as in the uninterrupted sweep, with the same results.
        self.assertEqual(self.scores("longer")[0], self.whole()[0])
        self.assertIn("finished at step 40; nothing to do", self.attn("train", str(run), "--resume").stderr)
        self.assertIn("base/seed-3 (train.steps)", sweep("longer", 20, code=2))

    def test_a_failing_row_does_not_stop_the_others(self):
        broken = json.loads(json.dumps(SWEEP))
        self.write("corpus/uneven.en", "one\ntwo\n")
        self.write("corpus/uneven.de", "eins\n")
        broken["rows"] = [{"name": "base"}, {"name": "bad", "set": {"data": {"valid": "corpus/uneven"}}},
                          {"name": "unstarted"}, {"name": "last", "set": {"eval": [dict(BASE["eval"][0], name="dev")]}}]
        self.write("broken.json", broken)
        (self.path / "broken/unstarted/seed-3.log").mkdir(parents=True)
        self.write("broken/sweep.json", {"source": "", "rows": []})
        done = self.attn("sweep", "broken.json", "--run", "broken", "--jobs", "1", code=3)
        self.assertIn("bad/seed-3: FAILED", done.stderr)
        self.assertIn("uneven", done.stderr)
        self.assertIn("unstarted/seed-3: FAILED  not started: cannot write 'broken/unstarted/seed-3.log': Is a dir", done.stderr)
        finished = {row[0]: row[2] for row in self.scores("broken")}
        self.assertEqual((finished["base"], finished["last"]), ("1", "1"))
        self.assertIn("| bad", done.stdout)
        # Why it failed is kept: in its own log, and beside it.
        self.assertRegex((self.path / "broken/bad/seed-3/log.txt").read_text(), r"(?m)^failed: 'corpus/uneven.*\n\Z")
        self.assertRegex((self.path / "broken/bad/seed-3.log").read_text(), r"\nfailed: exit code 3: 'corpus/uneven.*\n$")
        report = self.attn("report", "broken").stdout
        self.assertIn("2 of 4 runs finished: 2 not run.", report)
        self.assertIn("last/seed-3: has no result of evaluator valid: omitted from PPL", report)

    def test_a_run_that_was_killed_is_named_with_its_signal(self):
        process = self.start("sweep", "sweep.json", "--run", "shot", "--only", "base", "--seeds", "1", "--set", "train.steps=400")
        run = self.path / "shot/base/seed-3"
        self.wait_for("its first checkpoint", process, "shot/base/seed-3/checkpoints/step-*")
        os.kill(int((run / "lock").read_text().split()[1]), signal.SIGKILL)
        _, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 3)
        self.assertIn("signal 9", error)
        self.assertRegex((run / "log.txt").read_text(), r"\nfailed: ended by signal 9 \(out of memory\?\)\n$")
        self.assertRegex(self.attn("report", "shot").stdout, r"seed 3 failed at step \d+")
        self.attn("sweep", "sweep.json", "--run", "shot", "--only", "base", "--seeds", "1", "--set", "train.steps=400")
        self.assertNotIn("failed", self.attn("report", "shot").stdout)

    def test_sigterm_saves_and_the_same_command_goes_on(self):
        process = self.start("sweep", "sweep.json", "--run", "stopped", "--only", "base", "--seeds", "1", "--set", "train.steps=400")
        run = self.path / "stopped/base/seed-3"
        self.wait_for("its first checkpoint", process, "stopped/base/seed-3/checkpoints/step-*")
        self.assertIn("re-run the same command to resume", self.end(process))
        step = max(int(p.name[5:]) for p in run.glob("checkpoints/step-*"))
        self.assertIn(f"stopped at step {step}, checkpoint saved", (self.path / "stopped/base/seed-3.log").read_text())
        # An unfinished sweep has a report, too.
        self.assertIn("of 400", self.attn("report", "stopped").stdout)

    def test_an_interrupted_dry_run_leaves_no_scratch_files(self):
        scratch = self.path / "scratch"
        scratch.mkdir()
        process = self.start("sweep", "sweep.json", "--dry-run", "--seconds", "600", env={**os.environ, "TMPDIR": str(scratch)})
        self.wait_for("its measurement", process, "scratch/attn-dry-run-*/cache/*")
        self.end(process, signal.SIGINT)
        self.assertEqual(list(scratch.iterdir()), [])

    def test_a_dry_run_prints_costs_and_leaves_nothing(self):
        # SIGCHLD is ignored: a supervisor may leave it so.
        out = self.attn("sweep", "sweep.json", "--run", "dry", "--dry-run", "--seconds", "0.1", "--jobs", "2",
                        preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)).stdout
        self.assertIn("model.position=\"none\"", out)
        self.assertIn("3 runs", out)
        self.assertNotIn("?", out)
        self.assertFalse((self.path / "dry").exists())
        self.whole()
        def planned(*arguments):
            return self.attn("sweep", "sweep.json", "--dry-run", "--no-measure", *arguments).stdout
        self.assertIn("(3 of the runs have ended)", planned("--run", "whole"))
        self.assertNotIn("finished", planned("--run", "dry"))
        self.attn("sweep", "sweep.json", "--run", "whole", "--collect", "dry-collected")
        self.assertIn("(3 of the runs have ended)", planned("--run", "dry", "--collect", "dry-collected"))
        self.assertFalse((self.path / "dry").exists())
        changed = planned("--run", "dry", "--collect", "dry-collected", "--set", "model.d_ff=128")
        self.assertNotIn("finished", changed)

    def corpus(self, name):
        """A copy of the corpus under another name, with a config and a sweep."""
        if not (self.path / name).exists():
            shutil.copytree(self.path / "corpus", self.path / name)
        config = json.loads(json.dumps(BASE))
        config["data"].update(train=f"{name}/train", valid=f"{name}/valid")
        config["eval"][1]["data"] = f"{name}/test"
        config["train"]["steps"] = 8
        self.write(f"{name}.json", config)
        self.write(f"{name}-sweep.json", {"base": f"{name}.json", "rows": [
            {"name": "base"}, {"name": "E", "set": {"model": {"position": "none"}}}]})

    def tokenizer(self):
        """The one of the corpus."""
        self.whole()
        return (self.path / "whole/base/seed-3/tokenizer.model").read_bytes()

    def test_a_corrected_text_has_its_own_vocabulary_in_a_sweep(self):
        """Also where the first text could be used, but nothing was trained on it."""
        self.corpus("mended")
        (self.path / "mended/train.de").write_text((self.path / "mended/train.en").read_text().upper())
        (self.path / "mended/valid.de").write_text("one line\n")
        error = self.attn("sweep", "mended-sweep.json", "--run", "mended-run", code=3).stderr
        self.assertIn("mended/valid", error)
        shutil.rmtree(self.path / "mended")
        self.corpus("mended")
        self.attn("sweep", "mended-sweep.json", "--run", "mended-run")
        self.assertEqual(len(list((self.path / "mended-run/vocabulary").glob("*/source.model"))), 2)
        self.assertEqual((self.path / "mended-run/E/seed-3/tokenizer.model").read_bytes(), self.tokenizer())

    def test_a_corrected_text_has_its_own_vocabulary_in_a_run(self):
        """Of a run that failed before it trained, and of one that was killed in its first steps."""
        for name in ("resumed", "early"):
            self.corpus(name)
            (self.path / name / "train.de").write_text((self.path / name / "train.en").read_text().upper())
            run = self.path / f"{name}-run"
            if name == "early":
                self.attn("train", f"{name}.json", "--run", run.name)
                shutil.rmtree(run / "checkpoints")
                for file in ("result.json", "metrics.jsonl", "run.json"):  # the last one notes the first checkpoint
                    (run / file).unlink()
            else:
                self.write(f"{name}/valid.de", "eins\n")
                self.attn("train", f"{name}.json", "--run", run.name, code=3)
                self.assertFalse((run / "config.json").exists())
            shutil.rmtree(self.path / name)
            self.corpus(name)
            self.attn("train", f"{name}.json", "--run", run.name, "--resume")
            self.assertEqual((run / "tokenizer.model").read_bytes(), self.tokenizer())

    def test_runs_on_another_text_are_named_by_the_sweep(self):
        self.corpus("moving")
        sweep = ("sweep", "moving-sweep.json", "--run", "moving-run")
        self.attn(*sweep)
        for file in (self.path / "moving").iterdir():
            file.touch()
        self.assertIn("2 runs are already finished", self.attn(*sweep).stderr)
        for name, place in (("train.de", "data.train (moving/train)"), ("test.de", "evaluator test (moving/test)")):
            file = self.path / "moving" / name
            former = file.read_text()
            file.write_text(former.replace("a", "o"))
            self.one_line(*sweep, code=3, names=(f"base/seed-3 ({place})", "E/seed-3", "restore the files", "delete"))
            if name == "train.de":
                file.write_text(former)
        # One of them is retrained, on another text than the other one.
        shutil.rmtree(self.path / "moving-run/E/seed-3")
        self.attn(*sweep, "--only", "E")
        self.assertIn("E: its BLEU was computed on different data", self.attn("report", "moving-run").stdout)
        file.write_text(former)
        self.one_line(*sweep, code=3, names=("E/seed-3",))

    def copy(self, name):
        """A copy of the finished sweep."""
        self.whole()
        shutil.copytree(self.path / "whole", self.path / name)
        return self.path / name

    def finished(self, sweep):
        return [row[2] for row in self.scores(sweep)]

    def test_a_damaged_file_of_a_run_is_named_by_the_report(self):
        self.copy("damaged")
        for name, names in (("E/seed-3/config.json", ["delete", "damaged/E/seed-3 to retrain"]),
                            ("E/seed-3/run.json", ["corrupt", "delete it"])):
            with self.half_of(f"damaged/{name}"):
                report = self.attn("report", "damaged").stdout
                note = next(line for line in report.splitlines() if f"damaged/{name}" in line)
                for part in (*names, "omitted"):
                    self.assertIn(part, note)
                self.assertIn("seed 3 omitted (see the notes)", report)
                self.assertEqual(self.finished("damaged"), ["1", "1", "0"])
        with self.half_of("damaged/sweep.json"):
            self.one_line("report", "damaged", code=3, names=["damaged/sweep.json", "corrupt", "run attn sweep again"])
        self.assertEqual(self.finished("damaged"), ["1", "1", "1"])

    @contextlib.contextmanager
    def half_of(self, name):
        path = self.path / name
        whole = path.read_text()
        path.write_text(whole[:len(whole) // 2])
        yield
        path.write_text(whole)

    def test_runs_that_are_copies_are_omitted_with_a_note(self):
        run, before = self.copy("copied"), self.whole()
        for copy in ("seed-5", "seed-03"):
            shutil.copytree(run / "base/seed-3", run / "base" / copy)
        report = self.attn("report", "copied").stdout
        self.assertEqual([row for row in self.scores("copied") if row[2] == "1"], before)
        named = re.findall(r"base/(seed-\d+): its config.json has seed 3, unlike its directory", report)
        self.assertLessEqual({"seed-5", "seed-03"}, set(named))

    def test_runs_that_diverged_leave_a_report(self):
        self.write("hot.json", {"base": "base.json", "set": {"train": {"steps": 6, "schedule": "constant"}}, "rows": [
            {"name": "base"}, {"name": "hot", "grid": {"train.learning_rate": [5.4, 300.0]}}]})
        error = self.attn("sweep", "hot.json", "--run", "hot", code=3).stderr
        report = (self.path / "hot/report.md").read_text()
        self.check_page("hot")
        self.assertNotRegex(report, r"\d{9}\.\d")  # huge numbers have an exponent
        ends = {path.parent.parent.name: json.loads(path.read_text()) for path in (self.path / "hot").glob("hot*/seed-*/result.json")}
        diverged = {name for name, result in ends.items() if result["end"] == "diverged"}
        self.assertTrue(any("ppl" not in ends[name]["results"]["valid"]["values"] for name in diverged), ends)
        rows = {row["row"]: row for row in csv.DictReader((self.path / "hot/rows.csv").read_text().splitlines())}
        for name in ends:
            self.assertEqual(name in diverged, "seed 3 diverged at step 6" in rows[name]["state"], name)
            self.assertEqual(name in diverged, rows[name]["ppl_mean"] == "", name)
            self.assertEqual(name in diverged, f"{name}/seed-3: FAILED" in error, name)
        # They are not trained again, and stay failures.
        self.assertEqual(self.attn("sweep", "hot.json", "--run", "hot", code=3).stderr.count("FAILED  diverged"), len(diverged))

    def test_a_killed_process_of_a_launcher_is_a_failure_with_its_reason(self):
        self.write("launcher.sh", "echo 'attn: step 3: lost'\necho ------------\nexit 137\n")
        done = self.attn("sweep", "sweep.json", "--run", "launched", "--only", "base", "--seeds", "1", "--launcher",
                         "sh launcher.sh", code=3)
        self.assertIn("exit code 137: step 3: lost", done.stderr)

    def test_rows_that_start_from_a_run_have_its_vocabulary(self):
        self.attn("train", "base.json", "--run", "pretrained", "--set", "train.steps=4")
        self.attn("generate", "other", "--train", "300", "--valid", "20", "--test", "20", "--seed", "9")
        self.write("tuned.json", {"base": "base.json", "set": {"train": {"init_from": "pretrained", "steps": 4},
                                                               "data": {"train": "other/train"}},
                                  "rows": [{"name": "base"}, {"name": "B", "set": {"train": {"learning_rate": 0.001}}}]})
        self.attn("sweep", "tuned.json", "--run", "tuned", "--collect", "tuned-kept")
        for row in ("base", "B"):
            log = (self.path / f"tuned/{row}/seed-3/log.txt").read_text()
            loaded = re.search(r"loaded (\d+) of (\d+) parameters", log)
            self.assertEqual(loaded[1], loaded[2], log)
        again = self.attn("sweep", "tuned.json", "--run", "tuned", "--collect", "tuned-kept").stderr
        self.assertNotIn("training", again)
        self.attn("sweep", "tuned.json", "--run", "tuned-moved", "--collect", "tuned-kept")
        self.assertEqual(self.scores("tuned-moved"), self.scores("tuned"))

    def test_a_run_that_cannot_be_collected_does_not_stop_its_sweep(self):
        (self.path / "blocked").mkdir()
        self.write("blocked/base", "a file where the row's directory should be")
        done = self.attn("sweep", "sweep.json", "--run", "uncollected", "--collect", "blocked", "--set", "train.steps=4", code=3)
        for part in ("base/seed-3: FAILED  not collected: ", "blocked/base"):
            self.assertIn(part, done.stderr)
        for file in ("uncollected/base/seed-4/result.json", "blocked/E/seed-3/result.json", "uncollected/report.md"):
            self.assertTrue((self.path / file).exists(), file)

    def test_a_collection_moves_finished_runs_to_another_machine(self):
        scores = self.whole()
        self.attn("sweep", "sweep.json", "--run", "whole", "--collect", "kept")
        self.assertEqual(sorted(str(path.relative_to(self.path / "kept")) for path in (self.path / "kept").glob("*/seed-*")),
                         ["E/seed-3", "base/seed-3", "base/seed-4"])
        self.assertFalse(list((self.path / "kept").rglob("*.safetensors")))
        # One run is missing: it is trained, with the same vocabulary, and added.
        shutil.rmtree(self.path / "kept/E")
        again = self.attn("sweep", "sweep.json", "--run", "elsewhere", "--collect", "kept")
        self.assertIn("2 finished runs taken from kept", again.stderr)
        self.assertNotIn("base/seed-3: training", again.stderr)
        self.assertIn("E/seed-3: training", again.stderr)
        self.assertEqual(self.scores("elsewhere"), scores)
        self.assertTrue((self.path / "kept/E/seed-3/result.json").exists())
        # Significance tests need the outputs, which are part of a collection.
        self.assertNotIn("left out of the bootstrap", (self.path / "elsewhere/report.md").read_text())

    def test_a_collection_takes_a_longer_training_and_repairs_a_run_that_never_began(self):
        steps = lambda folder: json.loads((self.path / folder / "base/seed-3/result.json").read_text())["step"]
        sweep = lambda run, count, *more, **code: self.attn("sweep", "one.json", "--run", run, *more, "--set",
                                                            f"train.steps={count}", **code).stderr
        for count in (4, 8):
            sweep("long", count, "--collect", "lengths")
            self.assertEqual((steps("long"), steps("lengths")), (count, count))
            if count == 4:  # a collected run has nothing to be extended from
                sweep("taken", 4, "--collect", "lengths")
                self.assertIn("base/seed-3: was trained, but no checkpoint is complete", sweep("taken", 8, "--collect", "lengths", code=3))
                self.assertIn("1 run is already finished", sweep("taken", 4))
        # The lock and the log of a run that failed before it wrote its config.
        failed = self.path / "failed/base/seed-3"
        failed.mkdir(parents=True)
        self.write("failed/sweep.json", {"source": "", "rows": []})
        for name in ("lock", "log.txt"):
            (failed / name).write_text("")
        sweep("failed", 8, "--collect", "lengths")
        self.assertEqual(steps("failed"), 8)

    def test_finished_runs_are_scored_again_without_training(self):
        self.write("scored.json", {**SWEEP, "rows": [{"name": "base"}, {"name": "E", "set": {"train": {"average_last": 2, "keep_last": 2}}}]})
        shutil.copytree(self.path / "corpus", self.path / "again")
        sweep = lambda *more, **code: self.attn("sweep", "scored.json", "--run", "scored", "--collect", "scored-kept", *more, **code).stderr
        results = lambda folder: [json.loads((self.path / folder / row / "seed-3/result.json").read_text()) for row in ("base", "E")]
        before = sweep() and results("scored")
        others = ("--set", "eval=" + json.dumps([BASE["eval"][0], {"name": "again", "kind": "bleu", "data": "again/test", "search": {"beam": 1}}]))
        self.attn("average", "scored/E/seed-3", "--last", "1")  # by hand; the row's own is scored
        self.assertIn("if only eval or search differ: --rescore", sweep(*others, code=2))
        self.assertEqual(results("scored"), before)
        # The other runs would fall out of the report.
        self.assertIn("base/seed-3 (", sweep(*others, "--rescore", "--only", "E", code=2))
        self.assertEqual(sweep(*others, "--rescore").count(": scoring again"), 2)
        after = results("scored")
        self.assertEqual(results("scored-kept"), after)
        for old, new, weights in zip(before, after, ("base/seed-3/checkpoints/step-00000040", "E/seed-3/averaged")):
            self.assertEqual({**new, "results": list(new["results"])}, {**old, "results": ["again", "valid"]})
            own = json.loads(self.attn("eval", f"scored/{weights}", *others, "--json").stdout)["again"]["bleu"]
            self.assertAlmostEqual(new["results"]["again"]["values"]["bleu"], own, places=9)
        self.assertNotIn("scoring again", sweep(*others, "--rescore"))
        self.write("again/test.de", "".join(reversed((self.path / "again/test.de").read_text().splitlines(True))))
        self.assertIn("data files have changed", sweep(*others, code=3))
        self.attn("train", "scored/base/seed-3", "--resume", "--rescore")
        self.assertEqual(sweep(*others, "--rescore").count(": scoring again"), 1)
        self.assertNotEqual(results("scored")[0]["results"]["again"], after[0]["results"]["again"])
        self.assertIn("model.d_ff", sweep(*others, "--rescore", "--set", "model.d_ff=99", code=2))
        self.one_line("train", "scored/E/seed-3", "--resume", "--rescore", "--set", "train.average_last=1", code=2,
                      names=["finished and scored with a different train.average_last"])

    def test_curves_have_the_scores_by_the_last_options(self):
        for alpha in ("0.3", "0.9", "0.3"):
            self.attn("sweep", "one.json", "--run", "curves", "--set", f"search.alpha={alpha}", *["--rescore"] * (self.path / "curves").exists())
        rows = csv.DictReader(io.StringIO(self.attn("report", "curves", "--format", "curves").stdout))
        self.assertEqual([row["step"] for row in rows if row["metric"] == "bleu"].count("40"), 2)

    def test_warnings_of_runs_are_repeated_and_a_file_of_that_name_is_kept(self):
        rows = [{"name": "base"}, {"name": "E", "set": {"model": {"position": "none"}}}]
        self.write("warm.json", {"base": "base.json", "rows": rows})
        warm = ("sweep", "warm.json", "--run", "warm", "--set", "train.warmup=50")
        done = self.attn(*warm).stderr
        self.assertEqual(done.count("warning: train.warmup 50: the learning rate only rises"), 1)
        (self.path / "mine").mkdir()
        self.write("mine/sweep.json", "{not JSON")
        self.attn("sweep", "one.json", "--run", "mine", code=2)
        self.assertEqual((self.path / "mine/sweep.json").read_text(), "{not JSON")
        (self.path / "warm/sweep.json").write_text("{cut")
        self.assertIn("run attn sweep again", self.attn("report", "warm", code=3).stderr)
        self.attn(*warm)

    def test_a_sweep_with_one_of_two_vocabularies_can_be_run_again(self):
        self.attn("sweep", "sweep.json", "--run", "given", "--only", "base", "--seeds", "1", "--set", "train.steps=2")
        model, = (self.path / "given/vocabulary").glob("*/source.model")
        data = {"shared_vocabulary": False, "source_model": str(model)}
        self.write("given.json", {"base": "base.json", "set": {"data": data, "model": {"embedding_sharing": "decoder"},
                                                               "train": {"steps": 2}}, "rows": [{"name": "base"}]})
        self.attn("sweep", "given.json", "--run", "one")
        config = json.loads((self.path / "one/base/seed-3/config.json").read_text())["data"]
        self.assertEqual(config["source_model"], str(model))
        self.assertIn("one/vocabulary", config["target_model"])
        self.assertIn("1 run is already finished", self.attn("sweep", "given.json", "--run", "one").stderr)
        self.assertNotIn("omitted", self.attn("report", "one").stdout)

    def test_the_directory_of_another_sweep_is_an_error(self):
        """Also of one with the same relative name, in another directory."""
        self.whole()
        (self.path / "namesake").mkdir()
        before = (self.path / "whole/sweep.json").read_bytes()
        self.write("namesake/base.json", dict(BASE, train=dict(BASE["train"], learning_rate=0.001)))
        self.write("namesake/sweep.json", SWEEP)
        names = ["whole: contains runs of another sweep, sweep.json", "--run"]
        self.one_line("sweep", "namesake/sweep.json", "--run", "whole", code=2, names=["namesake/sweep.json", *names])
        self.one_line("sweep", "namesake/sweep.json", "--run", "whole", "--dry-run", "--no-measure", code=2, names=names)
        done = subprocess.run([self.program, "sweep", "sweep.json", "--run", "../whole", "--dry-run", "--no-measure"],
                              cwd=self.path / "namesake", capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("../whole: contains runs of another sweep, sweep.json", done.stderr)
        self.assertEqual((self.path / "whole/sweep.json").read_bytes(), before)

    def test_what_attn_did_not_write_is_not_replaced(self):
        self.whole()
        self.write("base.json", BASE)
        own = self.path / "own"
        own.mkdir()
        for name in ("sweep.json", "rows.csv"):
            self.write(f"own/{name}", json.dumps(SWEEP))
            self.one_line("sweep", "sweep.json", "--run", "own", code=2, names=["own: exists and is not a sweep directory"])
            self.assertEqual((own / name).read_text(), json.dumps(SWEEP))
            (own / name).unlink()

    def test_a_path_of_another_kind_is_one_line(self):
        self.whole()
        self.write("file", "x")
        for arguments, code, names in (
                (("translate", "whole"), 2, ["whole: a sweep directory, not a run", "ROW/seed-N"]),
                (("vocab", "whole"), 2, ["whole: a sweep directory, not a run", "ROW/seed-N"]),
                (("sweep", "whole/sweep.json"), 2, ["whole/sweep.json: a sweep directory, not a sweep"]),
                (("sweep", "sweep.json", "--run", "never", "--collect", "file"), 2, ["--collect", "file"]),
                (("report", "corpus"), 3, ["not a sweep directory"]),
                (("report", "nowhere"), 3, ["nowhere: no such sweep or run"])):
            with self.subTest(arguments=arguments):
                self.one_line(*arguments, code=code, names=names)
        self.assertFalse(list((self.path / "never").glob("*/seed-*")))

    def test_a_lost_vocabulary_is_learnt_again(self):
        run = lambda seeds: self.attn("sweep", "one.json", "--run", "words", "--seeds", seeds, "--set", "train.steps=2")
        run("1")
        model, = (self.path / "words/vocabulary").glob("*/source.model")
        before = model.read_bytes()
        model.unlink()
        run("2")
        self.assertEqual(model.read_bytes(), before)

    def test_a_collected_run_of_another_config_is_named(self):
        self.whole()
        self.attn("sweep", "sweep.json", "--run", "whole", "--collect", "other")
        self.write("learned.json", {**SWEEP, "rows": [SWEEP["rows"][0], {"name": "E", "set": {"model": {"position": "learned"}}}]})
        self.one_line("sweep", "learned.json", "--run", "learned", "--collect", "other", code=2,
                      names=["other/E/seed-3: trained with a different model.position than row E"])
        self.assertFalse((self.path / "learned/E/seed-3").exists())

    def test_a_resumed_run_keeps_its_number_of_threads_and_its_report_has_the_command_of_its_config(self):
        run = lambda steps, *more, threads: self.attn("train", "base.json", "--run", "threads", *more, "--set",
                                                      f"train.steps={steps}", threads=threads).stderr
        run(4, threads=3)
        note = run(8, "--resume", threads=2)
        self.assertIn("started with 1 process of 3 threads, resuming with 1 process of 2 threads", note)
        command = [self.program, "train", "threads", "--resume", "--set", "train.steps=12"]
        done = subprocess.run(command, cwd=self.path, capture_output=True, text=True, timeout=300)
        self.assertIn("; 3 threads;", done.stderr)
        self.assertNotIn("started with", done.stderr)
        command = "attn --threads 3 train threads/config.json --run runs/threads-again"
        self.assertIn(f"    {command}\n", self.attn("report", "threads").stdout)
        self.attn(*command.split()[3:])
        config = lambda run: json.loads((self.path / run / "config.json").read_text())
        self.assertEqual(config("runs/threads-again"), config("threads"))

    def test_a_sweep_gives_a_run_the_threads_it_began_with(self):
        sweep = lambda steps, jobs: self.attn("sweep", "sweep.json", "--run", "cores", "--seeds", "1", "--jobs", jobs,
                                              "--set", f"train.steps={steps}", threads=3)
        sweep(4, "2")  # three cores, two jobs: one run has two threads, the other one
        begun = {row: json.loads((self.path / f"cores/{row}/seed-3/run.json").read_text())["threads"] for row in ("base", "E")}
        self.assertEqual(sorted(begun.values()), [1, 2])
        sweep(8, "1")
        for row, threads in begun.items():
            log = (self.path / f"cores/{row}/seed-3.log").read_text()
            self.assertEqual(log.count(f"; {threads} {'thread' if threads == 1 else 'threads'};"), 2)

    def false_slurm(self, name, **more):
        """The environment of a false Slurm, whose tools are shell scripts."""
        bin_folder = self.path / f"{name}-bin"
        bin_folder.mkdir(exist_ok=True)
        for tool, text in {"sbatch": 'cp "$1" submitted.sh; echo Submitted batch job 1', "scontrol": 'echo "$@" >> queue',
                           **more}.items():
            (bin_folder / tool).write_text(f"#!/bin/sh\n{text}\n")
            (bin_folder / tool).chmod(0o755)
        return {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}"}

    def test_an_error_of_sbatch_is_one_line(self):
        environment = self.false_slurm("refused", sbatch="echo first; echo second; exit 1")
        self.one_line("sweep", "one.json", "--run", "refused", "--slurm", code=3,
                      names=("sbatch: first; second (script: refused/slurm.sh)",), env=environment)
        for options, message in ((("--slurm", "--jobs", "2"), "--jobs excludes --slurm"),
                                 (("--dry-run", "--launcher", "mpirun"), "--launcher excludes --dry-run"),
                                 (("--seconds", "2"), "--seconds requires --dry-run")):
            self.one_line("sweep", "one.json", *options, code=2, names=(message,))

    def slurm(self, name, **more):
        """Submits a sweep to a false Slurm; returns the script and what runs one of its tasks."""
        environment = self.false_slurm(name, **more)
        self.attn("sweep", f"{name}.json", "--run", name, "--slurm", env=environment)
        script = self.path / f"{name}.sh"
        (self.path / "submitted.sh").rename(script)

        def task(index):
            return subprocess.Popen(["bash", str(script)], cwd=self.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                    text=True, env={**environment, "SLURM_ARRAY_TASK_ID": str(index),
                                                    "SLURM_ARRAY_JOB_ID": "1", "SLURM_CPUS_PER_TASK": "1"})
        return script.read_text(), task

    def test_a_slurm_task_trains_the_config_of_the_last_submission(self):
        self.write("queued.json", {"base": "base.json", "set": {"train": {"steps": 4}}, "rows": [
            {"name": "base"}, {"name": "E", "set": {"model": {"position": "none"}}}]})
        script, task = self.slurm("queued")
        self.assertIn("\ndevice='auto'\nthreads=1\n", script)
        (self.path / "queued.json").unlink()  # the tasks do not read it
        for index in (0, 1):
            ended = task(index)
            out, _ = ended.communicate(timeout=120)
            self.assertEqual(ended.returncode, 0, out)
        config = json.loads((self.path / "queued/E/seed-3/config.json").read_text())
        self.assertEqual(config["model"]["position"], "none")
        self.assertTrue((self.path / "queued/base/seed-3/result.json").exists())

    def test_a_slurm_task_that_fails_is_logged(self):
        self.corpus("waiting")
        (self.path / "waiting-sweep.json").rename(self.path / "waited.json")
        _, task = self.slurm("waited")
        (self.path / "waiting/train.de").unlink()
        ended = task(0)
        out, _ = ended.communicate(timeout=120)
        self.assertEqual(ended.returncode, 3, out)
        self.assertIn("ended with exit code 3", out)
        self.assertTrue((self.path / "waited/base/seed-3.log").read_text().endswith("failed: exit code 3\n"))

    def start_task(self, name, **more):
        config = json.loads(json.dumps(BASE))
        config["train"]["steps"] = 20000
        self.write(f"{name}-base.json", config)
        self.write(f"{name}.json", {"base": f"{name}-base.json", "rows": [{"name": "base"}]})
        script, task = self.slurm(name, **more)
        process = task(0)
        self.wait_for("its first checkpoint", process, f"{name}/base/seed-3/checkpoints/step-*")
        return script, process

    def test_the_notice_queues_a_slurm_task_again_and_a_cancellation_does_not(self):
        for name, number, queued in (("noticed", signal.SIGUSR1, "requeue 1_0\n"), ("cancelled", signal.SIGTERM, "")):
            self.write("queue", "")
            script, process = self.start_task(name)
            self.assertIn("#SBATCH --signal=B:USR1@", script)
            process.send_signal(number)
            out, _ = process.communicate(timeout=60)
            self.assertEqual(process.returncode == 0, bool(queued), out)
            self.assertEqual((self.path / "queue").read_text(), queued)
            self.assertIn("checkpoint saved", (self.path / f"{name}/base/seed-3.log").read_text())

    def test_a_slurm_task_that_cannot_be_queued_again_fails(self):
        for name, scontrol, fails in (("stuck", "exit 1", True), ("ended", "kill -TERM $$", False)):
            _, process = self.start_task(name, scontrol=scontrol)
            process.send_signal(signal.SIGUSR1)
            out, _ = process.communicate(timeout=60)
            self.assertEqual((process.returncode != 0, "requeueing failed" in out), (fails, fails), out)


if __name__ == "__main__":
    main()
