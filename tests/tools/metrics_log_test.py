"""tools/metrics_log.py: what it writes, read back by the packages themselves (skipped without them)."""
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/metrics_log.py"
RECORDS = [
    {"kind": "train", "step": 50, "loss": 5.25, "ppl": 190.5, "seconds": 2.5},
    {"kind": "eval", "step": 50, "name": "valid", "ppl": 150.25, "text": "c0ffee", "eval_seconds": 0.5},
    {"kind": "train", "step": 100000, "loss": "NaN", "ppl": 2.0**100, "seconds": 70},
    {"kind": "average", "step": 100000, "name": "test", "bleu": 41.5, "signature": "nrefs:1"},
]
EXPECTED = {"train/loss": [(50, 5.25)], "train/ppl": [(50, 190.5), (100000, 2.0**100)], "valid/ppl": [(50, 150.25)],
            "valid/eval_seconds": [(50, 0.5)], "average/test/bleu": [(100000, 41.5)]}


def has(package):
    return importlib.util.find_spec(package) is not None


class MetricsLog(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        self.run = self.path / "run"
        self.run.mkdir()
        (self.run / "config.json").write_text('{"seed": 1}')
        (self.run / "metrics.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))

    def tool(self, to, *arguments, runs=("run",), code=0):
        done = subprocess.run([sys.executable, "-B", TOOL, *runs, "--to", to, "--output", "out", *arguments],
                              capture_output=True, text=True, cwd=self.path)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def test_mistakes_and_a_missing_package_are_one_line(self):
        for package in ("tensorboard", "wandb"):
            if not has(package):
                self.assertEqual(self.tool(package, code=1), f"metrics_log.py: needs the package {package} (pip install {package})\n")
        (self.run / "metrics.jsonl").write_text('{"kind": "train", "step": 1}\nnonsense\n')
        self.assertIn("metrics.jsonl:2: not a record", self.tool("tensorboard", code=1))
        (self.run / "metrics.jsonl").unlink()
        for package in ("tensorboard", "wandb"):
            self.assertRegex(self.tool(package, code=1), "^run/metrics.jsonl: No such file.*; give a run\n$")

    @unittest.skipUnless(has("tensorboard"), "no package tensorboard")
    def test_tensorboard_reads_the_events(self):
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        for row in ("base", "A1"):  # all runs of a sweep have one name
            shutil.copytree(self.run, self.path / "sweep" / row / "seed-1")
        for _ in range(2):  # what was written before is replaced
            self.tool("tensorboard", runs=("sweep/base/seed-1", "sweep/A1/seed-1"))
        for row in ("base", "A1"):
            events = EventAccumulator(str(self.path / "out" / row / "seed-1"))
            events.Reload()
            self.assertEqual({tag: [(scalar.step, scalar.value) for scalar in events.Scalars(tag)]
                              for tag in events.Tags()["scalars"]}, EXPECTED)
            times = [scalar.wall_time for scalar in events.Scalars("train/ppl")]
            self.assertAlmostEqual(times[1] - times[0], 67.5, places=3)

    @unittest.skipUnless(has("wandb"), "no package wandb")
    def test_wandb_has_a_log_of_every_metric(self):
        self.tool("wandb", "--offline")
        [file] = (self.path / "out/wandb").glob("offline-run-*/*.wandb")
        log = file.read_bytes()
        for name in (*EXPECTED, "seconds"):
            self.assertIn(name.encode(), log)


if __name__ == "__main__":
    unittest.main()
