"""tools/results.py: the archive restores the runs, and the two tables hold their scores and 40 points of their curves.

    python3 tests/tools/results_test.py path/to/attn    which computes chrF
"""

import csv
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "results.py"
PROGRAM = sys.argv.pop(1)


class Results(unittest.TestCase):
    def table(self, path):
        with open(path, encoding="utf8", newline="") as file:
            return list(csv.DictReader(file))

    def test_packed_runs_come_back_and_the_tables_name_their_scores(self):
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "table"
            run = table / "runs" / "A1" / "seed-2"
            (run / "eval").mkdir(parents=True)
            records = [{"kind": "train", "step": step, "ppl": 9.0, "target_tokens": step} for step in range(1, 101)]
            records += [{"kind": "eval", "step": step, "name": "valid", "ppl": 8.0} for step in range(1, 101)]
            test = {"name": "test", "kind": "bleu", "data": "corpora/test", "tokenize": "none"}
            (Path(folder) / "corpora").mkdir()
            (Path(folder) / "corpora/test.de").write_text("ein Hund\n", encoding="utf8")
            files = {"config.json": json.dumps({"seed": 2, "data": {"target": "de"}, "eval": [test]}), "eval/test-100.txt": "ein Hund\n",
                     "metrics.jsonl": "".join(json.dumps(record) + "\n" for record in records),
                     "result.json": '{"step": 100, "results": {"test": {"values": {"bleu": 30.5, "bp": 0.9}}}}',
                     "run.json": '{"commit": "abc", "processor": "P"}',
                     "log.txt": "model: 1 parameter; precision bf16\nstep 100/100  loss 1\n"}
            for name, text in files.items():
                (run / name).write_text(text, encoding="utf8")
            subprocess.run([sys.executable, TOOL, table, "--attn", PROGRAM, "--corpora", f"{folder}/corpora", "--remove"],
                           check=True, stdout=subprocess.PIPE)
            self.assertEqual(sorted(path.name for path in table.iterdir()), ["curves.csv", "runs.csv", "runs.tar.xz"])
            line, = self.table(table / "runs.csv")
            self.assertEqual([line[name] for name in ("folder", "row", "seed", "test.bleu", "test.chrf", "precision", "commit")],
                             ["runs", "A1", "2", "30.500000", "100.000000", "bf16", "abc"])
            steps = [int(point["updates"]) for point in self.table(table / "curves.csv")]
            self.assertEqual((len(steps), steps[0], steps[-1]), (40, 1, 100))
            other = table / "runs" / "A2" / "seed-2"  # packed later: the archive keeps the first
            other.mkdir(parents=True)
            for name in ("config.json", "metrics.jsonl"):
                (other / name).write_text(files[name], encoding="utf8")
            subprocess.run([sys.executable, TOOL, table, "--remove"], check=True, stdout=subprocess.PIPE)
            rows = self.table(table / "runs.csv")
            self.assertEqual([(line["row"], line["test.chrf"]) for line in rows], [("A1", "100.000000"), ("A2", "")])
            subprocess.run(["tar", "-xJf", table / "runs.tar.xz", "-C", table], check=True)
            files["log.txt"] = "model: 1 parameter; precision bf16\n"
            self.assertEqual({name: (run / name).read_text(encoding="utf8") for name in files}, files)


if __name__ == "__main__":
    unittest.main()
