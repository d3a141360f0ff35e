#!/usr/bin/env python3
"""The Transformer in NumPy, reading a checkpoint as described in docs/reference/checkpoint.md.

    python3 tools/numpy_transformer.py CHECKPOINT VOCABULARY "SOURCE PIECES" "TARGET PIECES"

Prints the log-probability of the target (EOS included) given the source, which `attn translate --set beam=1 --scores`
prints in its third column. VOCABULARY is the output of `attn vocab`, pieces are those of `attn vocab --encode`: one
vocabulary for both sides. Every form of the Transformer but model.word_positions and model.deterministic_attention.
Needs numpy.
"""
import json
import math
import struct
import sys
from pathlib import Path

import numpy as np


def load(path):
    """{name: array} of a safetensors file: 8 bytes with the header's length, the header in JSON, the data."""
    data = Path(path).read_bytes()
    body = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:body])
    header.pop("__metadata__", None)
    return {name: np.frombuffer(data[body + entry["data_offsets"][0]:body + entry["data_offsets"][1]],
                                np.float32).reshape(entry["shape"]) for name, entry in header.items()}


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def angles(length, width, steps):
    return np.arange(length)[:, None] / 10000 ** (np.arange(width // 2) / steps)


def distances(queries, keys):
    """j - i of key j and query i."""
    return np.arange(keys)[None, :] - np.arange(queries)[:, None]


def alibi(heads, queries, keys):
    power = 2 ** int(math.log2(heads))  # for other numbers of heads: every second slope of twice as many heads
    slopes = 2.0 ** (-8 / power * np.concatenate([np.arange(1, power + 1), np.arange(heads - power) + 0.5]))
    return -slopes[:, None, None] * np.abs(distances(queries, keys))


def t5_bucket(distance, causal, buckets=32, farthest=128):
    """Of one distance (key - query): a bucket each for short ones, then logarithmically wider ones."""
    first = 0
    if not causal:
        buckets //= 2
        first = buckets if distance > 0 else 0
    far, exact = (max(-distance, 0) if causal else abs(distance)), buckets // 2
    if far < exact:
        return first + far
    wide = exact + int(math.log(far / exact) / math.log(farthest / exact) * (buckets - exact) + 1e-6)
    return first + min(wide, buckets - 1)


ACTIVATIONS = {"relu": lambda x: np.maximum(x, 0),
               "gelu": lambda x: x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2,
               "silu": lambda x: x / (1 + np.exp(-x))}
GATED = {"geglu": "gelu", "swiglu": "silu"}


class Transformer:
    """`weights` as load() gives them, `config` the object "model" of the checkpoint's config.json."""

    def __init__(self, weights, config):
        self.w, self.config = weights, config
        base = config.get("mup_base", 0)
        self.width_ratio = config["d_model"] / base if base else 1.0

    def linear(self, name, x):
        y = x @ self.w[name + ".weight"].T
        return y + self.w[name + ".bias"] if name + ".bias" in self.w else y

    def norm(self, name, x):
        if self.config["norm_kind"] == "scale":
            return x / np.sqrt((x * x).sum(-1, keepdims=True)) * self.w[name + ".weight"]
        if name + ".bias" not in self.w:  # norm_kind rms
            return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * self.w[name + ".weight"]
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * self.w[name + ".weight"] + self.w[name + ".bias"]

    def positions(self, side, length):
        """What is added to the embeddings of positions 0, 1, …: [length, d_model]."""
        width, kind = self.config["d_model"], self.config["position"]
        if kind == "learned":
            return self.w[side + "_embedding.position.weight"][:length]
        if kind == "sinusoidal":
            angle = angles(length, width, width / 2)
            return np.stack([np.sin(angle), np.cos(angle)], 2).reshape(length, width)
        if kind == "sinusoidal_halves":
            angle = angles(length, width, width / 2 - 1)
            return np.concatenate([np.sin(angle), np.cos(angle)], 1)
        return np.zeros((length, width))

    def table(self, side):
        """The embeddings, [V, d_model]."""
        return self.w["shared_weight" if "shared_weight" in self.w else side + "_weight"]

    def embed(self, side, ids):
        scale = np.sqrt(self.config["d_model"] / self.width_ratio)
        return self.table(side)[ids] * scale + self.positions(side, len(ids))

    def rotate(self, x):
        """Rotary positions: pairs (2i, 2i + 1) of each head of x [heads, length, d_k]."""
        angle = angles(x.shape[1], x.shape[2], x.shape[2] / 2)
        even, odd = x[:, :, 0::2], x[:, :, 1::2]
        return np.stack([even * np.cos(angle) - odd * np.sin(angle), even * np.sin(angle) + odd * np.cos(angle)],
                        3).reshape(x.shape)

    def normalized_heads(self, name, q, k):
        """QK-norm, with the factor of the scores."""
        kind, scale = self.config.get("qk_norm", "none"), 1 / np.sqrt(q.shape[-1] * self.width_ratio)
        if kind == "l2":
            q, k = (x / np.sqrt((x * x).sum(-1, keepdims=True)) for x in (q, k))
            return q, k, self.w[name + ".qk_norm.scale"]
        if kind == "rms":
            q, k = (x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * self.w[f"{name}.qk_norm.{part}_weight"]
                    for part, x in (("query", q), ("key", k)))
        return q, k, scale

    def bias(self, side, queries, keys):
        """Added to the scores of self-attention."""
        heads, kind = self.config["heads"], self.config["position"]
        if kind == "alibi":
            return alibi(heads, queries, keys)
        if kind == "t5_bias":
            buckets = np.vectorize(lambda distance: t5_bucket(distance, side == "target"))(distances(queries, keys))
            return self.w[side + "_embedding.position.weight"][buckets].transpose(2, 0, 1)
        return 0

    def attention(self, name, x, memory, causal):
        heads = self.config["heads"]
        kv_heads = self.config.get("kv_heads", 0) or heads
        q, k, v = (self.linear(f"{name}.{part}", rows).reshape(len(rows), count, -1).transpose(1, 0, 2)
                   for part, rows, count in (("query", x, heads), ("key", memory, kv_heads), ("value", memory, kv_heads)))
        q, k, factor = self.normalized_heads(name, q, k)
        k, v = (np.repeat(rows, heads // kv_heads, 0) for rows in (k, v))
        own, position = x is memory, self.config["position"]  # own: self-attention
        if position == "rotary" and own:
            q, k = self.rotate(q), self.rotate(k)
        scores = q @ k.transpose(0, 2, 1)
        if position == "relative" and own:
            clipped = np.clip(distances(len(x), len(x)), -16, 16) + 16
            scores = scores + np.einsum("hik,hijk->hij", q, self.w[name + ".relative.key_weight"][:, clipped])
        scores = scores * factor
        if own:
            scores = scores + self.bias("target" if causal else "source", len(x), len(x))
        if causal:
            scores = np.where(np.tril(np.ones(scores.shape[1:], bool)), scores, -np.inf)
        weights = softmax(scores)
        attended = self.attend(name, weights, v)
        if position == "relative" and own:
            attended = attended + np.einsum("hij,hijk->hik", weights, self.w[name + ".relative.value_weight"][:, clipped])
        return self.linear(name + ".output", attended.transpose(1, 0, 2).reshape(len(x), -1))

    def attend(self, name, weights, values):
        """Contexts [heads, queries, d_v] of weights [heads, queries, keys]; a place to look inside."""
        return weights @ values

    def feed_forward(self, name, x):
        kind, inner = self.config["activation"], self.linear(name + ".inner", x)
        hidden = (ACTIVATIONS[GATED[kind]](self.linear(name + ".gate", x)) * inner if kind in GATED
                  else ACTIVATIONS[kind](inner))
        return self.linear(name + ".outer", hidden)

    def sublayer(self, name, x, function):
        if self.config["norm"] == "deep":
            layers = self.config["layers"]
            alpha = .81 * layers ** (5 / 16) if name.startswith("encoder") else (3 * layers) ** (1 / 4)
            return self.norm(name + "_sublayer.norm", alpha * x + function(x))
        name += "_sublayer.norm"
        return x + function(self.norm(name, x)) if self.config["norm"] == "pre" else self.norm(name, x + function(x))

    def stack(self, side, x, memory=None):
        """The encoder, or with a memory the decoder."""
        for at in (f"{side}.layers.{i}." for i in range(self.config["layers"])):
            x = self.sublayer(at + "self_attention", x,
                              lambda y: self.attention(at + "self_attention", y, y, memory is not None))
            if memory is not None:
                x = self.sublayer(at + "cross_attention", x,
                                  lambda y: self.attention(at + "cross_attention", y, memory, False))
            x = self.sublayer(at + "feed_forward", x, lambda y: self.feed_forward(at + "feed_forward", y))
        return self.norm(side + ".final_norm", x) if side + ".final_norm.weight" in self.w else x

    def log_probabilities(self, source, target, bos, eos):
        """Of each token of the target, and of EOS after it; source and target are lists of ids without BOS and EOS."""
        memory = self.stack("encoder", self.embed("source", source + [eos]))
        rows = self.stack("decoder", self.embed("target", [bos] + target), memory) / self.width_ratio
        output = next(self.w[name] for name in ("projection_weight", "shared_weight", "target_weight") if name in self.w)
        return np.log(softmax(rows @ output.T))[np.arange(len(target) + 1), target + [eos]]


def read_vocabulary(text):
    """{piece: id} of the output of `attn vocab`."""
    return {piece: int(number) for number, _, piece in (line.partition("\t") for line in text.rstrip("\n").split("\n"))}


def require_published_formulas(checkpoint):
    """Exits if the checkpoint's run computed a formula that was edited: this file has the formulas as published."""
    checkpoint = Path(checkpoint).absolute()
    for run in (checkpoint, checkpoint.parent, checkpoint.parent.parent):
        for facts in (run / "run.json", run / "result.json"):
            if edited := facts.exists() and json.loads(facts.read_text(encoding="utf8")).get("as_read"):
                sys.exit(f"{facts}: ran as read: {', '.join(edited)}: this script has the formulas as published; give a "
                         "run that was trained with them")


def load_checkpoint(checkpoint):
    require_published_formulas(checkpoint)
    config = json.loads(Path(checkpoint, "config.json").read_text(encoding="utf8"))["model"]
    for side in ("encoder_mixer", "decoder_mixer"):
        if (kind := config.get(side, {}).get("kind", "attention")) != "attention":
            sys.exit(f"model.{side}.kind: {kind}: only attention is implemented here")
    for option in ("word_positions", "deterministic_attention"):
        if config.get(option):
            sys.exit(f"model.{option}: not implemented here")
    weights = load(Path(checkpoint, "model.safetensors"))
    if features := [name for name in weights if "feature" in name]:
        sys.exit(f"{features[0]}: source features are not implemented here")
    return Transformer(weights, config)


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    checkpoint, vocabulary, *texts = sys.argv[1:]
    ids = read_vocabulary(Path(vocabulary).read_text(encoding="utf8"))
    source, target = ([ids[piece] for piece in text.split(" ") if piece] for text in texts)
    print(f"{load_checkpoint(checkpoint).log_probabilities(source, target, ids['<s>'], ids['</s>']).sum():.6f}")


if __name__ == "__main__":
    main()
