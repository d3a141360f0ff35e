"""tools/attn_torch has the program's probabilities for every kind of model, trains on, and saves what the program takes.

    python3 tests/tools/attn_torch_test.py path/to/attn

Needs torch, of this python or of .venv; skipped without.
"""
import contextlib
import io
import json
import os
import re
import shutil
import struct
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests/app")]
from program import ProgramTest, main, with_torch  # noqa: E402  # its folder must be on the path first
from random_models_test import experiment  # noqa: E402

CONFIG = {
    "data": {"train": "corpus/train", "valid": "corpus/valid", "source": "en", "target": "de", "tokenizer": "words",
             "vocab_size": 2000, "batch_tokens": 256, "cache": "cache"},
    "model": {"layers": 2, "d_model": 12, "d_ff": 20, "heads": 2, "d_k": 6, "d_v": 10, "dropout": 0.0},
    "train": {"steps": 1, "schedule": "inverse_sqrt", "learning_rate": 0.01, "warmup": 10},
    "eval": [{"name": "valid", "kind": "loss", "every": 0}],
}
PARSING = {"data": {**CONFIG["data"], "task": "parsing", "train": "corpus/train.ptb", "valid": "corpus/valid.ptb",
                    "tree_form": "xx", "shared_vocabulary": False, "source": None, "target": None}}
PARSERS = {
    "words": {"word_positions": True}, "learned words": {"word_positions": True, "position": "learned"},
    "halved words": {"word_positions": True, "position": "sinusoidal_halves"},
    "next words": {"deterministic_attention": True},
    "next words, pre-norm": {"deterministic_attention": True, "word_positions": True, "norm": "pre"},
}
ONLY_PARSERS = {("transformer", option, "true") for option in ("word_positions", "deterministic_attention")}
DILATED = {("transformer", f"{stack}_mixer.dilation", "2") for stack in ("encoder", "decoder")}


def choices(explained):
    """{(architecture, option, value)} of the words that options of models can be."""
    found = set()
    for line in explained.splitlines():
        name, _, kinds = line.partition(" = ")
        kinds = re.search(r"\(([^();]+ \| [^();]+)(.*)\)$", kinds)
        if name.startswith("model.") and kinds:
            named = re.search("architecture (.*)", kinds[2])
            for architecture in named[1].split(", ") if named else ("",):
                found |= {(architecture, name[6:], value) for value in kinds[1].split(" | ")}
    return found


def chosen(model):
    """The same of the options of one model."""
    common = ("architecture", "embedding_sharing")
    flat = {name: value for name, value in model.items() if not isinstance(value, dict)}
    flat |= {f"{name}.{option}": value for name, part in model.items() if isinstance(part, dict) for option, value in part.items()}
    return {("" if name in common else model["architecture"], name, value if isinstance(value, str) else json.dumps(value))
            for name, value in flat.items()}


def randomize(model):
    """Weights of which every one matters."""
    with torch.no_grad():
        for number, weights in enumerate(model.parameters()):
            weights.copy_(0.5 * torch.randn(weights.shape, generator=torch.Generator().manual_seed(number)))
    return model.eval()


def log_probabilities(model, source, target, expected, **more):
    with torch.no_grad():
        logits = model(source, target, **more)
    found = -F.cross_entropy(logits.transpose(1, 2), expected, reduction="none", ignore_index=PADDING)
    return [row[real].tolist() for row, real in zip(found, expected != PADDING)]


class AttnTorch(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        torch.set_num_threads(1)
        cls.attn("generate", "corpus", "--train", "300", "--valid", "20", "--test", "5")
        cls.write("base.json", CONFIG)
        cls.trained = cls.train("trained", {})
        cls.ids = read_vocabulary(cls.attn("vocab", str(cls.trained)).stdout)
        cls.pairs = batch(cls.numbers("corpus/valid.en"), cls.numbers("corpus/valid.de"), 1, 2)

    @classmethod
    def train(cls, run, change, steps=1):
        """Returns the checkpoint of a run."""
        cls.write("config.json", {"base": "base.json", **change})
        cls.log = cls.attn("train", "config.json", "--run", run).stderr
        return cls.path / run / f"checkpoints/step-{steps:08}"

    @classmethod
    def numbers(cls, file, ids=None):
        ids = ids or cls.ids
        return [[ids.get(word, 0) for word in line.split()] for line in (cls.path / file).read_text().splitlines()]

    def described(self, name, model):
        """A directory with the config of a model and the vocabulary of the trained one."""
        (self.path / name).mkdir()
        self.write("config.json", {"base": "base.json", "model": model})
        self.write(f"{name}/config.json", self.attn("config", "config.json").stdout)
        shutil.copy(self.trained / "tokenizer.model", self.path / name)
        return self.path / name

    def agrees(self, model, checkpoint, **more):
        """With logprob, token by token."""
        lines = self.attn("logprob", str(checkpoint), "-s", "corpus/valid.en", "-t", "corpus/valid.de", "--json").stdout
        found = log_probabilities(model, *self.pairs, **more)
        for line, row in zip(lines.splitlines(), found, strict=True):
            expected = json.loads(line)["token_log_probs"]
            self.assertEqual(len(row), len(expected))
            self.assertTrue(all(abs(a - b) < 1e-4 for a, b in zip(row, expected)), (row, expected))  # false for NaN
        self.assertGreater(max(map(len, found)) - min(map(len, found)), 3)  # else padding is not tested

    def randomized(self, checkpoint):
        """A trained model with random weights, and the checkpoint of it."""
        model, name = randomize(load(checkpoint)), checkpoint.parents[1] / "random"
        save(model, name, like=checkpoint)
        return model, name

    def test_every_option_has_the_programs_probabilities(self):
        sizes = dict.fromkeys(("shared", "source", "target", "projection"), len(self.ids))
        missing = (choices(self.attn("config", "--explain").stdout) | DILATED) - ONLY_PARSERS
        self.assertGreater(len(missing), 60)
        for seed in range(1, 1000):
            options = experiment(seed)["model"]
            if seed > 8 and not chosen(options) & missing:
                continue
            with self.subTest(options):
                described = self.described(f"random{seed}", options)
                resolved = json.loads((described / "config.json").read_text())["model"]
                model = randomize(make_model(resolved, sizes))
                save(model, described / "checkpoint", like=described)
                self.agrees(model, described / "checkpoint")
                missing -= chosen(resolved)
        self.assertEqual(missing, set())

    def test_parsers_have_the_programs_likelihood(self):
        ids = None
        for name, change in PARSERS.items():
            with self.subTest(name):
                model = {**CONFIG["model"], "embedding_sharing": "decoder", **change}
                model, checkpoint = self.randomized(self.train(name, {**PARSING, "model": model}))
                words, symbols = (next(file for file in sorted((self.path / "cache").glob(f"*.{side}"))
                                       if len(file.read_text().splitlines()) == 20) for side in ("words", "symbols"))
                ids = ids or [read_vocabulary(self.attn("vocab", str(checkpoint), *side).stdout) for side in ((), ("--target",))]
                rows = batch(self.numbers(words, ids[0]), self.numbers(symbols, ids[1]), 1, 2)
                found = log_probabilities(model, *rows, words=(rows[1] == ids[1]["XX"]).cumsum(1))
                evaluated = json.loads(self.attn("eval", str(checkpoint), "--json").stdout)["valid"]
                self.assertAlmostEqual(-sum(map(sum, found)) / sum(map(len, found)), evaluated["nll"], delta=1e-4)
                self.assertRaisesRegex(ValueError, "words", model, *rows[:2])

    def test_source_features(self):
        data = {**CONFIG["data"], "tag": "a", "word_pieces": 100}
        model, checkpoint = self.randomized(self.train("features", {"data": data}))
        file = str(checkpoint / "pieces.model")
        pieces = read_vocabulary(self.attn("vocab", file).stdout)
        names = (checkpoint / "features.txt").read_text().split("\n")
        tag = len(pieces) + names.index("tag\ta")  # there are no classes before the pieces
        rows = [line.split() for line in (self.path / "corpus/valid.en").read_text().splitlines()]
        cut = iter(self.attn("vocab", file, "--encode", stdin="".join(f"{word}\n" for row in rows for word in row)).stdout.splitlines())
        features = [[[pieces[piece] for piece in next(cut).split()] + [tag] for _ in row] + [[tag]] for row in rows]
        padded = torch.full((*self.pairs[0].shape, 30), PADDING)
        for b, row in enumerate(features):
            for s, of_word in enumerate(row):
                padded[b, s, :len(of_word)] = torch.tensor(of_word)
        self.agrees(model, checkpoint, features=padded)
        self.assertRaisesRegex(ValueError, "features", model, *self.pairs[:2])

    def test_what_was_trained_on_is_taken_back(self):
        model = {**CONFIG["model"], "dropout": 0.1, "attention_dropout": 0.1, "activation_dropout": 0.1}
        checkpoint = self.train("first", {"model": model})
        model = load(checkpoint).train()
        torch.manual_seed(1)
        self.assertFalse(torch.equal(*(model(*self.pairs[:2]) for _ in range(2))))  # dropout
        before = -sum(map(sum, log_probabilities(model.eval(), *self.pairs)))
        logits = model.train()(*self.pairs[:2]).transpose(1, 2)
        F.cross_entropy(logits, self.pairs[2], ignore_index=PADDING).backward()
        torch.optim.SGD(model.parameters(), lr=0.1).step()
        self.assertLess(-sum(map(sum, log_probabilities(model.eval(), *self.pairs))), before)
        save(model, self.path / "stepped", like=checkpoint)
        self.agrees(model, "stepped")
        # An update of almost nothing.
        again = self.train("again", {"train": {**CONFIG["train"], "init_from": "stepped", "learning_rate": 1e-9}})
        parameters = len(list(model.parameters()))
        self.assertIn(f"loaded {parameters} of {parameters} parameters", self.log)
        self.agrees(model, again)
        self.assertRaises(FileExistsError, save, model, self.path / "stepped", like=checkpoint)

    def test_the_lines_of_the_python_page(self):
        page = (ROOT / "docs/howto/python.md").read_text(encoding="utf8")
        blocks = [block for block in re.findall("```python\n(.*?)```", page, re.S) if "sentencepiece" not in block]
        self.assertEqual(len(blocks), 4)
        shutil.copytree(self.trained, self.path / "runs/tiny/averaged")
        shutil.copy(self.path / "trained/metrics.jsonl", self.path / "runs/tiny")
        text, names = re.sub('"(runs/tiny|tuned)', f'"{self.path}/\\1', "\n".join(blocks)), {}
        with contextlib.redirect_stdout(io.StringIO()):
            exec(text, names)
        self.agrees(load(self.path / "tuned"), "tuned")
        self.assertEqual(names["weights"]["decoder.layers.0.cross_attention.weights_dropout"].shape, (2, 2, 3, 4))
        self.assertEqual(len(names["curve"]), 1)

    def test_a_checkpoint_names_the_version(self):
        data = (self.trained / "model.safetensors").read_bytes()
        metadata = json.loads(data[8:8 + struct.unpack("<Q", data[:8])[0]])["__metadata__"]
        self.assertEqual(metadata["attn"], self.attn("--version").stdout.split()[1])

    def test_a_run_of_an_edited_formula_is_rejected(self):
        checkpoint = self.train("edited", {})
        facts = json.loads((self.path / "edited/run.json").read_text())
        self.write("edited/run.json", {**facts, "as_read": ["norm"]})
        self.assertRaisesRegex(ValueError, "run.json: ran as read: norm", load, checkpoint)

    def test_files_that_are_no_weights_are_rejected(self):
        file = self.path / "bad.safetensors"
        entry = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
        headers = [[], {"a": 1}, *({"a": {**entry, **change}} for change in (
            {"dtype": "F64"}, {"shape": [3]}, {"shape": [-2]}, {"shape": ["2"]}, {"shape": [1 << 62, 4]},
            {"data_offsets": [0, 1 << 40]}, {"data_offsets": [-8, 0]}, {"data_offsets": [8, 16]}, {"data_offsets": 8}))]
        for header in headers:
            with self.subTest(header):
                text = json.dumps(header).encode()
                file.write_bytes(struct.pack("<Q", len(text)) + text + b"\0" * 8)
                self.assertRaisesRegex(ValueError, "bad.safetensors", read_weights, file)
        for content in (b"", b"\0" * 7, struct.pack("<Q", 1 << 63), struct.pack("<Q", 4) + b"nope"):
            file.write_bytes(content)
            self.assertRaisesRegex(ValueError, "bad.safetensors", read_weights, file)
        self.assertRaisesRegex(ValueError, "no model.safetensors; give", load, os.fspath(self.path / "trained"))


if __name__ == "__main__":
    with_torch()
    import torch
    from torch.nn import functional as F
    from attn_torch import PADDING, batch, load, make_model, read_vocabulary, read_weights, save
    main()
