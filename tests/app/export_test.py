"""tools/export.py: exported models give attn's probabilities and translations in the program that they are for.

    python3 tests/app/export_test.py path/to/attn

Needs torch, and ctranslate2 or transformers; skipped without. Log-probabilities of given translations are compared with
tools/attn_torch in double precision, which is compared with attn elsewhere.
"""
import contextlib
import importlib.util
import io
import os
import shutil
import subprocess
import sys
import unittest
import unittest.mock
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests/app")]
from program import ProgramTest, main, note_skipped, with_torch  # noqa: E402  # its folder must be on the path first

CONFIG = {
    "data": {"train": "corpus/train", "valid": "corpus/valid", "source": "en", "target": "de", "vocab_size": 300,
             "batch_tokens": 512},
    "model": {"layers": 2, "d_model": 32, "d_ff": 48, "heads": 4, "dropout": 0.0},
    "train": {"steps": 2, "schedule": "inverse_sqrt", "learning_rate": 0.01, "warmup": 2},
    "search": {"beam": 3, "alpha": 0.0},
    "eval": [{"name": "valid", "kind": "loss", "every": 0}],
}
# Options of model and data: what both targets can express, then what only CTranslate2 can.
WORDS = {"tokenizer": "words", "vocab_size": 3000}
BOTH = {
    "post_norm": ({}, {}),
    "narrow_heads": ({"d_k": 6, "d_v": 4, "bias": False}, {}),
    "learned": ({"position": "learned", "max_positions": 300, "embedding_sharing": "decoder", "activation": "gelu"}, {}),
    "halves": ({"position": "sinusoidal_halves", "embedding_sharing": "none", "activation": "silu"}, {}),
    "separate": ({"embedding_sharing": "decoder"}, {"shared_vocabulary": False, "vocab_size": 3000}),
}
CTRANSLATE2 = {
    "wide_values": ({"d_k": 4, "d_v": 16, "norm": "pre"}, {}),
    "rotary": ({"position": "rotary", "norm": "pre", "norm_kind": "rms", "d_k": 4, "d_v": 6}, {}),
    "none": ({"position": "none", "norm_kind": "rms", "bias": False}, {}),
    "words": ({}, WORDS),
}
HAS_CTRANSLATE2, HAS_TRANSFORMERS = (all(map(importlib.util.find_spec, names)) for names in (
    ("torch", "ctranslate2"), ("torch", "transformers", "sentencepiece")))
if HAS_CTRANSLATE2:
    import ctranslate2
if HAS_TRANSFORMERS:
    import transformers


class ExportTest(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        os.chdir(cls.path)
        cls.attn("generate", "corpus", "--train", "1500", "--valid", "20", "--test", "200")
        cls.write("base.json", CONFIG)
        cls.source = (cls.path / "corpus/test.en").read_text(encoding="utf8")
        cls.reference = (cls.path / "corpus/test.de").read_text(encoding="utf8")

    def train(self, name, model=None, data=None, **train):
        if (self.path / name).exists():
            return
        known = {**BOTH, **CTRANSLATE2}.get(name, ({}, {}))
        self.write(f"{name}.json", {"base": "base.json", "model": model or known[0], "data": data or known[1], "train": train})
        self.attn("train", f"{name}.json", "--run", name)

    def train_well(self):
        """A model that translates, so that searches are worth comparing."""
        self.train("trained", {}, {"vocab_size": 600}, steps=500, warmup=50)

    def export_tool(self, *arguments):
        """(exit code, stdout, stderr) of tools/export.py, in this process: importing torch takes seconds."""
        streams, code = [io.StringIO(), io.StringIO()], 0
        try:
            with (contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]),
                  unittest.mock.patch.object(sys, "argv", ["export", "--attn", self.program, *arguments])):
                export.main()
        except SystemExit as end:
            code = 1
            streams[1].write(f"{end.code}\n")
        return code, *(stream.getvalue() for stream in streams)

    def export(self, name, target, *options):
        output = f"{name}-{target}{''.join(options)}"
        if not (self.path / output).exists():
            code, out, error = self.export_tool(name, "--to", target, "--output", output, *options)
            self.assertEqual((code, out), (0, output + "\n"), error)
        return str(self.path / output)

    def checkpoint(self, name):
        return self.path / name / "checkpoints" / sorted(step.name for step in (self.path / name / "checkpoints").glob("step-*"))[-1]

    def pieces(self, name, text, *options):
        return [line.split(" ") for line in self.attn("vocab", name, "--encode", *options, stdin=text).stdout.splitlines()]

    def pairs(self, name, count=20):
        sources = self.pieces(name, self.source)[:count]
        targets = self.pieces(name, self.reference, "--target")[:count]
        return sources, targets

    def expected(self, name, sources, targets):
        """Log-probabilities of the targets' tokens and EOS, in double precision."""
        model, found = load(self.checkpoint(name)).double(), []
        ids = [read_vocabulary(self.attn("vocab", name, *side).stdout) for side in ((), ("--target",))]
        for source, target in zip(sources, targets):
            source, target, following = batch([[ids[0][piece] for piece in source]], [[ids[1][piece] for piece in target]],
                                              ids[1]["<s>"], ids[1]["</s>"])
            found.append((-F.cross_entropy(model(source, target)[0], following[0], reduction="none")).tolist())
        return found

    def translations(self, name):
        lines = self.attn("translate", name, "--set", "alpha=0", "--set", "beam=3", "--scores", stdin=self.source).stdout
        return [(float(line.split("\t")[2]), line.split("\t")[3]) for line in lines.splitlines()]

    def same_translations(self, ours, theirs):
        # The targets only end hypotheses within their beam and return no empty translation, so that search here may
        # find a shorter one with a higher score, above all with a model as small as this one.
        same = sum(one == other for one, other in zip(ours, theirs))
        self.assertEqual(len(ours), len(theirs))
        self.assertGreater(same, 0.9 * len(ours))

    def assert_close(self, expected, actual):
        self.assertEqual([len(row) for row in expected], [len(row) for row in actual])
        self.assertTrue(all(abs(a - b) < 1e-5 for x, y in zip(expected, actual) for a, b in zip(x, y)))  # false for NaN


@unittest.skipUnless(HAS_CTRANSLATE2, "no ctranslate2")
class Ctranslate2(ExportTest):
    def scores(self, folder, sources, targets, compute_type="float32"):
        translator = ctranslate2.Translator(folder, compute_type=compute_type, intra_threads=1)
        return [row.log_probs for row in translator.score_batch(sources, targets)]

    def agrees(self, name):
        sources, targets = self.pairs(name)
        self.assert_close(self.expected(name, sources, targets), self.scores(self.export(name, "ctranslate2"), sources, targets))

    def test_log_probabilities_are_the_programs(self):
        for name in (*BOTH, *CTRANSLATE2):
            with self.subTest(name):
                self.train(name)
                self.agrees(name)

    def test_search_finds_the_same_translations(self):
        self.train_well()
        translator = ctranslate2.Translator(self.export("trained", "ctranslate2"), compute_type="float32", intra_threads=1)
        found = translator.translate_batch(self.pieces("trained", self.source), beam_size=3, length_penalty=0,
                                           min_decoding_length=0, return_scores=True, max_batch_size=64)
        ours = self.translations("trained")
        self.assertEqual(len(ours), 200)
        theirs = [("".join(row.hypotheses[0]).replace("\u2581", " ").strip(), row.scores[0]) for row in found]
        self.same_translations([text for _, text in ours], [text for text, _ in theirs])
        for (score, text), (other, its) in zip(ours, theirs):
            self.assertGreater(score, its - 1e-4)
            if text == other:
                self.assertAlmostEqual(score, its, delta=1e-4)

    def test_int8_weights_are_those_that_ctranslate2_makes_itself(self):
        self.train_well()
        sources, targets = self.pairs("trained")
        whole, small = self.export("trained", "ctranslate2"), self.export("trained", "ctranslate2", "--weights", "int8")
        self.assertLess(os.path.getsize(small + "/model.bin"), 0.85 * os.path.getsize(whole + "/model.bin"))
        ours, theirs = (self.scores(folder, sources, targets, "int8") for folder in (small, whole))
        self.assertEqual(ours, theirs)


@unittest.skipUnless(HAS_TRANSFORMERS, "no transformers")
class HuggingFace(ExportTest):
    def load(self, folder):
        transformers.logging.set_verbosity_error()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return (transformers.MarianMTModel.from_pretrained(folder).eval(), transformers.MarianTokenizer.from_pretrained(folder))

    def scores(self, model, tokenizer, sources, targets):
        """One pair at a time and as one padded batch, which must agree."""
        rows = [self.batch_scores(model, tokenizer, [source], [target])[0] for source, target in zip(sources, targets)]
        self.assert_close(rows, self.batch_scores(model, tokenizer, sources, targets))
        return rows

    def batch_scores(self, model, tokenizer, sources, targets):
        batch = tokenizer(sources, text_target=targets, return_tensors="pt", padding=True)
        with torch.no_grad():
            logits = model(**batch).logits
        self.assertLess(logits[..., model.config.pad_token_id].max(), -1e8)  # padding is never generated
        chosen = logits.double().log_softmax(-1).gather(2, batch["labels"].clamp(min=0).unsqueeze(2)).squeeze(2)
        used = batch["labels"] != model.config.pad_token_id
        return [row[mask].tolist() for row, mask in zip(chosen, used)]

    def agrees(self, name):
        model, tokenizer = self.load(self.export(name, "huggingface"))
        sources, targets = self.pairs(name)
        lines = [text.splitlines()[:len(sources)] for text in (self.source, self.reference)]
        self.assertEqual([tokenizer.tokenize(line) for line in lines[0]], sources)
        self.assert_close(self.expected(name, sources, targets), self.scores(model, tokenizer, *lines))

    def test_log_probabilities_are_the_programs(self):
        self.write("greedy.json", {"base": "base.json", "search": {"beam": 1}})
        self.attn("train", "greedy.json", "--run", "greedy")
        for name in (*BOTH, "greedy"):
            with self.subTest(name):
                self.train(name)
                self.agrees(name)

    def test_search_finds_the_same_translations(self):
        self.train_well()
        model, tokenizer = self.load(self.export("trained", "huggingface"))
        ours, found = self.translations("trained"), []
        lines = self.source.splitlines()
        for start in range(0, len(lines), 50):
            batch = tokenizer(lines[start:start + 50], return_tensors="pt", padding=True)
            found += tokenizer.batch_decode(model.generate(**batch, num_beams=3, length_penalty=0.0), skip_special_tokens=True)
        self.same_translations([text for _, text in ours], found)

    def test_a_saved_copy_gives_the_same_probabilities(self):
        self.train("post_norm")
        model, tokenizer = self.load(self.export("post_norm", "huggingface"))
        model.save_pretrained(self.path / "copy")
        tokenizer.save_pretrained(self.path / "copy")
        lines = [text.splitlines()[:10] for text in (self.source, self.reference)]
        self.assertEqual(self.scores(model, tokenizer, *lines), self.scores(*self.load(self.path / "copy"), *lines))


class Rejections(ExportTest):
    def refused(self, *arguments, names):
        code, out, error = self.export_tool(*arguments)
        self.assertEqual((code, out, error.count("\n")), (1, "", 1), error)
        for name in names:
            self.assertIn(name, error)
        self.assertFalse(list(self.path.glob("rejected*")))

    def rejected(self, name, target, model, names, data=None):
        self.train(name, model, data)
        self.refused(name, "--to", target, "--output", "rejected", names=names)

    def test_options_that_a_target_cannot_express_are_named(self):
        for name, option in (("wide_values", "model.norm: pre"), ("rotary", "model.position: rotary"), ("none", "model.norm_kind"),
                             ("words", "data.tokenizer: words")):
            with self.subTest(name):
                self.rejected(name, "huggingface", None, [option, "use --to ctranslate2"])
        self.rejected("wide", "huggingface", {"d_v": 12}, ["model.d_v: 12", "--to ctranslate2"])
        self.rejected("alibi", "ctranslate2", {"position": "alibi"}, ["model.position: alibi", "--to ctranslate2"])
        self.rejected("kv_heads", "ctranslate2", {"kv_heads": 2}, ["model.kv_heads: 2"])
        self.rejected("classes", "ctranslate2", {}, ["data.unknown_classes: true"], {**WORDS, "unknown_classes": True})
        self.write("recurrent.json", {**CONFIG, "model": {"architecture": "recurrent", "hidden": 16, "d_model": 16}})
        self.attn("train", "recurrent.json", "--run", "recurrent")
        self.rejected("recurrent", "ctranslate2", {}, ["model.architecture: recurrent"])
        # It changes the initial weights alone.
        self.train("depth", {"initialization": "depth"})
        for target, has in (("ctranslate2", HAS_CTRANSLATE2), ("huggingface", HAS_TRANSFORMERS)):
            if has:
                self.export("depth", target)

    def test_nothing_is_overwritten(self):
        self.train("post_norm")
        (self.path / "present").mkdir()
        done = subprocess.run([sys.executable, "-B", ROOT / "tools/export.py", "post_norm", "--to", "huggingface", "--output", "present"],
                              cwd=self.path, capture_output=True, encoding="utf8")
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1), done.stderr)
        self.assertIn("present: exists, and is not replaced; give another --output, or delete it", done.stderr)
        self.assertFalse(list((self.path / "present").iterdir()))
        self.refused("post_norm", "--to", "huggingface", "--weights", "int8", "--output", "rejected", names=["--weights: int8"])
        self.refused("post_norm@7", "--to", "ctranslate2", "--output", "rejected", names=["post_norm@7: no checkpoint"])

    def test_a_damaged_checkpoint_is_rejected(self):
        self.train("post_norm")
        shutil.copytree(self.path / "post_norm", self.path / "damaged")
        file = self.checkpoint("damaged") / "model.safetensors"
        data = file.read_bytes()
        file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        self.refused("damaged", "--to", "ctranslate2", "--output", "rejected", names=["checksum"])


if __name__ == "__main__":
    with_torch()
    import export
    import torch
    from torch.nn import functional as F
    from attn_torch import batch, load, read_vocabulary
    for package, found in (("ctranslate2", HAS_CTRANSLATE2), ("transformers", HAS_TRANSFORMERS)):
        if not found:
            note_skipped(f"exports for {package}: no Python package of this name, or none that it needs")
    main()
