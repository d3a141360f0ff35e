"""What the tests of the real binary share: a temporary directory, the program run in it, and its one-line errors."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest


LOADS = r"<script|<link|src=|url\((?!#)"  # what a page that loads nothing does not have
ROOT = pathlib.Path(__file__).resolve().parents[2]


def small_config(every, **train):
    """Config of a small model of the generated corpus, validated after each `every` updates."""
    return {
        "seed": 3,
        "data": {"train": "corpus/train", "valid": "corpus/valid", "source": "en", "target": "de",
                 "vocab_size": 400, "batch_tokens": 512},
        "model": {"layers": 1, "d_model": 32, "d_ff": 64, "heads": 2},
        "train": {"schedule": "inverse_sqrt", "learning_rate": 0.005, "warmup": 20, **train},
        "eval": [{"name": "valid", "kind": "loss", "every": every},
                 {"name": "test", "kind": "bleu", "data": "corpus/test", "tokenize": "none", "every": 0, "search": {"beam": 2}}]}


def note_skipped(why):
    print(f"skipped: {why}")
    if reasons := os.environ.get("ATTN_SKIPPED"):  # collected by `./run test`
        with open(reasons, "a", encoding="utf-8") as file:
            file.write(f"{why}\n")


def skip(why):
    note_skipped(why)
    sys.exit(77)  # CTest's SKIP_RETURN_CODE


def with_torch():
    """Runs the calling script by a python that has torch: this one or that of .venv; else skips it."""
    try:
        import torch  # noqa: F401
    except ImportError:
        other = ROOT / ".venv/bin/python"
        if not other.exists() or os.path.samefile(sys.prefix, ROOT / ".venv"):
            skip("no python here imports torch")
        os.execv(other, [other, *sys.argv])


def draw_page(directory):
    """The page of a report by tools/report; None, with a message, without the packages that it needs."""
    for python in (ROOT / ".venv/bin/python", sys.executable):
        if os.path.exists(python) and not subprocess.run([python, "-c", "import matplotlib, numpy, scipy"], capture_output=True).returncode:
            subprocess.run([python, ROOT / "tools/report", directory], check=True, stderr=subprocess.DEVNULL)
            return (directory / "report.html").read_text(encoding="utf8")
    note_skipped("the page of reports: no NumPy, SciPy and matplotlib here (./run report installs them)")


class ProgramTest(unittest.TestCase):
    program = ""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="attn-test-")
        cls.path = pathlib.Path(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    @classmethod
    def write(cls, name, value):
        (cls.path / name).write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf8")

    @classmethod
    def start(cls, *arguments, threads=1, **options):
        return subprocess.Popen([cls.program, "--threads", str(threads), *arguments], cwd=cls.path, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    @classmethod
    def attn(cls, *arguments, code=0, stdin="", threads=1, timeout=300, **options):
        done = subprocess.run([cls.program, "--threads", str(threads), *arguments], cwd=cls.path, input=stdin,
                              capture_output=True, text=True, timeout=timeout, **options)
        if done.returncode != code:
            raise AssertionError(f"attn {' '.join(arguments)}: exit {done.returncode}, wanted {code}\n"
                                 f"{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        return done

    def wait_for(self, what, process, pattern):
        """Until a file is there that matches."""
        self.addCleanup(process.kill)
        end = time.monotonic() + 120
        while not list(self.path.glob(pattern)):
            self.assertIsNone(process.poll(), f"it ended before {what}")
            self.assertLess(time.monotonic(), end, f"no {pattern}")
            time.sleep(0.002)

    def end(self, process, number=signal.SIGTERM, seconds=60):
        """Ends a command by a signal; returns its messages."""
        begin = time.monotonic()
        process.send_signal(number)
        out, error = process.communicate(timeout=60)
        self.assertLess(time.monotonic() - begin, seconds, error)
        self.assertEqual((process.returncode, out), (128 + number, ""), error)
        return error

    def check_page(self, directory, parts=(), figures=()):
        page = draw_page(self.path / directory)
        if page is None:
            return
        self.assertEqual(re.findall(LOADS, page), [])
        self.assertEqual([part for part in parts if part not in page], [])
        for name in figures:
            self.assertGreater((self.path / directory / "figures" / name).stat().st_size, 1000)

    def one_line(self, *arguments, code, names, **options):
        """The command fails with one line on stderr that holds all of `names`."""
        errors = [line for line in self.attn(*arguments, code=code, **options).stderr.splitlines() if line.startswith("attn: ")]
        self.assertEqual(len(errors), 1, errors)
        for name in names:
            self.assertIn(name, errors[0])


def main():
    """Runs the calling script's tests on the program that its first argument names."""
    ProgramTest.program = os.path.abspath(sys.argv.pop(1))
    unittest.main()
