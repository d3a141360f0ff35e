#!/usr/bin/env python3
"""tools/tensorboard_events.py and wandb_import.py, read back by the packages themselves (skipped without them)."""
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
RECORDS = [
    {"kind": "train", "step": 50, "loss": 5.25, "ppl": 190.5, "seconds": 2.5},
    {"kind": "eval", "step": 50, "name": "valid", "ppl": 150.25, "text": "c0ffee", "eval_seconds": 0.5},
    {"kind": "train", "step": 100000, "loss": "NaN", "ppl": 1e30, "seconds": 70},
    {"kind": "average", "step": 100000, "name": "test", "bleu": 41.5, "signature": "nrefs:1"},
]
EXPECTED = {"train/loss": [(50, 5.25)], "train/ppl": [(50, 190.5), (100000, 1e30)], "valid/ppl": [(50, 150.25)],
            "valid/eval_seconds": [(50, 0.5)], "average/test/bleu": [(100000, 41.5)]}


def has(package):
    return importlib.util.find_spec(package) is not None


class MetricsExport(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        self.run = self.path / "run"
        self.run.mkdir()
        (self.run / "config.json").write_text('{"seed": 1}')
        (self.run / "metrics.jsonl").write_text("".join(json.dumps(record) + "\n" for record in RECORDS))

    def tool(self, name, *arguments):
        return subprocess.run([sys.executable, "-B", TOOLS / name, self.run, *arguments], capture_output=True, text=True,
                              cwd=self.path)

    def test_the_checksum_is_crc32c(self):
        sys.path.insert(0, str(TOOLS))
        sys.dont_write_bytecode = True
        from tensorboard_events import masked_crc, varint
        crc = 0xE3069283  # of "123456789", from RFC 3720
        self.assertEqual(int.from_bytes(masked_crc(b"123456789"), "little"),
                         ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)
        self.assertEqual(varint(300), b"\xac\x02")

    def test_a_broken_line_is_named(self):
        (self.run / "metrics.jsonl").write_text('{"kind": "train", "step": 1}\nnonsense\n')
        done = self.tool("tensorboard_events.py", "--output", "events")
        self.assertEqual(done.returncode, 1)
        self.assertIn("metrics.jsonl:2: ", done.stderr)

    def test_runs_of_one_name_have_files_of_their_own(self):
        for row in ("base", "A1"):
            shutil.copytree(self.run, self.path / "sweep" / row / "seed-1")
        for runs, folders in ((["sweep/base/seed-1", "sweep/A1/seed-1"], ["A1/seed-1", "base/seed-1"]), (["run"], ["run"])):
            done = subprocess.run([sys.executable, "-B", TOOLS / "tensorboard_events.py", *runs, "--output", "events"],
                                  capture_output=True, text=True, cwd=self.path)
            self.assertEqual(done.returncode, 0, done.stderr)
            events = self.path / "events"
            self.assertEqual(sorted(str(file.parent.relative_to(events)) for file in events.rglob("events.*")), folders)
            shutil.rmtree(events)

    def test_a_missing_run_is_one_line(self):
        (self.run / "metrics.jsonl").unlink()
        done = self.tool("tensorboard_events.py", "--output", "events")
        self.assertEqual(done.returncode, 1)
        self.assertIn("metrics.jsonl: No such file", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    @unittest.skipIf(has("wandb"), "the package wandb is installed")
    def test_a_missing_package_is_one_line(self):
        done = self.tool("wandb_import.py")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "wandb_import.py: needs the package wandb (pip install wandb)\n")

    @unittest.skipUnless(has("tensorboard"), "no package tensorboard")
    def test_tensorboard_reads_the_events(self):
        done = self.tool("tensorboard_events.py", "--output", "events")
        self.assertEqual(done.returncode, 0, done.stderr)
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
        events = EventAccumulator(str(self.path / "events/run"))
        events.Reload()
        self.assertEqual(sorted(events.Tags()["scalars"]), sorted(EXPECTED))
        for tag, points in EXPECTED.items():
            found = [(scalar.step, scalar.value) for scalar in events.Scalars(tag)]
            for (step, value), (at, expected) in zip(found, points, strict=True):
                self.assertEqual(step, at)
                self.assertAlmostEqual(value / expected, 1, places=6)
        times = [scalar.wall_time for scalar in events.Scalars("train/ppl")]
        self.assertAlmostEqual(times[1] - times[0], 67.5, places=3)

    @unittest.skipUnless(has("wandb"), "no package wandb")
    def test_wandb_reads_the_history(self):
        done = self.tool("wandb_import.py", "--offline", "--output", "out")
        self.assertEqual(done.returncode, 0, done.stderr)
        from wandb.proto import wandb_internal_pb2
        from wandb.sdk.internal.datastore import DataStore
        [file] = (self.path / "out/wandb").glob("offline-run-*/*.wandb")
        store = DataStore()
        store.open_for_scan(str(file))
        found = {}
        while (data := store.scan_data()) is not None:
            record = wandb_internal_pb2.Record()
            record.ParseFromString(data)
            row = {item.key or "/".join(item.nested_key): json.loads(item.value_json)
                   for item in record.history.item}
            for key, value in row.items():
                if "/" in key:
                    found.setdefault(key, []).append((row["step"], value))
        self.assertEqual(found, EXPECTED)


if __name__ == "__main__":
    unittest.main()
