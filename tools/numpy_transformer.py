#!/usr/bin/env python3
"""The Transformer in NumPy, reading a checkpoint as described in docs/reference/checkpoint.md.

    python3 tools/numpy_transformer.py CHECKPOINT VOCABULARY "SOURCE PIECES" "TARGET PIECES"

Prints the log-probability of the target (EOS included) given the source, which `attn translate --set beam=1 --scores`
prints in its third column. VOCABULARY is the output of `attn vocab`, pieces are those of `attn vocab --encode`. Only for
the paper's model: post-norm, interleaved sinusoids, ReLU, biases, one shared embedding matrix. Needs numpy.
"""
import json
import struct
import sys
from pathlib import Path

import numpy as np

EPSILON = 1e-5  # of layer normalization


def load(path):
    """{name: array} of a safetensors file; cross-attention was "memory_attention" in earlier versions."""
    data = Path(path).read_bytes()
    body = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:body])
    header.pop("__metadata__", None)
    arrays = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        array = np.frombuffer(data[body + begin:body + end], np.float32).reshape(entry["shape"])
        arrays[name.replace("memory_attention", "cross_attention")] = array
    return arrays


def linear(w, name, x):
    return x @ w[name + ".weight"].T + w[name + ".bias"]


def norm(w, name, x):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON) * w[name + ".weight"] + w[name + ".bias"]


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attention(w, name, x, memory, heads, causal):
    q, k, v = (linear(w, f"{name}.{part}", rows).reshape(len(rows), heads, -1).transpose(1, 0, 2)
               for part, rows in (("query", x), ("key", memory), ("value", memory)))
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[1:], bool)), scores, -np.inf)
    return linear(w, name + ".output", (softmax(scores) @ v).transpose(1, 0, 2).reshape(len(x), -1))


def embed(w, ids):
    table = w["shared_weight"]
    d_model = table.shape[1]
    angle = np.arange(len(ids))[:, None] / 10000 ** (np.arange(0, d_model, 2) / d_model)
    positions = np.stack([np.sin(angle), np.cos(angle)], 2).reshape(len(ids), d_model)
    return table[ids] * np.sqrt(d_model) + positions


def stack(w, side, x, heads, memory=None):
    """The encoder, or with a memory the decoder."""
    layers = 1 + max(int(name.split(".")[2]) for name in w if name.startswith(side + ".layers."))
    for at in (f"{side}.layers.{i}." for i in range(layers)):
        x = norm(w, at + "self_attention_sublayer.norm",
                 x + attention(w, at + "self_attention", x, x, heads, memory is not None))
        if memory is not None:
            x = norm(w, at + "cross_attention_sublayer.norm",
                     x + attention(w, at + "cross_attention", x, memory, heads, False))
        hidden = np.maximum(linear(w, at + "feed_forward.inner", x), 0)
        x = norm(w, at + "feed_forward_sublayer.norm", x + linear(w, at + "feed_forward.outer", hidden))
    return x


def log_probability(w, source, target, heads, bos, eos):
    memory = stack(w, "encoder", embed(w, source + [eos]), heads)
    rows = stack(w, "decoder", embed(w, [bos] + target), heads, memory)
    probabilities = softmax(rows @ w["shared_weight"].T)
    return sum(np.log(probabilities[i, token]) for i, token in enumerate(target + [eos]))


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    checkpoint, vocabulary, source, target = sys.argv[1:]
    config = json.loads(Path(checkpoint, "config.json").read_text(encoding="utf8"))["model"]
    lines = Path(vocabulary).read_text(encoding="utf8").rstrip("\n").split("\n")
    ids = {piece: int(number) for number, piece in (line.split("\t")[:2] for line in lines)}
    pieces = [[ids[piece] for piece in text.split(" ") if piece] for text in (source, target)]
    weights = load(Path(checkpoint, "model.safetensors"))
    print(f"{log_probability(weights, *pieces, config['heads'], ids['<s>'], ids['</s>']):.6f}")


if __name__ == "__main__":
    main()
