"""The real binary, from generated text to BLEU, and what it does when it is killed, told nonsense or out of disk.

    python3 tests/app/end_to_end_test.py path/to/attn

Standard library alone. Every case works in a temporary directory.
"""
import contextlib
import fcntl
import json
import os
import pathlib
import pty
import random
import re
import resource
import shutil
import signal
import subprocess
import time
import unittest
import unittest.mock

from program import ProgramTest, main, small_config

CONFIG = small_config(20, steps=60, log_every=10, checkpoint_every=7, keep_last=0)


class EndToEnd(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.attn("generate", "corpus", "--train", "1500", "--valid", "50", "--test", "30")
        cls.write("small.json", CONFIG)
        cls.write("corpus/long.en", "the old woman sees the dog .\n" * 20000)
        cls.write("corpus/long.de", "die alte frau sieht den hund .\n" * 20000)

    def weights(self, run):
        last = sorted((self.path / run / "checkpoints").glob("step-*"))[-1]
        return last.name, (last / "model.safetensors").read_bytes()

    def whole_run(self, run="whole", *settings, threads=1):
        """An uninterrupted run, trained once."""
        if not (self.path / run).exists():
            self.attn("train", "small.json", "--run", run, *settings, threads=threads)
        return self.weights(run)

    def copy_of_whole(self, name):
        self.whole_run()
        return shutil.copytree(self.path / "whole", self.path / name)

    def test_training_learns_and_leaves_a_run_that_translates_and_scores(self):
        self.whole_run()
        metrics = [json.loads(line) for line in (self.path / "whole/metrics.jsonl").read_text().splitlines()]
        valid = [m["ppl"] for m in metrics if m["kind"] == "eval" and m["name"] == "valid"]
        self.assertEqual(len(valid), 3)
        self.assertLess(valid[-1], 0.7 * valid[0])
        self.assertIn("bleu", [key for m in metrics for key in m])
        facts = json.loads((self.path / "whole/run.json").read_text())
        self.assertEqual(facts["precision"], "fp32")
        self.assertIn(facts["instructions"], ("generic", "avx2", "avx512", "avx512_bf16", "amx"))
        source = (self.path / "corpus/test.en").read_text()
        lines = ["", *source.splitlines(), "   ", "x" * 5000 + " \u00e4 \ufffd", "word " * 3000]
        out = self.attn("translate", "whole", stdin="\n".join(lines) + "\n").stdout.split("\n")[:-1]
        self.assertEqual(len(out), len(lines))
        self.assertEqual(out[0], "")
        # Single lines have the same translations as in a batch.
        alone = self.attn("translate", "whole", "--chunk-size", "1", stdin=lines[1] + "\n").stdout
        self.assertEqual(alone, out[1] + "\n")
        scored = self.attn("translate", "whole", "--scores", "--set", "nbest=3", stdin=lines[1] + "\n").stdout
        rows = [line.split("\t") for line in scored.splitlines()]
        self.assertEqual(len(rows), 3)
        self.assertEqual(sorted((float(r[1]) for r in rows), reverse=True), [float(r[1]) for r in rows])
        self.write("hyp.txt", self.attn("translate", "whole", "--beam", "2", stdin=source).stdout)
        score = json.loads(self.attn("score", "bleu", "hyp.txt", "corpus/test.de", "--tokenize", "none", "--json").stdout)
        logged = [m["bleu"] for m in metrics if "bleu" in m][-1]
        evaluated = json.loads(self.attn("eval", "whole/checkpoints/step-00000060", "--json").stdout)
        self.assertAlmostEqual(evaluated["test"]["bleu"], logged, places=6)
        self.assertEqual(evaluated["test"]["bleu"], score["score"])
        shutil.copytree(self.path / "whole", self.path / "unwritable")
        (self.path / "unwritable/runs.csv").mkdir()
        printed = self.attn("report", "unwritable")
        self.assertIn("## Scores", printed.stdout)
        self.assertIn("the report is only printed", printed.stderr)
        chrf = 'eval=[{"name": "test", "kind": "chrf", "data": "corpus/test", "word_order": 2, "search": {"beam": 2}}]'
        evaluated = json.loads(self.attn("eval", "whole", "--set", chrf, "--output", "out", "--json").stdout)
        scored = json.loads(self.attn("score", "chrf", "out/test.txt", "corpus/test.de", "--word-order", "2", "--json").stdout)
        self.assertGreater(scored["score"], 0.0)
        self.assertEqual(evaluated["test"]["chrf"], scored["score"])
        self.assertEqual(evaluated["test"]["signature"], scored["signature"])
        self.attn("average", "whole", "--last", "3")
        self.assertIn("whole/averaged", self.attn("translate", "whole", stdin=lines[1] + "\n").stderr)

    def test_killed_again_and_again_it_ends_with_the_same_weights(self):
        self.kill_again_and_again("whole", "killed")

    def test_killed_again_and_again_in_bf16_on_two_threads(self):
        # Processors without bf16 instructions use fp32.
        self.kill_again_and_again("whole-bf16", "killed-bf16", "--set", "train.precision=bf16", threads=2)

    def test_killed_again_and_again_by_the_path_of_a_gpu(self):
        with unittest.mock.patch.dict(os.environ, ATTN_DEVICE_PATH="gpu"):  # batches are built ahead, and padded
            self.kill_again_and_again("whole-gpu", "killed-gpu")
        self.assertEqual(json.loads((self.path / "killed-gpu/run.json").read_text())["row_step"], 128)

    def kill_again_and_again(self, whole, killed, *settings, threads=1):
        name, expected = self.whole_run(whole, *settings, threads=threads)
        rng = random.Random(5)
        checkpoints = lambda: sorted(p.name for p in (self.path / killed / "checkpoints").glob("step-*"))
        kills = 0
        for attempt in range(5):
            before = checkpoints()
            process = self.start("train", "small.json", "--run", killed, "--resume", *settings, threads=threads)
            if attempt == 0:  # before there is anything to resume from
                time.sleep(rng.uniform(0.02, 0.15))
            while attempt > 0 and process.poll() is None and checkpoints() == before:
                time.sleep(0.002)
            time.sleep(rng.uniform(0.0, 0.01))
            ended = process.poll() is not None  # a fast machine may be through before the last kill
            process.kill()
            process.communicate()
            if ended:
                break
            kills += 1
        self.assertGreaterEqual(kills, 3)
        self.attn("train", "small.json", "--run", killed, "--resume", *settings, threads=threads)
        self.assertEqual(self.weights(killed), (name, expected))

        def values(run):
            records = map(json.loads, (self.path / run / "metrics.jsonl").read_text().splitlines())
            return [{key: value for key, value in record.items() if "second" not in key} for record in records]
        self.assertEqual(values(killed), values(whole))

    def test_a_signal_saves_and_names_the_command_to_resume(self):
        process = self.start("train", "small.json", "--run", "stopped", "--set", "train.steps=100000")
        self.wait_for("its first checkpoint", process, "stopped/checkpoints/step-*")
        for _ in range(2):  # others do not interrupt saving
            process.send_signal(signal.SIGTERM)
        self.assertRegex(self.end(process), "checkpoint saved.*attn train stopped --resume")
        # SIGHUP, of a terminal that is closed, does the same unless nohup ignores it.
        last = max(int(path.name[5:]) for path in (self.path / "stopped/checkpoints").glob("step-*"))
        process = self.start("train", "stopped", "--resume", "--set", "train.steps=1000000")
        self.wait_for("its next checkpoint", process, f"stopped/checkpoints/step-{(last // 7 + 1) * 7:08}")
        self.assertIn("checkpoint saved", self.end(process, signal.SIGHUP))

    def test_a_run_whose_last_evaluation_fails_has_its_checkpoint_and_is_evaluated_by_a_resume(self):
        name, expected = self.whole_run()
        process = self.start("train", "small.json", "--run", "unevaluated")
        self.wait_for("its checkpoints", process, "unevaluated/checkpoints")
        self.write("unevaluated/eval", "a file where the translations are to go\n")
        _, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 3, error)
        self.assertIn("unevaluated/eval", error)
        self.assertTrue((self.path / "unevaluated/checkpoints/step-00000060/model.safetensors").exists())
        self.assertFalse((self.path / "unevaluated/result.json").exists())
        (self.path / "unevaluated/eval").unlink()
        resumed = self.attn("train", "unevaluated", "--resume").stderr
        self.assertNotIn("tokens/s", resumed)  # nothing is trained again
        self.assertEqual(self.weights("unevaluated"), (name, expected))
        results = [json.loads((self.path / run / "result.json").read_text())["results"] for run in ("unevaluated", "whole")]
        self.assertEqual(*results)
        marks = [(self.path / run / "checkpoints/best").read_text() for run in ("unevaluated", "whole")]
        self.assertEqual(*marks)

    @unittest.skipUnless(shutil.which("strace"), "strace records what is synced")
    def test_the_metrics_are_on_disk_before_the_result(self):
        calls = self.path / "calls"
        subprocess.run(["strace", "-f", "-y", "-e", "trace=fsync,fdatasync,rename,renameat,renameat2", "-o", calls, self.program, "--threads", "1",
                        "train", "small.json", "--run", "synced", "--set", "train.steps=8", "train.average_last=1"],
                       cwd=self.path, check=True, capture_output=True)
        lines = calls.read_text().splitlines()
        result = next(i for i, line in enumerate(lines) if "rename" in line and "result.json" in line)
        scored = max(i for i, line in enumerate(lines[:result]) if "rename" in line and "averaged" in line)
        self.assertTrue(any("metrics.jsonl" in line for line in lines[scored:result]), lines[scored:result])

    def test_a_signal_ends_preparation_and_evaluation_at_once(self):
        for suffix in ("en", "de"):
            self.write(f"corpus/huge.{suffix}", (self.path / f"corpus/long.{suffix}").read_text() * 50)
        process = self.start("train", "small.json", "--run", "slow", "--set", "eval.1.data=corpus/long", "eval.1.search.beam=8", "train.steps=2")
        self.wait_for("the signal", process, "slow/checkpoints/step-00000002")
        time.sleep(0.3)
        self.assertIn("stopped at step 2, checkpoint saved", self.end(process, seconds=20))
        # As it reads its text, nothing has to be saved.
        process = self.start("train", "small.json", "--run", "reading", "--set", "data.train=corpus/huge")
        self.wait_for("the signal", process, "reading/lock")
        self.end(process, seconds=20)

    def test_a_training_goes_on_when_nobody_reads_its_messages(self):
        expected = self.whole_run()
        process = self.start("train", "small.json", "--run", "unread")
        process.stderr.readline()
        process.stderr.close()
        process.wait(timeout=120)
        self.assertEqual(process.returncode, 0)
        process.stdout.close()
        self.assertEqual(self.weights("unread"), expected)
        self.assertIn("step 60  test", (self.path / "unread/log.txt").read_text())

    def test_an_evaluation_that_is_terminated_leaves_no_temporary_files(self):
        self.whole_run()
        (temporary := self.path / "temporary").mkdir()
        environment = {**os.environ, "TMPDIR": str(temporary)}
        for threads in (1, 2):  # LibTorch's threads may get the signal as well
            process = self.start("eval", "whole", "--set", "eval.1.data=corpus/long", threads=threads, env=environment)
            self.wait_for("the signal", process, "temporary/*")
            self.end(process)
            self.assertEqual(list(temporary.iterdir()), [])

    def test_generated_text_does_not_replace_another(self):
        sizes = ("--train", "9", "--valid", "2", "--test", "2")
        self.attn("generate", "made", *sizes)
        self.attn("generate", "made", *sizes)  # the same text
        before = self.files("made")
        self.one_line("generate", "made", *sizes, "--seed", "2", code=3, names=["made/train.en", "will not be overwritten"])
        self.assertEqual(self.files("made"), before)
        self.one_line("generate", "made", "--train", "-1", code=2, names=["--train"])

    def test_a_changed_validation_text_selects_the_best_checkpoint_anew(self):
        (self.path / "judged").mkdir()
        texts = {s: (self.path / f"corpus/valid.{s}").read_text().splitlines(keepends=True) for s in ("en", "de")}
        for suffix, lines in texts.items():
            self.write(f"judged/valid.{suffix}", "".join(lines[:9]))
        self.attn("train", "small.json", "--run", "judge", "--set", "data.valid=judged/valid", "train.steps=20")
        self.assertNotIn("selected again", self.attn("train", "judge", "--resume", "--set", "train.steps=40").stderr)
        for suffix, lines in texts.items():
            self.write(f"judged/valid.{suffix}", "".join(lines[9:]))
        self.assertIn("the best checkpoint, or its text, has changed",
                      self.attn("train", "judge", "--resume", "--set", "train.steps=60").stderr)
        self.assertEqual((self.path / "judge/checkpoints/best").read_text()[5:13], "00000060")
        self.attn("train", "small.json", "--run", "early", "--set", "train.patience=1", "train.learning_rate=0.3", "eval.0.every=4")
        scored = json.loads((self.path / "early/result.json").read_text())["results"]["valid"]["values"]["ppl"]  # of the best, not last
        self.assertEqual(scored, min(json.loads(line)["ppl"] for line in (self.path / "early/metrics.jsonl").open() if '"eval"' in line))

    def test_evaluators_need_utf8(self):
        self.whole_run()
        shutil.copytree(self.path / "corpus", self.path / "bytes")
        lines = (self.path / "bytes/test.de").read_bytes().split(b"\n")
        (self.path / "bytes/test.de").write_bytes(b"\n".join([*lines[:2], lines[2] + b"\xff", *lines[3:]]))
        evaluator = 'eval=[{"name": "b", "kind": "bleu", "data": "bytes/test"}]'
        self.one_line("eval", "whole", "--set", evaluator, code=3, names=["bytes/test.de:3", "UTF-8"])

    def test_a_finished_run_says_so_and_writes_nothing(self):
        self.whole_run()
        before = {p: p.stat().st_mtime_ns for p in (self.path / "whole/checkpoints").rglob("*")}
        self.assertIn("finished at step 60", self.attn("train", "whole", "--resume", "--set", "runtime.kernels=off").stderr)
        self.assertEqual(before, {p: p.stat().st_mtime_ns for p in (self.path / "whole/checkpoints").rglob("*")})
        self.attn("train", "small.json", "--run", "averaged", "--set", "train.steps=21", "train.average_last=2")
        metrics = (self.path / "averaged/metrics.jsonl").read_text()
        self.assertIn('"average"', metrics)
        self.assertIn("mean of 2 checkpoints, steps", (self.path / "averaged/log.txt").read_text())
        self.attn("train", "averaged", "--resume")
        self.one_line("train", "averaged", "--resume", "--set", "search.beam=3", code=2, names=["averaged", "search.beam", "--rescore"])
        self.assertEqual((self.path / "averaged/metrics.jsonl").read_text(), metrics)
        translate = lambda *options: self.attn("translate", "whole", *options, stdin="a man\n").stdout  # the runtime changes nothing
        self.assertEqual(translate("--set", "kernels=off"), translate())
        self.assertEqual(translate("--set", "runtime.kernels=off", "search.beam=2"), translate("--beam", "2"))

    def test_a_run_resumed_with_fewer_steps_is_scored(self):
        self.attn("train", "small.json", "--run", "rescored", "--set", "train.steps=21", "eval.1.every=20")
        self.one_line("train", "rescored", "--resume", "--set", "train.steps=14", code=2, names=["train.steps: 14", "21"])
        # As if it had been interrupted after the checkpoint of step 20.
        shutil.rmtree(self.path / "rescored/checkpoints/step-00000021")
        (self.path / "rescored/result.json").unlink()
        self.attn("train", "rescored", "--resume", "--set", "train.steps=20", "eval.1.every=0")
        result = json.loads((self.path / "rescored/result.json").read_text())
        self.assertEqual((result["step"], sorted(result["results"])), (20, ["test", "valid"]))
        self.assertEqual(json.loads((self.path / "rescored/config.json").read_text())["train"]["steps"], 20)

    def test_a_run_that_diverges_without_an_infinite_loss_is_not_finished(self):
        settings = ["--set", "train.learning_rate=30", "train.warmup=1", "train.schedule=constant",
                    "--set", "train.steps=30", "model.embedding_sharing=none"]
        self.one_line("train", "small.json", "--run", "perplexed", *settings, code=1,
                      names=["perplexed: diverged: the perplexity of valid", "train.learning_rate"])
        self.assertEqual(json.loads((self.path / "perplexed/result.json").read_text())["end"], "diverged")
        self.assertRegex((self.path / "perplexed/log.txt").read_text(), r"failed: perplexed: diverged: the perplexity.*\n\Z")
        self.assertNotRegex((self.path / "perplexed/log.txt").read_text(), r"\d{20}|-nan")
        self.one_line("train", "perplexed", "--resume", code=1, names=["diverged at step 30"])
        self.assertIn("Not finished: diverged at step 30.", self.attn("report", "perplexed").stdout)

    def test_a_run_begun_while_another_process_waits_for_its_lock_is_kept(self):
        self.whole_run()
        for name, settings, said in (("new", (), "the run exists"),
                                     ("other", ("--resume", "--set", "train.label_smoothing=0.3"), "train.label_smoothing")):
            run = self.path / f"waited-{name}"
            run.mkdir()
            with open(run / "lock", "w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                waiting = self.start("train", "small.json", "--run", run.name, "--wait", "60", *settings)
                time.sleep(1)  # longer than it takes to look at the directory
                shutil.copytree(self.path / "whole", run, dirs_exist_ok=True, ignore=shutil.ignore_patterns("lock*"))
                before = self.files(run.name)
            errors = waiting.communicate(timeout=120)[1]
            self.assertEqual(waiting.returncode, 2, errors)
            self.assertIn(said, errors)
            self.assertEqual(self.files(run.name), before)

    def test_a_longer_training_renames_the_average_and_removes_analyses(self):
        self.copy_of_whole("longer")
        self.attn("average", "longer", "--last", "2")
        cached = sorted(p.name for p in (self.path / "longer/averaged").iterdir())
        self.attn("eval", "longer/averaged", "--set", "search.beam=1")
        self.assertEqual(sorted(p.name for p in (self.path / "longer/averaged").iterdir()), cached)
        written = json.loads((self.path / "longer/config.json").read_text())
        self.assertEqual(written["eval"][1]["search"], {"beam": 2})
        (self.path / "longer/heads.json").write_text('{"heads": []}')
        process = self.start("train", "longer", "--resume", "--set", "train.steps=300")
        self.wait_for("its next checkpoint", process, "longer/checkpoints/step-00000063")
        process.send_signal(signal.SIGSTOP)
        self.assertFalse((self.path / "longer/heads.json").exists())
        self.assertFalse((self.path / "longer/averaged").exists())
        self.assertTrue((self.path / "longer/averaged-before-the-end").exists())
        self.attn("average", "longer", "--last", "2")  # so does the end of a training with one made meanwhile
        self.assertTrue((self.path / "longer/averaged").exists())
        process.send_signal(signal.SIGCONT)
        said = process.communicate(timeout=120)[1]
        self.assertEqual(process.returncode, 0, said)
        self.assertIn("longer/averaged", said)
        self.assertFalse((self.path / "longer/averaged").exists())
        # An average is only ever written over an average.
        (self.path / "theirs").mkdir()
        for name in ("config.json", "model.safetensors", "notes.txt"):
            self.write(f"theirs/{name}", "{}")
        for output in ("corpus", "theirs"):
            before = self.files(output)
            self.one_line("average", "longer", "--last", "2", "--output", output, code=3, names=[output, "--output"])
            self.assertEqual(self.files(output), before)
        for _ in range(2):
            self.attn("average", "longer", "--last", "2", "--output", "mean")

    def test_mistakes_in_a_config_are_one_line_with_the_place_and_the_nearest_name(self):
        for text, names in (({"base": "small.json", "model": {"heds": 4}}, ["model.heds", "heads"]),
                            ({"base": "nowhere.json"}, ["base", "nowhere.json"]),
                            ('{"seed": 1,\n "model": }', ["at line 2, column 11"]),
                            ('{"train": {"learning_rate": 1e999}}', ["1e999"])):
            with self.subTest(text=text):
                self.write("bad.json", text)
                self.one_line("train", "bad.json", "--run", "bad", code=2, names=["bad.json", *names])
                self.assertFalse((self.path / "bad").exists())

    def test_mistakes_on_the_command_line_are_one_line_with_the_remedy(self):
        self.whole_run()
        self.write("rows.json", {"base": "small.json", "rows": [{"name": "base"}, {"name": "x", "set": {"heads": 3}}]})
        self.write("misplaced.json", {"base": "small.json", "rows": [{"name": "base", "model": {"heads": 4}}]})
        self.write("row.json", {"base": "small.json", "row": [{"name": "base"}]})
        self.write("file", "not a directory")
        step = "whole/checkpoints/step-00000056"
        shutil.copytree(self.path / step, self.path / "moved")
        before = self.files("whole")
        cases = [("config small.json --set heads=3", ["did you mean model.heads?"]),
                 (["config", "--set", b"about=\xff"], ["UTF-8"]), (["config", "small.json", "--set", "model.norm=a\nb"], ["a\\nb"]),
                 ("translate whole --set model.heads=3", ["only options of search, runtime"]),
                 ("translate whole --chunk-size 0", ["--chunk-size"]),
                 ("translate whole --nbest-list --scores", ["--nbest-list", "--scores"]),
                 ("translate whole --set known_tags=1", ["search.known_tags", "data.task=parsing"]),
                 (["train", "small.json", "--set", "train.patience=3", "--set", 'eval=[{"name": "a", "kind": "loss", "every": 0}]'],
                  ["train.patience", "every"]),
                 ("sweep row.json", ["row.json: row", "did you mean rows?"]),
                 ("parse whole --indent --draw", ["--indent", "--draw"]),
                 ("sweep misplaced.json", ["rows[0].model", "belongs in \"set\""]),
                 # Of a trained model.
                 ("eval whole --set train.precision=bf16", ["--set train.precision=bf16", "trained model"]),
                 (["eval", "whole", "--set", 'eval=[{"name": "a", "kind": "bleu", "bem": 4}]'], ["--set eval[0].bem"]),
                 # Numbers that make no sense.
                 ("bench step small.json --synthetic 0", ["1048576"]),
                 # Of another kind.
                 ("train rows.json", ["a sweep, not a config", "attn sweep rows.json"]),
                 ("sweep small.json", ["a config, not a sweep", "attn train small.json"]),
                 ("sweep whole", ["a run, not a sweep", "attn train whole --resume"]),
                 ("translate small.json", ["a config, not a run", "attn train small.json"]),
                 ("eval rows.json", ["a sweep, not a run", "attn sweep rows.json"]),
                 ("train corpus", ["corpus: is a directory; give a config file"]),
                 (f"train {step}/model.safetensors", ["model.safetensors: not JSON: parse error at line 1, column 1"]),
                 # Runs and checkpoints.
                 ("train small.json --run whole", ["whole", "--resume"]),
                 ("train moved --resume", ["moved: a checkpoint, not a run"]),
                 (f"train {step}/ --resume", ["a checkpoint, not a run; its run is whole"]),
                 (f"train small.json --run {step} --resume", ["its run is whole"])]
        cases_of_files = [(["translate", "a\nb"], ["a\\nb"]), ("translate file", ["file: a file; give the directory of a run", "--input"]),
                          ("translate corpus", ["corpus"]), ("translate nowhere", ["nowhere"]), ("train nowhere.json", ["nowhere.json"]),
                          ("train small.json --run none --set data.train=nowhere/train", ["nowhere/train.en"]),
                          ("train small.json --run file/run", ["file/run"]),
                          ("eval whole --output file", ["file", "give a directory"])]
        for code, rows in ((2, cases), (3, cases_of_files)):
            for arguments, names in rows:
                with self.subTest(arguments=arguments):
                    self.one_line(*(arguments.split() if isinstance(arguments, str) else arguments), code=code, names=names)
        self.assertEqual(self.files("whole"), before)

    def test_a_change_of_a_resumed_run_is_recorded_and_its_texts_may_move(self):
        start = ["--run", "changed", "--set", "train.steps=20", "train.checkpoint_every=10"]
        self.attn("train", "small.json", *start)
        shutil.copytree(self.path / "changed", self.path / "relocated")
        longer = ["--resume", "--set", "train.steps=30"]
        self.one_line("train", "changed", *longer, "--set", "train.clip_norm=2", code=2, names=["train.clip_norm", "--change"])
        self.one_line("train", "changed", *longer, "--change", "model.heads=4", code=2, names=["model.heads=4", "train.clip_norm"])
        self.one_line("train", "small.json", "--run", "new", "--change", "train.clip_norm=2", code=2, names=["--change", "--resume"])
        before = self.files("changed")
        self.attn("train", "changed", "--resume", "--change", "train.clip_norm=2", code=2)  # it has finished
        self.assertEqual(self.files("changed"), before)
        said = self.attn("train", "changed", *longer, "--change", "train.clip_norm=0.01", "data.batch_tokens=600").stderr
        self.assertIn("train.clip_norm is 0.01 from step 20 on, was 0", said)
        self.attn("train", "changed", "--resume", "--set", "train.steps=40")  # keeps them
        records = [json.loads(line) for line in (self.path / "changed/metrics.jsonl").read_text().splitlines()]
        changes = {record["option"]: (record["step"], record["after"]) for record in records if record["kind"] == "change"}
        self.assertEqual(changes, {"train.clip_norm": (20, 0.01), "data.batch_tokens": (20, 600)})
        self.assertIn("changed while it was trained: data.batch_tokens 600 from step 20, train.clip_norm 0.01 from step 20",
                      self.attn("report", "changed").stdout)
        # A text elsewhere is the same one; a changed one is not.
        shutil.copytree(self.path / "corpus", self.path / "corpus_elsewhere")
        self.whole_run()
        there = ["--set", "data.train=corpus_elsewhere/train", "data.valid=corpus_elsewhere/valid", "train.steps=28"]
        self.assertNotIn("the best is selected again", self.attn("train", "relocated", "--resume", *there).stderr)
        weights = "checkpoints/step-00000028/model.safetensors"
        self.assertEqual((self.path / "relocated" / weights).read_bytes(), (self.path / "whole" / weights).read_bytes())
        with open(self.path / "corpus_elsewhere/train.en", "r+", encoding="utf-8") as text:
            text.write("X")
        self.one_line("train", "relocated", "--resume", "--set", "train.steps=40", code=3, names=["corpus_elsewhere/train", "changed"])

    def test_a_dry_run_prints_the_cost_and_leaves_no_run(self):
        said = self.attn("train", "small.json", "--dry-run", "--run", "none", "--set", "train.steps=700").stdout
        facts = dict(line.split(maxsplit=1) for line in said.splitlines())
        self.assertEqual(list(facts), ["parameters", "vocabulary", "text", "epoch", "update", "speed", "training", "memory"])
        self.assertRegex(facts["text"], r"^\d+ pairs; longest sentence \d+ tokens; unknown: 0\.00 % of the source")
        self.assertRegex(facts["training"], r"^700 updates, .* FLOPs, .* with evaluations$")
        self.assertFalse((self.path / "none").exists())

    def files(self, run):
        return {p.relative_to(self.path / run): p.read_bytes() for p in (self.path / run).rglob("*")
                if p.is_file() and p.name != "log.txt" and not p.name.startswith("lock")}

    def test_the_average_of_the_last_checkpoints_is_scored_at_the_end(self):
        settings = ["--set", "train.steps=20", "train.checkpoint_every=5", "train.keep_last=3"]
        self.attn("train", "small.json", "--run", "last_scored", *settings)
        self.attn("train", "small.json", "--run", "mean_scored", *settings, "--set", "train.average_last=3")
        self.attn("average", "last_scored", "--last", "3")
        averaged = [(self.path / run / "averaged/model.safetensors").read_bytes() for run in ("last_scored", "mean_scored")]
        self.assertEqual(averaged[0], averaged[1])
        scores = {run: json.loads((self.path / run / "result.json").read_text())["results"] for run in ("last_scored", "mean_scored")}
        self.assertNotEqual(scores["mean_scored"]["valid"]["values"]["ppl"], scores["last_scored"]["valid"]["values"]["ppl"])
        again = json.loads(self.attn("eval", "last_scored/averaged", "--json").stdout)
        self.assertAlmostEqual(scores["mean_scored"]["valid"]["values"]["ppl"], again["valid"]["ppl"], places=6)
        # The curve holds the weights in training; the average has records of its own.
        records = [json.loads(line) for line in (self.path / "mean_scored/metrics.jsonl").read_text().splitlines()]
        self.assertEqual([r["name"] for r in records if r["kind"] == "average"], sorted(scores["mean_scored"], reverse=True))
        # A report tells the two apart.
        rows = [line.split(",") for line in self.attn("report", "mean_scored", "--format", "curves").stdout.splitlines()]
        ppl = {row[4]: float(row[6]) for row in rows if row[2] == "20" and row[3] == "valid" and row[5] == "ppl"}
        self.assertEqual(ppl["average"], scores["mean_scored"]["valid"]["values"]["ppl"])
        self.assertEqual(ppl["checkpoint"], scores["last_scored"]["valid"]["values"]["ppl"])
        self.one_line("average", "last_scored", "--last", "4", code=2,
                      names=["--last 4", "3 consecutive", "train.keep_last"])
        self.one_line("train", "small.json", "--run", "none_scored", *settings, "--set", "train.average_last=4", code=2,
                      names=["train.average_last", "4", "keep_last"])

    def test_a_run_that_lost_its_checkpoints_is_left_as_it_is(self):
        copy = self.copy_of_whole("lost")
        self.attn("average", "lost", "--last", "2")
        for optimizer in copy.glob("checkpoints/*/optimizer.safetensors"):  # to save disk
            optimizer.unlink()
        before = self.files("lost")
        self.assertIn("finished at step 60; nothing to do", self.attn("train", "lost", "--resume").stderr)
        self.one_line("train", "lost", "--resume", "--set", "train.steps=70", code=3,
                      names=["lost", "optimizer.safetensors", "restore the missing files"])
        self.assertEqual(self.files("lost"), before)
        (copy / "checkpoints").rename(self.path / "elsewhere")
        before = self.files("lost")
        self.assertIn("finished at step 60; nothing to do", self.attn("train", "lost", "--resume").stderr)
        for resumed in ("lost", "small.json"):
            self.one_line("train", resumed, "--run", "lost", "--resume", "--set", "train.steps=70", code=3,
                          names=["lost: was trained, but no checkpoint is complete (there is none)"])
        self.assertEqual(self.files("lost"), before)
        (self.path / "elsewhere").rename(copy / "checkpoints")

    def test_evaluating_writes_nothing_into_the_run(self):
        copy = self.copy_of_whole("readonly")
        shutil.rmtree(copy / "cache")
        before = self.files("readonly")
        subprocess.run(["chmod", "-R", "a-w", copy], check=True)  # root may write all the same
        try:
            scores = json.loads(self.attn("eval", "readonly", "--json").stdout)
        finally:
            subprocess.run(["chmod", "-R", "u+w", copy], check=True)
        self.assertEqual(set(scores), {"valid", "test"})
        self.assertEqual(self.files("readonly"), before)
        self.assertFalse((copy / "cache").exists())

    def test_evaluating_checks_lengths_and_shares_the_temporary_directory(self):
        settings = ("--set", "model.position=learned", "model.max_positions=16", "data.max_length=16",
                    "--set", "train.steps=1", "train.average_last=0", "eval=[]")
        self.attn("train", "small.json", "--run", "sixteen", *settings)
        taken = self.path / "shared"
        (taken / "attn-eval").mkdir(parents=True)
        evaluators = lambda name: ("--set", f'eval=[{{"name": "{name}", "kind": "loss", "data": "{name}/valid"}}]')
        for language in ("en", "de"):
            lines = (self.path / f"corpus/valid.{language}").read_text().splitlines()
            for name, text in (("fits", lines[0].split()[:4]), ("long", lines[0].split() * 9)):
                (self.path / name).mkdir(exist_ok=True)
                self.write(f"{name}/valid.{language}", " ".join(text) + "\n")
        environment = {**os.environ, "TMPDIR": str(taken)}
        self.assertIn("fits", self.attn("eval", "sixteen", *evaluators("fits"), env=environment).stdout)
        self.assertEqual([p.name for p in taken.iterdir()], ["attn-eval"])
        self.one_line("eval", "sixteen", *evaluators("long"), code=3, names=["long", "max_positions"])

    def test_a_new_deciding_metric_begins_anew_even_after_a_kill(self):
        self.copy_of_whole("metric")
        # As a resume leaves it that is killed before its first checkpoint.
        config = json.loads((self.path / "metric/config.json").read_text())
        config["eval"] = [{"name": "score", "kind": "bleu", "tokenize": "none", "every": 10, "search": {"beam": 1}}]
        self.write("metric/config.json", config)
        self.attn("train", "metric", "--resume", "--set", "train.steps=80")
        self.assertGreater(int((self.path / "metric/checkpoints/best").read_text()[5:13]), 60)

    def test_an_average_of_weights_begins_with_those_of_init_from(self):
        self.whole_run()
        ppl = lambda run: json.loads(self.attn("eval", run, "--json").stdout)["valid"]["ppl"]
        self.attn("train", "small.json", "--run", "tuned", "--set", "train.init_from=whole@last", "train.ema=0.999",
                  "--set", "train.steps=1", "train.learning_rate=1e-12")
        self.assertAlmostEqual(ppl("tuned"), ppl("whole@last"), delta=1e-3)

    def test_what_would_fail_at_an_evaluation_fails_before_training(self):
        for weights in ("int8", "bf16"):
            self.one_line("train", "small.json", "--run", weights, "--set", "model.activation=gelu", "--set",
                          f"search.weights={weights}", code=2, names=["search.weights", weights, "use fp32"])
        self.one_line("train", "small.json", "--run", "short", "--set", "model.position=learned", "--set",
                      "model.max_positions=9", "--set", "data.max_length=9", code=3, names=["valid", "max_positions"])
        for settings, names in (("data.valid=nowhere/valid", ["data.valid: nowhere/valid.en: no such file"]),
                                ('eval=[{"name": "a", "kind": "bleu", "data": "nowhere"}]',
                                 ["eval: a.data: nowhere.en: no such file"])):
            self.one_line("train", "small.json", "--run", "untexted", "--set", settings, code=3, names=names)
            self.assertFalse((self.path / "untexted").exists())

    def test_bad_text_is_reported_before_training_with_file_and_line(self):
        shutil.copytree(self.path / "corpus", self.path / "broken")
        with open(self.path / "broken/train.de", "ab") as file:
            file.write(b"one more\n")
        # Validation text: before the tokenizer is trained.
        for option in ("data.train", "data.valid"):
            error = self.attn("train", "small.json", "--run", "uneven", "--set", f"{option}=broken/train", code=3).stderr
            self.assertIn("'broken/train.en' has 1500 lines and 'broken/train.de' has 1501", error)
            self.assertNotIn("training a tokenizer", error)
        with open(self.path / "broken/train.en", "ab") as file:
            file.write(b"bad \xff bytes\n")
        done = self.attn("train", "small.json", "--run", "utf8", "--set", "data.train=broken/train", "data.valid=broken/train", "train.steps=1")
        for part in ("1501", "1 pair dropped: empty, too long or not UTF-8"):
            self.assertIn(part, done.stderr)
        last = json.loads((self.path / "utf8/metrics.jsonl").read_text().splitlines()[-2])
        self.assertEqual((last["name"], last["left_out"]), ("valid", 1))

    def test_broken_checkpoints_are_rejected_and_a_broken_newest_one_is_skipped(self):
        copy = self.copy_of_whole("copy")
        newest = sorted(copy.glob("checkpoints/step-*"))[-1]
        weights = newest / "model.safetensors"
        whole = weights.read_bytes()
        # Cut off; and with a flipped bit, which only the checksum shows.
        for damaged in (whole[:-100], whole[:-100] + bytes([whole[-100] ^ 1]) + whole[-99:]):
            weights.write_bytes(damaged)
            self.one_line("translate", str(newest.relative_to(self.path)), code=3, names=["model.safetensors"])
            self.assertIn("corrupt", self.attn("train", "copy", "--resume").stderr)
            self.assertEqual(self.weights("copy"), self.weights("whole"))
        newest = sorted(copy.glob("checkpoints/step-*"))[-1]
        weights = newest / "model.safetensors"
        weights.write_bytes(random.Random(1).randbytes(5000))
        self.one_line("translate", str(newest.relative_to(self.path)), code=3, names=["model.safetensors"])

    def test_a_full_disk_is_one_line_and_the_checkpoints_before_are_whole(self):
        """By a limit on file sizes, with and without its signal: Adam's moments are larger than 150 kB."""
        for handler in (signal.SIG_DFL, signal.SIG_IGN):
            def small_files(handler=handler):
                resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
                signal.signal(signal.SIGXFSZ, handler)
            self.one_line("train", "small.json", "--run", "full", "--resume", "--set", "train.steps=10", code=3,
                          names=["optimizer.safetensors"], preexec_fn=small_files)
            self.assertEqual(list((self.path / "full/checkpoints").glob("step-*")), [])
        self.attn("train", "full", "--resume", "--set", "train.steps=10")

    def test_input_that_cannot_be_read_is_an_error(self):
        self.whole_run()
        for command in (("translate", "whole"), ("translate", "whole", "-o", "lost.txt"), ("vocab", "whole", "--encode")):
            folder = os.open(self.path, os.O_RDONLY)
            done = subprocess.run([self.program, *command], cwd=self.path, stdin=folder, capture_output=True, text=True, timeout=60)
            os.close(folder)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("attn: cannot read 'standard input': Is a directory", done.stderr)
        self.assertFalse((self.path / "lost.txt").exists())

    def test_output_that_is_lost_is_an_error_of_every_command(self):
        if not pathlib.Path("/dev/full").is_char_device():
            self.skipTest("no /dev/full here")
        for command in (("config",), ("generate", "--help"), ("--version",)):
            with self.subTest(command=command), open("/dev/full", "w", encoding="utf8") as full:
                done = subprocess.run([self.program, *command], cwd=self.path, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn("cannot write to standard output", done.stderr)

    def test_a_pipe_that_is_closed_leaves_no_temporary_files(self):
        self.whole_run()
        scratch = self.path / "scratch"
        scratch.mkdir()
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run([self.program, "--threads", "1", "eval", "whole"], cwd=self.path, timeout=60, text=True,
                              env={**os.environ, "TMPDIR": str(scratch)}, stdout=writing, stderr=subprocess.PIPE)
        os.close(writing)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("cannot write to standard output", done.stderr)
        self.assertEqual(list(scratch.iterdir()), [])

    def test_output_follows_links_and_leaves_pipes_and_devices_in_place(self):
        self.whole_run()
        text = "".join((self.path / "corpus/test.en").read_text().splitlines(keepends=True)[:2])
        expected = self.attn("translate", "whole", stdin=text).stdout
        self.write("target.txt", "old")
        (self.path / "link.txt").symlink_to("target.txt")
        self.attn("translate", "whole", "-o", "link.txt", stdin=text)
        self.assertTrue((self.path / "link.txt").is_symlink())
        self.assertEqual((self.path / "target.txt").read_text(), expected)
        pipe = self.path / "pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
        self.attn("translate", "whole", "-o", "pipe", stdin=text)
        self.assertEqual(os.read(reader, 65536).decode(), expected)
        os.close(reader)
        self.assertTrue(pipe.is_fifo())
        self.assertFalse((self.path / "pipe.partial").exists())

    def test_what_attn_did_not_write_is_not_replaced(self):
        self.whole_run()
        mine = self.path / "foreign"
        mine.mkdir()
        self.write("foreign/report.md", "my report\n")
        self.one_line("train", "small.json", "--run", "foreign", code=2, names=["foreign: exists and is not a run"])
        (mine / "report.md").rename(mine / "test.txt")
        self.one_line("eval", "whole", "--output", "foreign", code=2, names=["foreign/test.txt: exists"])
        self.assertEqual([(p.name, p.read_text()) for p in mine.iterdir()], [("test.txt", "my report\n")])
        config = json.dumps(CONFIG)
        self.write("foreign/config.json", config)
        self.one_line("train", "foreign/config.json", "--run", "foreign", "--resume", code=2, names=["foreign: exists and is not a run"])
        self.assertEqual((mine / "config.json").read_text(), config)

    def test_memory_that_cannot_be_had_is_one_line(self):
        def little_memory():
            resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
        done = self.attn("bench", "step", "small.json", "--set", "model.d_model=65536", "model.d_ff=65536",
                         code=1, preexec_fn=little_memory)
        self.assertEqual(done.stderr.splitlines()[-1], "attn: out of memory; reduce the batch (data.batch_tokens), the model or the input")

    def test_a_checkpoint_of_a_stranger_is_checked(self):
        self.whole_run()
        checkpoint = sorted((self.path / "whole/checkpoints").glob("step-*"))[-1]
        copy = lambda name: shutil.copytree(checkpoint, self.path / name)
        # A changed value, the last 4 bytes of the last tensor; in a file without a checksum, one that is not finite.
        weights = copy("nan") / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:-4] + b"\x00\x00\xc0\x7f")
        self.one_line("translate", "nan", code=3, names=["model.safetensors", "checksum"])
        weights.write_bytes(weights.read_bytes().replace(b'"xxh64"', b'"other"'))
        self.one_line("translate", "nan", code=3, names=["model.safetensors", "non-finite"])
        # Before the model is made, whose sizes would exhaust the memory.
        for name, change in {"wide": {"d_model": 1 << 20}, "deep": {"layers": 1000, "d_model": 4096, "d_ff": 16384}}.items():
            config = json.loads((copy(name) / "config.json").read_text())
            config["model"].update(change)
            self.write(f"{name}/config.json", config)
            self.one_line("translate", name, code=3, names=["model.safetensors", "parameters", "different config"])

    def test_a_single_run_has_a_report(self):
        self.copy_of_whole("reported")
        report = self.attn("report", "reported").stdout
        for part in ("# reported", "Finished.", "| valid ", "| ppl ", "| test ", "| bleu ", "## Training cost",
                     "attn --threads 1 train reported/config.json --run runs/reported-again"):
            self.assertIn(part, report)
        self.assertEqual((self.path / "reported/report.md").read_text(), report)
        self.check_page("reported", [">PPL<", ">training<"], figures=["curve-bleu.pdf", "curve-ppl.svg"])
        metrics = [json.loads(line) for line in (self.path / "reported/metrics.jsonl").read_text().splitlines()]
        rows = [line.split(",") for line in self.attn("report", "reported", "--format", "curves").stdout.splitlines()]
        self.assertEqual(rows[0], ["row", "seed", "step", "evaluator", "weights", "metric", "value"])
        self.assertEqual([float(row[6]) for row in rows[1:] if row[3:6] == ["valid", "checkpoint", "ppl"]],
                         [m["ppl"] for m in metrics if m["kind"] == "eval" and m["name"] == "valid"])
        self.assertEqual(len(self.attn("report", "reported", "--format", "runs").stdout.splitlines()), 2)
        self.one_line("report", "reported/checkpoints/step-00000060", code=2, names=["its run is reported"])
        self.one_line("report", "small.json", code=2, names=["small.json: a config, not a run"])
        (self.path / "reported/result.json").unlink()
        for line in metrics:  # of the last log, a validation and a checkpoint, the latest counts
            line["step"] = min(line["step"], 20 if line["kind"] == "train" else 40)
        self.write("reported/metrics.jsonl", "".join(json.dumps(line) + "\n" for line in metrics))
        self.assertIn("Not finished: at step 60 of 60", self.attn("report", "reported").stdout)
        shutil.rmtree(self.path / "reported/checkpoints")
        self.assertIn("Not finished: at step 40 of 60", self.attn("report", "reported").stdout)

    def test_config_resolves_and_explains(self):
        for values in (("eval[0].every=3", "train.steps=7"), ("train.steps=7", "eval[0].every=3")):
            shown = self.attn("config", "small.json", "--set", "model.heads=4", *values, "--device", "cpu")
            config = json.loads(shown.stdout)
            self.assertEqual((config["model"]["heads"], config["model"]["d_model"], config["model"]["norm"]), (4, 32, "post"))
            self.assertEqual((config["eval"][0]["every"], config["train"]["steps"]), (3, 7))
        self.assertIn("parameters with a vocabulary size of 400", shown.stderr)
        self.write("shown.json", shown.stdout)  # what is shown is a config, and resolves to itself
        self.assertEqual(self.attn("config", "shown.json").stdout, shown.stdout)
        lines = self.attn("config", "--explain").stdout.splitlines()
        self.assertTrue(any(line.startswith("model.heads = 8 ") for line in lines))

    def test_n_best_lists_stay_aligned_with_the_lines(self):
        self.whole_run()
        lines = ["", *(self.path / "corpus/test.en").read_text().splitlines()[:3], " ", "a"]
        for options in ([], ["--set", "extra_length=0", "stop=first_finished", "--chunk-size", "1"]):
            with self.subTest(options=options):
                translate = lambda *form: self.attn("translate", "whole", *form, "--set", "beam=9", "nbest=9", *options,
                                                    stdin="\n".join(lines) + "\n").stdout
                out, rows = translate().split("\n")[:-1], [row.split("\t") for row in translate("--scores").splitlines()]
                self.assertEqual(len(out), 9 * len(lines))
                self.assertEqual([int(row[0]) for row in rows], [1 + i // 9 for i in range(9 * len(lines))])
                self.assertEqual([row[3] for row in rows], out)
                self.assertEqual([float(row[1]) for row in rows[:2]], [0.0, float("-inf")])
                # Moses counts lines from 0.
                expected = [f"{int(line) - 1} ||| {words} ||| logp= {log_prob} ||| {score}"
                            for line, score, log_prob, words in rows if score != "-inf"]
                self.assertEqual(translate("--nbest-list").splitlines(), expected)

    def test_a_long_command_shows_progress_on_a_terminal_alone(self):
        self.whole_run()
        line = (self.path / "corpus/test.en").read_text().splitlines()[0] + "\n"

        def stderr_of(terminal):
            ours, theirs = pty.openpty() if terminal else os.pipe()
            process = subprocess.Popen([self.program, "translate", "whole", "--chunk-size", "1"], cwd=self.path, text=True,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=theirs)
            os.close(theirs)
            process.stdin.write(line)
            process.stdin.flush()
            process.stdout.readline()
            time.sleep(1.5)
            process.communicate(timeout=60)
            said = b""
            with contextlib.suppress(OSError), os.fdopen(ours, "rb", buffering=0) as file:  # Linux ends a pseudo-terminal so
                while part := file.read(65536):
                    said += part
            return said.decode()

        self.assertRegex(stderr_of(True), r"translating  1 sentences  \d+\.\d/s")
        self.assertNotIn("sentences", stderr_of(False))

    def test_vocab_lists_and_cuts(self):
        self.whole_run()
        rows = [line.split("\t") for line in self.attn("vocab", "whole").stdout.splitlines()]
        self.assertEqual([int(row[0]) for row in rows], list(range(400)))
        pieces = {row[1] for row in rows}
        text = (self.path / "corpus/test.en").read_text()
        cut = self.attn("vocab", "whole", "--encode", stdin=text).stdout
        self.assertLessEqual({piece for line in cut.splitlines() for piece in line.split()}, pieces)
        joined = ["".join(line.split()).replace("\u2581", " ").strip() for line in cut.splitlines()]
        self.assertEqual(joined, [line.strip() for line in text.splitlines()])

    def test_benchmarks_measure_what_they_name(self):
        self.whole_run()
        step = json.loads(self.attn("bench", "step", "small.json", "--json", "--seconds", "0.2", "--set", "data.cache=cache").stdout)
        self.assertGreater(step["tokens_per_second"], 0)
        trace = self.attn("bench", "step", "small.json", "--seconds", "0.1", "--trace").stderr
        rows = [re.fullmatch(r" *([\d.]+) +([\d.]+) % +([\d.]+)  (\S.*)", row) for row in trace.splitlines()[2:]]
        self.assertEqual([row[3] for row in rows if row[4] == "aten::_fused_adamw_"], ["1.0"], trace)
        self.assertAlmostEqual(sum(float(row[2]) for row in rows), 100, delta=10, msg=trace)  # without the smallest
        one = json.loads(self.attn("bench", "step", "small.json", "--json", "--seconds", "0.2", "--set", "data.cache=cache",
                                   "--batch-tokens", "256").stdout)
        self.assertLess(one["memory"], 2 * step["memory"])
        search = json.loads(self.attn("bench", "search", "whole", "corpus/test.en", "--json", "--at-once", "8", "--seconds", "0.1").stdout)
        self.assertEqual(search[0]["at_once"], 8)
        self.assertGreaterEqual(search[0]["sentences"], 8)


if __name__ == "__main__":
    main()
