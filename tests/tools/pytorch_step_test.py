"""tools/peers/pytorch_step.py is a fair peer: it has attn's batches, and all its variants are the same model.

    python3 tests/tools/pytorch_step_test.py path/to/attn

The variants need torch, of this python or of .venv; skipped without.
"""
import json
import os
import sys
import types
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tools/peers"), str(ROOT / "tests/app")]
from batches import cut_batches, synthetic_pairs  # noqa: E402  # their folders must be on the path first
from program import ProgramTest, main, note_skipped  # noqa: E402

try:
    import torch
    import pytorch_step as peer
except ImportError:
    torch = None

MODEL = dict(layers=2, d_model=16, d_ff=24, heads=2, d_k=8, d_v=8, dropout=0.0, attention_dropout=0.0)
TRAIN = dict(label_smoothing=0.1, beta1=0.9, beta2=0.98, epsilon=1e-9)
OPTIONS = dict(device="cpu", bf16=False, bf16_loss=False, graphs=False, compile=None)


class SameBatches(ProgramTest):
    def test_a_batch_holds_as_many_target_tokens_as_one_of_bench_step(self):
        pairs = synthetic_pairs(60)
        for limit in (25000, 300):
            self.write("config.json", {"data": {"train": "", "vocab_size": 60, "batch_tokens": limit},
                                       "model": {"layers": 1, "d_model": 8, "d_ff": 8, "heads": 1}})
            step = json.loads(self.attn("bench", "step", "config.json", "--json", "--seconds", "0.01").stdout)
            own = sum(len(target) + 1 for _, target in pairs) / len(cut_batches(pairs, limit))
            self.assertAlmostEqual(own / step["tokens_per_update"], 1, places=12, msg=f"data.batch_tokens {limit}")


class Variants(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if torch is None:
            note_skipped("the variants of tools/peers/pytorch_step.py: no python here imports torch")
            raise unittest.SkipTest("no torch")
        torch.manual_seed(1)
        cls.pairs = max(cut_batches(synthetic_pairs(40, 60), 200), key=lambda batch: len({len(s) for s, _ in batch}))
        cls.step = peer.Step(MODEL, 40, TRAIN, types.SimpleNamespace(**OPTIONS))

    def computed(self, batch, **options):
        """Loss and gradients."""
        self.step.options = types.SimpleNamespace(**OPTIONS | options)
        loss = self.step.gradients(batch, batch.block).item()
        return loss, torch.cat([p.grad.flatten() for p in self.step.network.parameters()])

    def batch(self, *how):
        return peer.Batch(self.pairs, 1, 2, *how)

    def check_same(self, found, expected, tolerance=1e-5):
        self.assertAlmostEqual(found[0], expected[0], delta=tolerance * abs(expected[0]))
        self.assertLess(((found[1] - expected[1]).norm() / expected[1].norm()).item(), tolerance)

    def test_padded_ragged_and_class_padded_batches_have_the_same_loss_and_gradients(self):
        padded, ragged, classes = self.batch(), self.batch(True), self.batch(True, 64)
        self.assertGreater(padded.shapes[1].numel(), padded.tokens)  # else nothing is tested
        self.assertEqual(ragged.shapes[1].numel(), padded.tokens)
        self.assertEqual([shape.numel() % 64 for shape in classes.shapes[:5]], [0] * 5)
        self.assertGreater(classes.shapes[1].numel(), padded.tokens)
        for batch in ragged, classes:
            self.assertEqual(batch.tokens, padded.tokens)
            self.check_same(self.computed(batch), self.computed(padded))

    def test_padding_changes_nothing(self):
        alone = [(peer.Batch([pair], 1, 2), len(pair[1]) + 1) for pair in self.pairs]
        total = sum(tokens for _, tokens in alone)
        each = [(self.computed(batch), tokens / total) for batch, tokens in alone]
        expected = [sum(values[i] * share for values, share in each) for i in (0, 1)]
        self.check_same(self.computed(self.batch()), expected)
        classes = self.batch(True, 64)
        source, target = (torch.tensor(shape).item() for shape in classes.shapes[:2])
        for first, end in ((sum(len(s) + 1 for s, _ in self.pairs), source), (source + classes.tokens, source + target)):
            self.assertLess(first, end)
            classes.block[first:end] = torch.randint(4, 40, (end - first,))
        self.check_same(self.computed(classes), expected)

    def test_the_sentences_of_spare_rows_are_real(self):
        for sides in (([3, 9, 4], [2, 5, 5]), ([8, 8], [1, 7]), ([200], [1])):
            spare = peer.spare_lengths(sides, 16)
            self.assertEqual(len(spare[0]), len(spare[1]))
            self.assertEqual([sum(side + more) % 16 for side, more in zip(map(list, sides), spare)], [0, 0])
            lengths = [length for side in spare for length in side]
            self.assertTrue(all(1 <= length <= max(map(max, sides)) for length in lengths), spare)

    def test_the_loss_of_bf16_logits_is_coarse_but_the_same(self):
        self.check_same(self.computed(self.batch(True), bf16=True, bf16_loss=True), self.computed(self.batch()), 0.05)


if __name__ == "__main__":
    other = ROOT / ".venv/bin/python"
    if torch is None and other.exists() and other != Path(sys.executable):
        os.execv(other, [other, *sys.argv])
    main()
