"""tools/gpu_check: its procedure on the CPU, its reports of failures, and its one line without a GPU.

    python3 tests/tools/gpu_check_test.py path/to/attn

The PyTorch that it compares with is a stand-in: no torch is needed.
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON = """#!/bin/sh
case "$*" in
  *pytorch_step.py*--compile*) echo '{"tokens_per_second": 2000, "memory": 1e9, "steps": 7}' ;;
  *pytorch_step.py*) echo '{"tokens_per_second": 1000, "memory": 2e9, "steps": 7}' ;;
  *) echo '{"version": "9.9", "cuda": null, "folder": "torch"}' ;;
esac
"""


class GpuCheck(unittest.TestCase):
    program = ""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="attn-test-")
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.report = self.path / "gpu_check.md"

    def script(self, name, text):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def check(self, *arguments, **environment):
        return subprocess.run([sys.executable, ROOT / "tools/gpu_check", *arguments], cwd=self.path, text=True,
                              env=os.environ | environment, timeout=300, capture_output=True)

    def rows(self, first):
        """The cells of the report's rows that begin with these."""
        rows = [line.strip("| ").split(" | ") for line in self.report.read_text(encoding="utf-8").splitlines()
                if line.startswith("| ")]
        return [row for row in rows if row[: len(first)] == first]

    def one_line(self, done, *words):
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertEqual([path.name for path in self.path.iterdir() if path.name != "bin"], [])

    def test_the_procedure_on_the_cpu_passes_and_reports_every_step(self):
        done = self.check("--on-cpu", "--prebuilt", self.program.parents[1], "--models", "tiny", "--python",
                          self.script("python", PYTHON))
        text = self.report.read_text(encoding="utf-8") if self.report.exists() else ""
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr + text)
        self.assertRegex(text, r"\A# GPU check: PASSED all 13 steps in \d+ s \(on the CPU")
        self.assertIn("PASSED", done.stdout)
        for step in ("build", "tests", "training", "training, second start", "training, resumed", "search",
                     "speed: tiny, fp32, attn", "speed: tiny, bf16, compiled"):
            self.assertEqual([row[1] for row in self.rows([step])], ["passed"], step)
        rates = {row[2]: float(row[3].replace(",", "")) for row in self.rows(["tiny", "fp32"])}
        ratios = {row[2]: row[4] for row in self.rows(["tiny", "fp32"])}
        self.assertEqual(ratios["attn"], "–")
        for peer, rate in ("eager", 1000), ("compiled", 2000):
            self.assertEqual(rates[peer], rate)
            self.assertAlmostEqual(float(ratios[peer].split()[0]), rates["attn"] / rate, delta=0.01)
        first, second, resumed = (self.rows([name])[0] for name in ("first", "second", "resumed"))
        self.assertEqual(first[2:5], second[2:5])
        self.assertEqual(first[2:5], resumed[2:5])
        self.assertEqual(len(re.findall(r"^\| cpu \|", text, re.MULTILINE)), 2)

    def test_a_step_that_fails_is_reported_and_the_next_one_starts(self):
        self.script("built/app/attn", "#!/bin/sh\n[ $1 = --version ] || { echo why >&2; exit 7; }\n")
        done = self.check("--on-cpu", "--prebuilt", self.path / "built", "--models", "tiny", "--peers", "eager",
                          "--python", self.script("python", PYTHON))
        text = self.report.read_text(encoding="utf-8")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(text, r"\A# GPU check: FAILED 9 of 11 steps: tests; training; .*; search; speed: tiny, bf16")
        for part in ("## FAILED: training\n\nexit code 7\n\n```\n$ ", "\nwhy\n```\n", "the first training failed"):
            self.assertIn(part, text)

    def test_a_step_over_its_limit_is_ended_with_its_children(self):
        self.script("built/app/attn", "#!/bin/sh\n[ $1 = --version ] || sleep 60 | sleep 60\n")
        done = self.check("--on-cpu", "--prebuilt", self.path / "built", "--models", "tiny", "--peers",
                          "--minutes", "0.22", "--python", self.script("python", PYTHON))
        text = self.report.read_text(encoding="utf-8")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(text, r"\| training \| FAILED \| \d\.\d \| 60 \| over its limit of \d s \|")
        self.assertIn("| search | FAILED | 0.0 | 60 | not run: no time left of 0.22 minutes |", text)

    def test_without_a_gpu_one_line_names_reason_and_remedy(self):
        self.one_line(self.check(CUDA_VISIBLE_DEVICES=""), "no NVIDIA GPU", "CUDA_VISIBLE_DEVICES", "--on-cpu")
        if Path("/dev/nvidia0").exists():
            return
        environment = {"PATH": "/nowhere", "CUDA_VISIBLE_DEVICES": "0"}
        self.one_line(self.check(**environment), "no NVIDIA GPU", "nvidia-smi is not installed", "--on-cpu")

    def test_a_build_for_the_cpu_is_found_before_anything_runs(self):
        self.script("bin/nvidia-smi", "#!/bin/sh\necho 'a GPU, 1.0, 80 GiB'\n")
        self.script("bin/ldd", "#!/bin/sh\necho 'libtorch_cpu.so => lib/libtorch_cpu.so'\n")
        environment = {"PATH": f"{self.path / 'bin'}:{os.environ['PATH']}", "CUDA_VISIBLE_DEVICES": "0"}
        done = self.check("--prebuilt", self.program.parents[1], **environment)
        self.one_line(done, "no CUDA", "app/attn", "for the CPU")


if __name__ == "__main__":
    GpuCheck.program = Path(sys.argv.pop(1)).resolve()
    unittest.main()
