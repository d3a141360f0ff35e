"""What is read is what runs: formulas are edited in a copy of the sources, and training, validation, scoring and search
must follow, without an option.

    python3 tests/tools/formulas_test.py path/to/attn

Builds the copy below the build folder of the program, as that is built. By default three edits in one build; with
ATTN_EDITS=all each of EDITS, with ATTN_EDITS=relu,norm these, in a build each.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess

from formula_edits import EDITS, MODELS, QUICK

import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/app"))
from program import ProgramTest, main, skip  # noqa: E402

KEPT = ("ATTN_TORCH_PREFIX", "ATTN_FETCH", "CMAKE_PREFIX_PATH", "ATTN_WERROR", "ATTN_UNITY", "ATTN_WITH_MPI", "nlohmann_json_DIR",
        "CMAKE_BUILD_TYPE", "CMAKE_CXX_COMPILER")


def cache_of(build):
    lines = (build / "CMakeCache.txt").read_text(encoding="utf8").splitlines()
    return dict(re.match(r"(\w+):\w+=(.*)", line).groups() for line in lines if re.match(r"\w+:\w+=", line))


class Copy:
    """A copy of the sources with its own build, kept between runs."""

    def __init__(self, build):
        # As deep as ./run's and with its .venv, since ccache hashes relative paths.
        self.folder, self.build = build / "edited", build / "edited/build/release"
        self.folder.mkdir(exist_ok=True)
        if (ROOT / ".venv").exists() and not (self.folder / ".venv").exists():
            (self.folder / ".venv").symlink_to(ROOT / ".venv")
        self.options = [f"-D{name}={value.replace(f'{ROOT}/.venv/', f'{self.folder}/.venv/')}"
                        for name, value in cache_of(build).items() if name in KEPT and value]
        fetched = (build / "_deps").glob("*-src")
        self.options += [f"-DFETCHCONTENT_SOURCE_DIR_{folder.name.removesuffix('-src').upper()}={folder}" for folder in fetched]

    def sync(self, edits):
        """The files of the working tree, edited; others than before are written, so that little is compiled again."""
        listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True)
        names = listed.stdout.splitlines() if listed.returncode == 0 else skip("not a clone: git lists no files")
        changed = {}
        for name, old, new in edits:
            text = changed.get(name) or (ROOT / name).read_text(encoding="utf8")
            if text.count(old) != 1:
                raise AssertionError(f"{name}: {old!r} is there {text.count(old)} times: adapt formula_edits.py")
            changed[name] = text.replace(old, new)
        former = {path for folder in ("kernels", "model", "train") for path in (self.folder / folder).rglob("*.*")}
        for path in former - {self.folder / name for name in names}:
            path.unlink()
        for name in names:
            if name.startswith(("results/", "docs/")) or not (ROOT / name).is_file():
                continue
            data = changed[name].encode() if name in changed else (ROOT / name).read_bytes()
            path = self.folder / name
            if not path.exists() or path.read_bytes() != data:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
                shutil.copymode(ROOT / name, path)

    def make(self, accept):
        renew = ["cmake", "-D", f"ROOT={self.folder}", "-D", "ACCEPT=ON", "-P", self.folder / "cmake/Formulas.cmake"]
        for command in ([renew] if accept else []) + [["cmake", "-S", self.folder, "-B", self.build, "-G", "Ninja", "-DATTN_TESTS=OFF", *self.options],
                        ["cmake", "--build", self.build, "--target", "attn"]]:
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise AssertionError(f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        return str(self.build / "app/attn")


class EditedFormulas(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        os.environ.pop("ATTN_KERNELS", None)  # strict in ./run test: an edited formula would be an error
        build = pathlib.Path(cls.program).parents[1]
        if not (build / "CMakeCache.txt").exists() or not shutil.which("ninja"):
            skip("the edited formulas need the build folder of the program, and ninja")
        cls.copy, cls.unedited = Copy(build), cls.program
        cls.attn("generate", "corpus", "--train", "300", "--valid", "20", "--test", "6")
        cls.groups = [[EDITS[name] for name in QUICK]]
        if chosen := os.environ.get("ATTN_EDITS", ""):
            cls.groups = [[EDITS[name]] for name in (EDITS if chosen == "all" else chosen.split(","))]
        for name in {edit.model for group in cls.groups for edit in group}:
            cls.write(f"{name}.json", {
                "data": {"train": "corpus/train", "valid": "corpus/valid", "source": "en", "target": "de",
                         "tokenizer": "words", "vocab_size": 300, "batch_tokens": 512, "cache": "cache"},
                "model": MODELS[name], "search": {"beam": 2, "alpha": 0, "extra_length": 5},
                "eval": [{"name": "valid", "kind": "loss", "every": 8}],
                "train": {"steps": 8, "schedule": "constant", "warmup": 2, "learning_rate": 0.003, "log_every": 1}})
            cls.attn("train", f"{name}.json", "--run", f"{name}.unedited", "--set", "train.steps=100")

    def training(self, name, kind, *options):
        """What a training logs: its losses and gradient norms, and the perplexities of validation."""
        run = f"{name}.{kind}"
        shutil.rmtree(self.path / run, ignore_errors=True)
        said = self.attn("train", f"{name}.json", "--run", run, *options).stderr
        records = [json.loads(line) for line in (self.path / run / "metrics.jsonl").read_text().splitlines()]
        train = [record for record in records if record["kind"] == "train"]
        return {"loss": [value for r in train for value in (r["loss"], r["gradient_norm"])],
                "validation": [r["ppl"] for r in records if r["kind"] == "eval"]}, said, run

    def scoring(self, run, *options):
        """log p of the test set and the n-best list of its translation."""
        text = (self.path / "corpus/test.en").read_text()
        scored = self.attn("logprob", run, "-s", "corpus/test.en", "-t", "corpus/test.de", *options)
        listed = self.attn("translate", run, "--nbest-list", *options, stdin=text)
        rows = [line.split(" ||| ") for line in listed.stdout.splitlines()]
        return {"logprob": [float(line.split()[0]) for line in scored.stdout.splitlines()],
                "translation": [float(row[2].removeprefix("logp= ")) for row in rows]}, listed.stderr

    def assert_close(self, a, b, what):
        self.assertEqual(len(a), len(b), what)
        for x, y in zip(a, b):
            self.assertLess(abs(x - y), 1e-4 * max(1, abs(x)), (what, a, b))

    def check(self, edit):
        """The edited program by itself is what it is without fast paths, and another than the unedited one."""
        name, off = edit.model, ("--set", "runtime.kernels=off")
        edited = self.copy.build / "app/attn"
        results = {}
        for kind, program, options in (("before", self.unedited, ()), ("edited", str(edited), ()), ("as_read", str(edited), off)):
            ProgramTest.program = program
            added = ("--set", edit.option) if edit.option and kind != "before" else ()
            trained, said, run = self.training(name, kind, *options, *added)
            # By one model, of the unedited program, unless that does not have the option.
            scored, warned = self.scoring(f"{name}.edited" if added else f"{name}.unedited", *options)
            results[kind] = {**trained, **scored}
            as_read = json.loads((self.path / run / "result.json").read_text()).get("as_read", [])
            if kind == "edited":
                self.assertEqual(set(as_read) >= set(edit.paths), True, (edit.name, as_read))
                for path in edit.paths:
                    self.assertIn(path, said)
                if edit.paths and "translation" in edit.follow:
                    self.assertIn("as read", warned)
                if edit.option:
                    self.assertIn(edit.option.split("=")[0] + " is computed as it is read", said)
            else:  # without kernels edits are recorded, too; packed search is not asked for
                edited_paths = set(edit.paths) - {"packed_search"} if kind == "as_read" else set()
                self.assertEqual(set(as_read) - {"packed_search"}, edited_paths, edit.name)
        for what in ("loss", "validation", "logprob", "translation"):
            self.assert_close(results["edited"][what], results["as_read"][what], (edit.name, what))
            differs = any(abs(x - y) > 1e-5 * max(1, abs(x))  # rounding is 1e-7
                          for x, y in zip(results["edited"][what], results["before"][what]))
            self.assertEqual(differs, what in edit.follow, (edit.name, what, results))

    def test_what_is_edited_runs(self):
        for group in self.groups:
            self.copy.sync([change for edit in group for change in edit.changes])
            self.copy.make(any(edit.option for edit in group))
            for edit in group:
                with self.subTest(edit.name):
                    self.check(edit)
        ProgramTest.program = self.unedited


if __name__ == "__main__":
    main()
