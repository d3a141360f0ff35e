"""tools/gpu_check: its procedure on the CPU, a second call, reports of failures, and its one line without a GPU.

    python3 tests/tools/gpu_check_test.py path/to/attn

It compares with PyTorch where a python with torch is found (this one, or .venv), else with none.
"""
import contextlib
import io
import json
import os
import runpy
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Stand-ins for a program that can only be timed, and for a python whose peer has smaller batches and ends in round 2.
ATTN = """#!/bin/sh
case "$*" in
  --version) ;;
  *"bench step"*--json*) echo '{"tokens_per_update": 5, "tokens_per_second": 8, "memory": 1}' ;;
  *tiny.json*|*base.json*) echo '{"train": {"accumulate": 1}}' ;;
  *) echo why >&2; exit 7 ;;
esac
"""
PYTHON = """#!/bin/sh
case "$*" in *pytorch_step.py*) ;; *) echo '{"version": "9", "cuda": null, "folder": "torch"}'; exit ;; esac
echo '{}'
read line
echo '{"tokens_per_batch": 4, "tokens_per_second": 4, "memory": 1}'
case "$*" in *--ragged*) echo bad >&2; exit 1 ;; esac
read line
echo '{"tokens_per_batch": 4, "tokens_per_second": 2, "memory": 1}'
"""
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools"))
from gpu.machine import python_with_torch  # noqa: E402  # its folder must be on the path first
from gpu.report import BEST, read_steps, speeds  # noqa: E402


def recompute(root):
    """What tools/recompute prints of the measurements in the folder's results/gpu."""
    script = runpy.run_path(str(ROOT / "tools/recompute"))
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        script["check_gpu"](script["Pages"](root, False))
    return printed.getvalue()


class GpuCheck(unittest.TestCase):
    program = ""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="attn-test-")
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.folder = self.path / "results/gpu/card"

    def script(self, name, text):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def check(self, *arguments, **environment):
        return subprocess.run([sys.executable, ROOT / "tools/gpu_check", *arguments], cwd=self.path, text=True,
                              env=os.environ | environment, timeout=300, capture_output=True)

    def on_cpu(self, build, *more):
        return self.check("--on-cpu", "--prebuilt", build, "--folder", self.folder, "--models", "tiny", *more)

    def one_line(self, done, *words):
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def test_the_procedure_on_the_cpu_passes_once_and_its_page_is_recomputed(self):
        self.assertRegex(recompute(self.path), r"\Anone +results/gpu")
        done = self.on_cpu(self.program.parents[1])
        log = self.folder / "log.txt"
        self.assertEqual(done.returncode, 0, done.stderr + (log.read_text() if log.exists() else ""))
        self.assertIn("PASSED all 5 steps (on the CPU", done.stdout)
        steps = read_steps(self.folder)
        starts = steps["training"]["starts"]
        self.assertEqual(list(starts), ["first", "second", "resumed"])
        self.assertEqual(len({start["sha256"] for start in starts.values()}), 1)
        rounds = steps["speed-tiny"]["rounds"]
        peers = ["eager", "ragged, on a CPU"] if python_with_torch(None)[0] else []
        self.assertEqual([(r["round"], r["system"]) for r in rounds],
                         [(number, name) for number in (0, 1) for name in ("attn", "attn", *peers)])
        rate, ratio, _ = speeds(steps)["tiny", "attn", "fp32"]
        self.assertAlmostEqual(rate, sum(r["tokens_per_second"] for r in rounds if r["precision"] == "fp32") / 2, delta=1)
        self.assertIn(f"| tiny: attn, fp32 | {rate:,.0f} | {ratio:.2f} × |", (self.folder / "README.md").read_text())
        self.assertRegex(recompute(self.path), r"\Aequal +results/gpu/card/README.md")
        self.assertEqual(self.on_cpu(self.program.parents[1]).stderr.count(" in an earlier call"), 4)
        self.assertRegex("\n".join(steps["trace-tiny"]["trace"]), r"(?i)softmax|attention|linear|mm")  # by operator
        rounds[0]["tokens_per_second"] *= 3
        (self.folder / "speed-tiny.json").write_text(json.dumps(steps["speed-tiny"]))
        self.assertRegex(recompute(self.path), r"\Adiffers +results/gpu/card/README.md")

    def test_a_step_that_fails_is_reported_and_repeated_and_the_next_one_starts(self):
        self.script("built/app/attn", ATTN)
        self.script("python", PYTHON)
        built = self.path / "built", "--python", self.path / "python"
        done = self.on_cpu(*built)
        self.assertEqual(done.returncode, 1)
        self.assertIn("FAILED 4 of 5 steps: tests; training; trace-tiny; speed-tiny", done.stdout)
        steps = read_steps(self.folder)
        self.assertEqual((steps["training"]["detail"], steps["speed-tiny"]["detail"]), ("exit code 7", "ragged, on a CPU: bad"))
        self.assertEqual(speeds(steps), {("tiny", "attn", "bf16"): (8, 1, 1), ("tiny", "attn", "fp32"): (8, 1, 1),
                                         ("tiny", "eager", "bf16"): (3, 3, 1), ("tiny", "ragged, on a CPU", "bf16"): (4, 2, 1)})
        self.assertIn(f"tiny: ragged, on a CPU ({BEST}), bf16 | 4 | 2.00 × |", (self.folder / "README.md").read_text())
        self.assertRegex((self.folder / "log.txt").read_text(), r"== training: exit code 7\n\$ .*\nwhy\n")
        self.script("python", PYTHON.replace("exit 1", ""))
        self.assertIn("speed-tiny: FAILED (0 s) unequal batches: 4.0 to 5.0", self.on_cpu(*built).stderr)
        self.script("built/app/attn", "#!/bin/sh\necho another program\n")
        self.one_line(self.on_cpu(*built), "program", "not another program", "another --folder")
        self.assertEqual(read_steps(self.folder)["machine"]["facts"]["program"], "")

    def test_each_of_the_own_kernels_is_measured_alone(self):
        self.script("built/app/attn", ATTN)
        done = self.on_cpu(self.path / "built", "--python", "false", "--models", "base", "--parts")
        self.assertEqual(done.returncode, 0, done.stderr)
        rounds = read_steps(self.folder)["parts-base"]["rounds"]
        self.assertEqual([r["system"].removeprefix("attn, ") for r in rounds[:8]],
                         ["attn", "dropout", "linear", "norm", "loss", "embedding", "own kernels",
                          "own kernels, bf16 residual stream"])
        self.assertIn("| parts-base: attn, linear, bf16 | 8 | 1.00 × |", (self.folder / "README.md").read_text())

    def test_a_step_over_its_limit_is_ended_with_its_children(self):
        self.script("built/app/attn", "#!/bin/sh\n[ $1 = --version ] || sleep 60 | sleep 60\n")
        done = self.on_cpu(self.path / "built", "--minutes", "0.5", "--python", "false")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"training: FAILED \(\d+ s\) over its limit of \d+ s")
        self.assertRegex(done.stderr, r"speed-tiny: FAILED \(0 s\) not run: no time left of 0.5 minutes")

    def test_without_a_gpu_one_line_names_reason_and_remedy(self):
        self.one_line(self.check(CUDA_VISIBLE_DEVICES=""), "no NVIDIA GPU", "CUDA_VISIBLE_DEVICES", "--on-cpu")
        if Path("/dev/nvidia0").exists():
            return
        self.one_line(self.check(PATH="/nowhere", CUDA_VISIBLE_DEVICES="0"), "no NVIDIA GPU", "is not installed", "--on-cpu")
        self.assertEqual(list(self.path.iterdir()), [])

    def test_a_build_for_the_cpu_is_found_before_anything_runs(self):
        self.script("bin/nvidia-smi", "#!/bin/sh\necho 'a GPU, 1.0, 80 GiB'\n")
        self.script("bin/ldd", "#!/bin/sh\necho 'libtorch_cpu.so => lib/libtorch_cpu.so'\n")
        done = self.check("--prebuilt", self.program.parents[1], PATH=f"{self.path / 'bin'}:{os.environ['PATH']}", CUDA_VISIBLE_DEVICES="0")
        self.one_line(done, "no CUDA", "app/attn", "for the CPU")


if __name__ == "__main__":
    GpuCheck.program = Path(sys.argv.pop(1)).resolve()
    unittest.main()
