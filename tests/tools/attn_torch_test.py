#!/usr/bin/env python3
"""tools/attn_torch has the program's probabilities for every kind of model, trains on, and saves what the program takes.

    python3 tests/tools/attn_torch_test.py path/to/attn

Weights are random, so that every tensor matters, and written from here; those that attn wrote are read, too. Needs torch, of this python or of .venv;
skipped without.
"""
import json
import re
import shutil
import struct
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests/app")]
from program import ProgramTest, main, with_torch  # noqa: E402  # its folder must be on the path first

CONFIG = {
    "data": {"train": "corpus/train", "valid": "corpus/valid", "source": "en", "target": "de", "tokenizer": "words",
             "vocab_size": 2000, "batch_tokens": 256, "cache": "cache"},
    "train": {"steps": 1, "schedule": "inverse_sqrt", "learning_rate": 0.01, "warmup": 10},
    "eval": [{"name": "valid", "kind": "loss", "every": 0}],
}
SMALL = {"layers": 2, "d_model": 12, "d_ff": 20, "heads": 2, "d_k": 6, "d_v": 10}


def both(**mixer):
    return {"encoder_mixer": mixer, "decoder_mixer": mixer}


WINDOW = {"kind": "restricted_attention", "window": 2}
TRANSFORMERS = {
    "paper": {}, "pre-norm": {"norm": "pre"}, "learned": {"position": "learned"},
    "halves": {"position": "sinusoidal_halves"}, "no positions": {"position": "none"}, "rms": {"norm_kind": "rms"},
    "rms pre-norm": {"norm_kind": "rms", "norm": "pre"}, "rotary": {"position": "rotary"}, "alibi": {"position": "alibi"},
    "alibi, six heads": {"position": "alibi", "heads": 6, "kv_heads": 2}, "t5": {"position": "t5_bias"},
    "relative": {"position": "relative"}, "scale": {"norm_kind": "scale", "norm": "pre"},
    "deep": {"norm": "deep", "layers": 3}, "l2": {"qk_norm": "l2"}, "rms qk": {"qk_norm": "rms", "position": "rotary"},
    "relative, l2": {"position": "relative", "qk_norm": "l2", "norm_kind": "scale"}, "multi-query": {"kv_heads": 1},
    "grouped": {"heads": 4, "kv_heads": 2, "d_k": 16, "d_v": 18, "position": "relative"},
    "swiglu": {"activation": "swiglu"}, "geglu": {"activation": "geglu", "feed_forward_bias": False},
    "today": {"norm": "pre", "norm_kind": "rms", "position": "rotary", "activation": "swiglu", "kv_heads": 1,
              "bias": False, "feed_forward_bias": False},
    "depth": {"initialization": "depth"}, "µP": {"mup_base": 6}, "µP, l2": {"mup_base": 6, "qk_norm": "l2"},
    "µP, rms qk": {"mup_base": 6, "qk_norm": "rms", "position": "relative"}, "gelu": {"activation": "gelu", "bias": False},
    "silu": {"activation": "silu"}, "two matrices": {"embedding_sharing": "decoder"},
    "three matrices": {"embedding_sharing": "none"}, "windows": both(**WINDOW),
    "wide window": both(kind="restricted_attention", window=50),
    "two windows": {"decoder_mixer": WINDOW, "encoder_mixer": {"kind": "restricted_attention", "window": 3}},
    "window, rotary": {"decoder_mixer": WINDOW, "position": "rotary"},
    "window, alibi": {"decoder_mixer": WINDOW, "position": "alibi"},
    "windows, relative": {**both(**WINDOW), "position": "relative"}, "convolution": both(kind="convolution"),
    "gated": both(kind="convolution", gated=True), "dilated": both(kind="convolution", dilation=2),
    "even kernel": {"decoder_mixer": {"kind": "convolution", "kernel": 2}}, "lstm": both(kind="recurrence"),
    "gru": both(kind="recurrence", cell="gru"),
    "one direction": {"encoder_mixer": {"kind": "recurrence", "bidirectional": False}},
    "recurrent encoder, t5": {"encoder_mixer": {"kind": "recurrence"}, "position": "t5_bias"},
    "recurrent decoder, t5": {"decoder_mixer": {"kind": "recurrence"}, "position": "t5_bias"}, "none": both(kind="none"),
    "mixed pre-norm": {"norm": "pre", "encoder_mixer": {"kind": "convolution"}, "decoder_mixer": {"kind": "recurrence"}},
}
PARSERS = {
    "words": {"word_positions": True}, "learned words": {"word_positions": True, "position": "learned"},
    "halved words": {"word_positions": True, "position": "sinusoidal_halves"},
    "next words": {"deterministic_attention": True},
    "next words, pre-norm": {"deterministic_attention": True, "word_positions": True, "norm": "pre"},
}
RECURRENT = {
    "lstm": {}, "gru": {"cell": "gru"}, "dot": {"attention": "dot"}, "deep": {"encoder_layers": 2, "decoder_layers": 3},
    "one layer": {"decoder_layers": 1}, "two matrices": {"embedding_sharing": "decoder"},
    "gnmt": {"encoder_layers": 4, "decoder_layers": 4, "residual": True, "encoder_directions": "bottom"},
    "residuals": {"encoder_layers": 3, "cell": "gru", "residual": True}, "forward": {"encoder_directions": "forward"},
    "fed": {"input_feeding": True}, "luong": {"decoder": "luong", "embedding_sharing": "none"},
    "luong, fed": {"decoder": "luong", "input_feeding": True, "attention": "dot", "encoder_directions": "forward"},
    "luong, deep": {"decoder": "luong", "input_feeding": True, "residual": True, "cell": "gru", "decoder_layers": 3},
}
CONVOLUTIONAL = {
    "plain": {}, "two matrices": {"embedding_sharing": "decoder"}, "three matrices": {"embedding_sharing": "none"},
    "several": {"encoder": [{"layers": 2, "width": 10, "kernel": 3}, {"layers": 1, "width": 16, "kernel": 5}],
                "decoder": [{"layers": 1, "width": 10, "kernel": 4}, {"layers": 2, "width": 6, "kernel": 1}]},
}
BYTENET = {"plain": {}, "wide": {"kernel": 5, "length_factor": 1.0, "embedding_sharing": "none"}}
ARCHITECTURES = {
    "transformer": (SMALL, TRANSFORMERS),
    "recurrent": ({"d_model": 12, "hidden": 10, "d_attention": 14}, RECURRENT),
    "convolutional": ({"d_model": 12, "max_positions": 1024, "encoder": [{"layers": 2, "width": 10, "kernel": 3}],
                       "decoder": [{"layers": 2, "width": 14, "kernel": 3}]}, CONVOLUTIONAL),
    "bytenet": ({"d_model": 12, "hidden": 6, "repeats": 2, "dilations": [1, 2]}, BYTENET),
}


def randomize(model):
    with torch.no_grad():
        for number, weights in enumerate(model.parameters()):
            weights.copy_(0.5 * torch.randn(weights.shape, generator=torch.Generator().manual_seed(number)))
    return model


class AttnTorch(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        torch.set_num_threads(1)
        cls.attn("generate", "corpus", "--train", "300", "--valid", "20", "--test", "20")
        cls.write("base.json", CONFIG)
        cls.trained = cls.train("trained", SMALL)
        cls.ids = read_vocabulary(cls.attn("vocab", str(cls.trained)).stdout)
        cls.pairs = batch(cls.numbers("corpus/valid.en"), cls.numbers("corpus/valid.de"), cls.ids["<s>"], cls.ids["</s>"])

    @classmethod
    def train(cls, run, model, data=None, **train):
        """Returns the checkpoint of a run with this model."""
        cls.write("config.json", {"base": "base.json", "model": model, "data": data or {}, "train": train})
        cls.log = cls.attn("train", "config.json", "--run", run).stderr
        return cls.path / run / f"checkpoints/step-{train.get('steps', 1):08}"

    @classmethod
    def numbers(cls, file, ids=None):
        ids = ids or cls.ids
        return [[ids.get(word, 0) for word in line.split()] for line in (cls.path / file).read_text().splitlines()]

    def written(self, name, model):
        """Random weights of such a model as a checkpoint with the vocabularies of the trained one."""
        self.write("config.json", {"base": "base.json", "model": model})
        folder = self.path / name
        folder.mkdir()
        self.write(f"{name}/config.json", self.attn("config", "config.json").stdout)
        shutil.copy(self.trained / "tokenizer.model", folder)
        options = json.loads((folder / "config.json").read_text())["model"]
        sizes = dict.fromkeys(("shared", "source", "target", "projection"), len(self.ids))
        model, checkpoint = randomize(make_model(options, sizes)), folder / "checkpoint"
        save(model, checkpoint, like=folder)
        return model.eval(), checkpoint

    def log_probabilities(self, model, source, target, expected, **more):
        with torch.no_grad():
            logits = model(source, target, **more)
        found = -F.cross_entropy(logits.transpose(1, 2), expected, reduction="none", ignore_index=PADDING)
        return [row[real].tolist() for row, real in zip(found, expected != PADDING)]

    def agrees(self, model, checkpoint, **more):
        """With logprob, token by token."""
        lines = self.attn("logprob", str(checkpoint), "-s", "corpus/valid.en", "-t", "corpus/valid.de", "--json").stdout
        found = self.log_probabilities(model, *self.pairs, **more)
        for line, row in zip(lines.splitlines(), found, strict=True):
            expected = json.loads(line)["token_log_probs"]
            self.assertEqual(len(row), len(expected))
            self.assertLess(max(abs(a - b) for a, b in zip(row, expected)), 1e-4)
        self.assertGreater(max(map(len, found)) - min(map(len, found)), 3)  # else padding is not tested

    def test_every_model_has_the_programs_probabilities(self):
        for architecture, (small, variants) in ARCHITECTURES.items():
            for name, change in variants.items():
                with self.subTest(f"{architecture}, {name}"):
                    model = {"architecture": architecture, **small, **change}
                    self.agrees(*self.written(f"{architecture} {name}", model))


if __name__ == "__main__":
    with_torch()
    import torch
    from torch.nn import functional as F
    from attn_torch import PADDING, batch, load, make_model, read_vocabulary, save
    main()
