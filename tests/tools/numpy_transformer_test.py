#!/usr/bin/env python3
"""A checkpoint computed with in NumPy, from its tensor names alone, gives the program's probabilities.

    python3 tests/tools/numpy_transformer_test.py path/to/attn

What docs/reference/checkpoint.md says of names, head layout, ε, special tokens and positions is what
tools/numpy_transformer.py computes. Needs numpy; skipped without.
"""
import importlib.util
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests/app")]
from program import ProgramTest, main, skip  # noqa: E402  # its folder must be on the path first

CONFIG = {
    "data": {"train": "corpus/train", "valid": "corpus/valid", "source": "en", "target": "de", "tokenizer": "words",
             "vocab_size": 2000, "batch_tokens": 256},
    "model": {"layers": 2, "d_model": 32, "d_ff": 48, "heads": 2, "d_k": 12, "d_v": 20, "dropout": 0.0},
    "train": {"steps": 30, "schedule": "inverse_sqrt", "learning_rate": 0.01, "warmup": 10, "label_smoothing": 0.0},
    "eval": [{"name": "valid", "kind": "loss", "every": 0}],
}
VARIANTS = {
    "halves": {"position": "sinusoidal_halves", "activation": "gelu"},
    "learned": {"position": "learned", "norm": "pre", "embedding_sharing": "decoder"},
    "rotary": {"position": "rotary", "norm": "pre", "norm_kind": "rms", "activation": "silu"},
    "today": {"position": "rotary", "norm": "pre", "norm_kind": "rms", "activation": "swiglu", "qk_norm": "rms",
              "heads": 4, "kv_heads": 2, "bias": False, "feed_forward_bias": False},
    "biased": {"position": "alibi", "norm": "deep", "activation": "geglu", "kv_heads": 1},
    "relative": {"position": "relative", "norm_kind": "scale", "qk_norm": "l2"},
    "t5": {"position": "t5_bias", "mup_base": 16},
    "none": {"position": "none", "norm_kind": "rms", "bias": False, "embedding_sharing": "none"},
}


class NumpyTransformer(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.attn("generate", "corpus", "--train", "1500", "--valid", "20", "--test", "20")
        cls.write("paper.json", CONFIG)

    def train(self, name, **train):
        self.attn("train", f"{name}.json", "--run", name, *(f"--set=train.{k}={v}" for k, v in train.items()))
        steps = train.get("steps", CONFIG["train"]["steps"])
        self.model = load_checkpoint(self.path / f"{name}/checkpoints/step-{steps:08}")
        self.ids = read_vocabulary(self.attn("vocab", name).stdout)

    def lines(self, file):
        return [[self.ids.get(word, self.ids["<unk>"]) for word in line.split(" ")]
                for line in (self.path / file).read_text(encoding="utf8").splitlines()]

    def log_probabilities(self, source, target):
        return self.model.log_probabilities(source, target, self.ids["<s>"], self.ids["</s>"])

    def likelihood_is_the_programs(self, run):
        """Teacher forcing: the negative log-likelihood a token of the validation text."""
        probabilities = [self.log_probabilities(source, target)
                         for source, target in zip(self.lines("corpus/valid.en"), self.lines("corpus/valid.de"))]
        tokens = sum(len(row) for row in probabilities)
        evaluated = json.loads(self.attn("eval", run, "--json").stdout)["valid"]
        self.assertEqual(evaluated["left_out"], 0)
        self.assertAlmostEqual(-sum(row.sum() for row in probabilities) / tokens, evaluated["nll"], delta=1e-4)

    def test_the_papers_form_agrees_in_likelihood_and_in_search(self):
        self.train("paper", steps=300, warmup=50)
        self.likelihood_is_the_programs("paper")
        source = (self.path / "corpus/test.en").read_text(encoding="utf8")
        scored = self.attn("translate", "paper", "--set", "nbest=4", "--scores", stdin=source).stdout.splitlines()
        compared = 0
        for row in scored:
            number, _, log_probability, text = row.split("\t")
            words = text.split(" ") if text else []
            # Left out: places of the list that search could not fill, unknown words, printed as another piece, and
            # translations that were truncated at the length limit, which have no EOS.
            limit = len(self.lines("corpus/test.en")[int(number) - 1]) + 50
            if log_probability == "-inf" or not set(words) <= set(self.ids) or len(words) >= limit:
                continue
            expected = self.log_probabilities(self.lines("corpus/test.en")[int(number) - 1], [self.ids[w] for w in words])
            self.assertAlmostEqual(expected.sum(), float(log_probability), delta=1e-4)
            compared += 1
        self.assertGreater(compared, 60)
        self.assertGreater(len({row.split("\t")[3] for row in scored}), 40)

    def test_its_other_forms_agree_in_likelihood(self):
        for name, model in VARIANTS.items():
            with self.subTest(name):
                self.write(f"{name}.json", {"base": "paper.json", "model": model})
                self.train(name)
                self.likelihood_is_the_programs(name)

    def test_a_run_of_an_edited_formula_is_rejected(self):
        self.write("edited.json", {"base": "paper.json"})
        self.train("edited")
        facts = json.loads((self.path / "edited/run.json").read_text())
        self.write("edited/run.json", {**facts, "as_read": ["norm"]})
        with self.assertRaisesRegex(SystemExit, "run.json: ran as read: norm"):
            load_checkpoint(self.path / "edited/checkpoints/step-00000030")

    def test_the_lines_of_the_python_page_rebuild_an_encoder_layer(self):
        if not all(importlib.util.find_spec(name) for name in ("torch", "safetensors")):
            self.skipTest("no torch or safetensors")
        self.write("square.json", {"base": "paper.json", "model": {"d_k": "auto", "d_v": "auto"}})
        self.train("square")
        page = (ROOT / "docs/howto/python.md").read_text(encoding="utf8")
        lines = next(block for block in re.findall("```python\n(.*?)```", page, re.S) if "TransformerEncoderLayer" in block)
        self.assertIn('"runs/tiny/averaged"', lines)
        names = {}
        exec(lines.replace("runs/tiny/averaged", str(self.path / "square/checkpoints/step-00000030")), names)
        self.assertEqual(tuple(names["rows"].shape), (1, 7, 32))
        rows = names["torch"].randn(7, 32, generator=names["torch"].Generator().manual_seed(1))
        self.model.config["layers"] = 1
        expected = self.model.stack("encoder", rows.double().numpy())
        actual = names["layer"](rows.unsqueeze(0))[0].detach().numpy()
        self.assertLess(abs(actual - expected).max(), 1e-5)


if __name__ == "__main__":
    try:
        from numpy_transformer import load_checkpoint, read_vocabulary
    except ImportError as error:
        skip(f"no numpy: {error}")
    main()
