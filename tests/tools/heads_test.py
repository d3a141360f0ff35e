"""`attn attention` and `attn heads` against plain PyTorch.

    python3 tests/tools/heads_test.py path/to/attn

Weights are those of tools/attn_torch in double precision, the statistics follow the definitions of docs/howto/inspect.md,
and the importance is a numerical derivative of the likelihood. Needs torch, of this python or of .venv; skipped without.
"""
import collections
import json
import math
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests/app")]
from program import ProgramTest, main, with_torch  # noqa: E402  # its folder must be on the path first

CONFIG = {
    "data": {"train": "corpus/train", "valid": "corpus/valid", "source": "en", "target": "de", "tokenizer": "words",
             "vocab_size": 2000, "batch_tokens": 256},
    "model": {"layers": 2, "d_model": 16, "d_ff": 24, "heads": 2, "d_k": 6, "d_v": 10, "dropout": 0.0},
    "train": {"steps": 600, "schedule": "inverse_sqrt", "learning_rate": 0.01, "warmup": 60},
    "eval": [{"name": "test", "kind": "bleu", "data": "corpus/test", "tokenize": "none", "every": 0, "search": {"beam": 1}}],
    "search": {"beam": 1},
}
KINDS = ("encoder", "decoder", "cross")
COMMON = 3


class Watched:
    """A model of which the weights of each attention are kept, and one context can be scaled: (name, head, query, factor)."""

    def __init__(self, model):
        self.model, self.seen, self.scale = model.double().requires_grad_(False), {}, None
        for name, module in model.named_modules():
            if name.endswith("weights_dropout"):
                module.register_forward_hook(lambda _, __, weights, name=name.rpartition(".")[0]: self.watch(name, weights))

    def watch(self, name, weights):
        self.seen[name] = weights[0].clone()
        if self.scale and self.scale[0] == name:  # the context is linear in the weights
            weights[0, self.scale[1], self.scale[2]] *= self.scale[3]


def name_of(kind, layer):
    return f"{'encoder' if kind == 'encoder' else 'decoder'}.layers.{layer}." + ("cross_attention" if kind == "cross" else "self_attention")


class Heads(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.attn("generate", "corpus", "--train", "1000", "--valid", "5", "--test", "40")
        cls.write("heads.json", CONFIG)
        cls.attn("train", "heads.json", "--run", "run")
        torch.set_num_threads(1)
        cls.model = Watched(load(cls.path / "run/checkpoints/step-00000600"))
        cls.ids = read_vocabulary(cls.attn("vocab", "run").stdout)
        cls.pairs = list(zip(cls.lines("corpus/valid.en"), cls.lines("corpus/valid.de")))

    @classmethod
    def lines(cls, file):
        return [[cls.ids.get(word, cls.ids["<unk>"]) for word in line.split(" ")]
                for line in (cls.path / file).read_text(encoding="utf8").splitlines()]

    def log_probability(self, pair):
        source, target, following = batch(*([side] for side in pair), self.ids["<s>"], self.ids["</s>"])
        return -F.cross_entropy(self.model.model(source, target)[0], following[0], reduction="sum").item()

    def all_weights(self):
        """[{name: [heads, queries, keys]}] of the pairs."""
        found = []
        for pair in self.pairs:
            self.model.seen = {}
            self.log_probability(pair)
            found.append(dict(self.model.seen))
        return found

    def test_weights_are_those_of_the_reference(self):
        self.attn("attention", "run", "--source", "corpus/valid.en", "--target", "corpus/valid.de", "--json", "w.json", "--html", "w.html")
        written = json.loads((self.path / "w.json").read_text(encoding="utf8"))
        self.assertEqual(len(written), len(self.pairs) * len(KINDS))
        for i, weights in enumerate(self.all_weights()):
            for k, kind in enumerate(KINDS):
                entry = written[i * len(KINDS) + k]
                for layer, attention in enumerate(entry["attn"]):
                    self.assertLess((torch.tensor(attention) - weights[name_of(kind, layer)]).abs().max(), 1e-4)
                self.assertEqual(len(entry["left_text"]), len(entry["attn"][0][0]))
                self.assertEqual(len(entry["right_text"]), len(entry["attn"][0][0][0]))
        # Lines are those of the file, of which empty ones have no sentence.
        for side in ("en", "de"):
            lines = (self.path / f"corpus/valid.{side}").read_text(encoding="utf8").splitlines()
            self.write(f"gaps.{side}", "\n".join([lines[0], "", "", lines[1]]) + "\n")
        self.attn("attention", "run", "--source", "gaps.en", "--target", "gaps.de", "--json", "gaps.json", "--html", "gaps.html")
        names = [entry["name"] for entry in json.loads((self.path / "gaps.json").read_text(encoding="utf8"))]
        self.assertEqual(names, [f"line {line}, {kind}" for line in (1, 4) for kind in KINDS])
        self.assertRegex((self.path / "gaps.html").read_text(encoding="utf8"), '"line": ?4\\b')
        self.assertEqual(written[1]["left_text"][0], "<s>")
        self.assertEqual(written[0]["right_text"][-1], "</s>")
        page = (self.path / "w.html").read_text(encoding="utf8")
        self.assertNotIn("<link", page)
        self.assertNotIn("src=", page)

    def statistics(self, kind, layer, head):
        """By the definitions, one query at a time."""
        of_source = kind != "decoder"
        counts = collections.Counter(token for pair in self.pairs for token in pair[0 if of_source else 1])
        common = sorted(counts.values(), reverse=True)[COMMON - 1]
        rows, offsets, rare = [], [], []
        for (source, target), weights in zip(self.pairs, self.all_weights()):
            attention = weights[name_of(kind, layer)][head].tolist()
            if kind == "encoder":
                attention = attention[:-1]
            named = [row[:-1] for row in attention] if of_source else attention
            for i, row in enumerate(attention):
                keys = row[:i + 1] if kind == "decoder" else row
                entropy = -sum(a * math.log(a) for a in keys if a > 0)
                best = named[i].index(max(named[i]))
                offsets.append(best - i)
                rows.append((entropy, entropy / math.log(len(keys)) if len(keys) > 1 else math.nan, max(named[i]),
                             sum(a * abs(i - j) for j, a in enumerate(row)), abs(best - i)))
            frequencies = [counts[t] for t in source] if of_source else [len(self.pairs), *(counts[t] for t in target)]
            if min(frequencies) < common:
                sums = [sum(column) for column in zip(*named)]
                rare.append(frequencies[sums.index(max(sums))] == min(frequencies))
        offset, count = max(sorted(collections.Counter(offsets).items()), key=lambda item: item[1])
        means = torch.tensor(rows, dtype=torch.float64).nanmean(0).tolist()
        return {"entropy": means[0], "relative_entropy": means[1], "confidence": means[2], "distance": means[3],
                "argmax_distance": means[4], "offset": offset, "positional": count / len(offsets), "rare": sum(rare) / len(rare)}

    def importance(self, kind, layer, head, step=1e-5):
        """The mean of |dL/dε| with the head's context at one query scaled by 1 + ε."""
        total, queries = 0.0, 0
        for pair in self.pairs:
            for query in range(len(pair[0]) if kind == "encoder" else len(pair[1]) + 1):
                values = []
                for factor in (1 + step, 1 - step):
                    self.model.scale = (name_of(kind, layer), head, query, factor)
                    values.append(self.log_probability(pair))
                total += abs(values[0] - values[1]) / (2 * step)
                queries += 1
        self.model.scale = None
        return total / queries

    def test_statistics_and_importance_follow_their_definitions(self):
        self.attn("heads", "run", "--data", "corpus/valid", "--common", str(COMMON), "--json", "h.json")
        heads = json.loads((self.path / "h.json").read_text(encoding="utf8"))["heads"]
        self.assertEqual([(h["kind"], h["layer"], h["head"]) for h in heads if h["kind"] == "encoder"],
                         [("encoder", layer, head) for layer in (1, 2) for head in (1, 2)])
        self.assertEqual(len(heads), 12)
        for entry in heads:
            place = entry["kind"], entry["layer"] - 1, entry["head"] - 1
            with self.subTest(place):
                for key, value in self.statistics(*place).items():
                    self.assertAlmostEqual(entry[key], value, delta=1e-5, msg=key)
                expected = self.importance(*place)
                self.assertAlmostEqual(entry["importance"], expected, delta=1e-3 * expected + 1e-6)
                layer = [h for h in heads if (h["kind"], h["layer"]) == (entry["kind"], entry["layer"])]
                norm = sum(h["importance"] ** 2 for h in layer) ** 0.5
                self.assertAlmostEqual(entry["normalized_importance"], entry["importance"] / norm, delta=1e-6)

    def test_masked_heads_change_translations(self):
        log = self.attn("heads", "run", "--data", "corpus/test", "--prune", "--ablate", "--json", "p.json").stderr
        self.assertIn("cross layer 2 head 2 masked", log)
        self.assertNotIn("layer 0", log)
        written = json.loads((self.path / "p.json").read_text(encoding="utf8"))
        curve = written["pruning"]
        self.assertEqual([point["masked"] for point in curve], [0, 1, 2, 4, 5, 6, 7, 8, 10, 11, 12])
        whole = json.loads(self.attn("eval", "run", "--json").stdout)["test"]["bleu"]
        self.assertAlmostEqual(curve[0]["bleu"], whole, delta=1e-6)
        self.assertLess(curve[-1]["bleu"], 0.5 * whole)
        differences = [head["bleu_difference"] for head in written["heads"]]
        self.assertGreater(max(map(abs, differences)), 0)
        self.assertTrue(all(0 < head["p_value"] <= 1 for head in written["heads"]))

    def test_mistakes_are_one_line(self):
        self.one_line("attention", "run", "--source", "corpus/valid.en", code=2, names=["--html"])
        self.one_line("attention", "run", "--source", "corpus/valid.en", "--target", "corpus/test.de", "--html", "x.html",
                      code=3, names=["corpus/test.de", "40", "5"])
        # Outputs are created before the work, which here would fail itself.
        self.one_line("attention", "run", "--source", "nowhere.en", "--html", "nofolder/a.html", code=3, names=["nofolder/a.html"])
        self.one_line("heads", "run", "--data", "nowhere", "--json", "nofolder/h.json", code=3, names=["nofolder/h.json"])
        printed = self.attn("heads", "run", "--data", "corpus/valid", "--json", "-").stdout
        self.assertEqual(len(json.loads(printed)["heads"]), len(self.attn("heads", "run", "--data", "corpus/valid")
                                                                .stdout.splitlines()) - 2)
        # Without input feeding, and with it, when the decoder attends step by step.
        for number, form in enumerate(({}, {"decoder": "luong", "input_feeding": True}, {"decoder": "gnmt", "input_feeding": True})):
            self.write("recurrent.json", {**CONFIG, "eval": [], "train": {**CONFIG["train"], "steps": 2},
                                          "model": {"architecture": "recurrent", "hidden": 8, "d_model": 8, **form}})
            self.attn("train", "recurrent.json", "--run", f"recurrent{number}")
            self.attn("attention", f"recurrent{number}", "--source", "corpus/valid.en", "--json", "r.json", "--html", "r.html")
            for entry in json.loads((self.path / "r.json").read_text(encoding="utf8")):
                weights = torch.tensor(entry["attn"])
                self.assertEqual(weights.shape, (1, 1, len(entry["left_text"]), len(entry["right_text"])))
                self.assertLess((weights.sum(-1) - 1).abs().max(), 1e-2)
        self.one_line("heads", "recurrent0", "--data", "corpus/valid", code=2, names=["model.architecture"])


if __name__ == "__main__":
    with_torch()
    import torch
    from torch.nn import functional as F
    from attn_torch import batch, load, read_vocabulary
    main()
