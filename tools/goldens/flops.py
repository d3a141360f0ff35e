#!/usr/bin/env python3
"""Writes tests/model/data/flops.json: FLOPs of a training step by PyTorch's counter.

    pip install torch==2.13.0 && python3 tools/goldens/flops.py

The model is the paper's equations written out in matrix products, forward and backward, on one sentence pair; the
counter (torch.utils.flop_counter) counts them as they run. It counts masked positions too, so `masked` says how many of
the forward operations fall on them: 2 · layers · heads · (d_k + d_v) for each masked pair of positions.
"""

import json
import pathlib

import torch
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

CASES = [
    {"layers": 1, "d_model": 32, "d_ff": 64, "heads": 2, "d_k": 16, "d_v": 16, "vocabulary": 100, "source": 7, "target": 5},
    {"layers": 2, "d_model": 64, "d_ff": 96, "heads": 4, "d_k": 8, "d_v": 24, "vocabulary": 200, "source": 11, "target": 13},
    {"layers": 3, "d_model": 48, "d_ff": 200, "heads": 1, "d_k": 48, "d_v": 16, "vocabulary": 50, "source": 1, "target": 9},
]
SMALL = {"layers": 2, "d_model": 24, "d_ff": 40, "heads": 3, "d_k": 8, "d_v": 6, "vocabulary": 60, "source": 12, "target": 10}
MIXERS = [
    ({"kind": "restricted_attention", "window": 5}, {"kind": "restricted_attention", "window": 4}),
    ({"kind": "restricted_attention", "window": 40}, {"kind": "restricted_attention", "window": 40}),
    ({"kind": "convolution", "kernel": 5}, {"kind": "convolution", "kernel": 4, "gated": True}),
    ({"kind": "convolution", "kernel": 3, "dilation": 2}, {"kind": "convolution", "kernel": 3, "dilation": 2}),
    ({"kind": "recurrence", "cell": "lstm"}, {"kind": "recurrence", "cell": "lstm"}),
    ({"kind": "recurrence", "cell": "gru", "bidirectional": False}, {"kind": "recurrence", "cell": "gru"}),
    ({"kind": "none"}, {"kind": "none"}),
]
CASES += [{**SMALL, "encoder_mixer": encoder, "decoder_mixer": decoder} for encoder, decoder in MIXERS]
# Norms, rotations and biases of scores are element-wise and cost nothing here.
NEWER = [{"activation": "swiglu"}, {"activation": "geglu"}, {"heads": 4, "kv_heads": 2}, {"heads": 4, "kv_heads": 1},
         {"position": "relative"}, {"position": "rotary", "norm": "pre", "norm_kind": "rms", "qk_norm": "rms"},
         {"position": "t5_bias"},
         {"heads": 4, "kv_heads": 2, "activation": "swiglu", "position": "relative", "norm": "pre", "norm_kind": "rms"}]
CASES += [{**SMALL, **change} for change in NEWER]
CLIP = 16  # of relative positions, Shaw et al. 2018


def weight(*shape):
    return torch.randn(*shape, requires_grad=True)


class Attention:
    """`relative`: the number of vectors of relative positions of each head; 0: none."""

    def __init__(self, c, relative=0):
        self.c = c
        d, h, kv = c["d_model"], c["heads"], c.get("kv_heads") or c["heads"]
        self.kv, self.relative = kv, relative
        self.q, self.k = weight(d, h * c["d_k"]), weight(d, kv * c["d_k"])
        self.v, self.o = weight(d, kv * c["d_v"]), weight(h * c["d_v"], d)
        if relative:
            self.relative_k, self.relative_v = weight(h, relative, c["d_k"]), weight(h, relative, c["d_v"])

    def of_keys(self, rows):
        """[h, L, width]: each head of keys or values for its group of queries."""
        return rows.unflatten(1, (self.kv, -1)).transpose(0, 1).repeat_interleave(self.c["heads"] // self.kv, 0)

    def __call__(self, x, memory):
        q = (x @ self.q).unflatten(1, (self.c["heads"], -1)).transpose(0, 1)
        k, v = self.of_keys(memory @ self.k), self.of_keys(memory @ self.v)
        scores = torch.bmm(q, k.transpose(1, 2))
        if self.relative:
            at = (torch.arange(len(memory)) - torch.arange(len(x))[:, None]).clamp(-CLIP, self.relative - CLIP - 1) + CLIP
            at = at.expand(len(q), -1, -1)
            scores = scores + torch.bmm(q, self.relative_k.transpose(1, 2)).gather(2, at)
        weights = torch.softmax(scores, -1)
        out = torch.bmm(weights, v)
        if self.relative:
            by_distance = torch.zeros(*weights.shape[:2], self.relative).scatter_add(2, at, weights)
            out = out + torch.bmm(by_distance, self.relative_v)
        return out.transpose(0, 1).flatten(1) @ self.o


class Convolution:
    def __init__(self, c, mixer, layer, causal):
        kernel, outputs = mixer["kernel"], (2 if mixer.get("gated") else 1) * c["d_model"]
        self.w, self.gated = weight(outputs, c["d_model"], kernel), mixer.get("gated")
        self.distance = mixer.get("dilation", 1) ** layer
        reach = (kernel - 1) * self.distance
        self.padding = (reach, 0) if causal else (reach // 2, reach // 2)

    def __call__(self, x, _):
        y = F.conv1d(F.pad(x.t()[None], self.padding), self.w, dilation=self.distance)[0].t()
        return F.glu(y) if self.gated else y


class Recurrence:
    def __init__(self, c, mixer, bidirectional):
        d = c["d_model"]
        self.hidden, self.gates = (d // 2 if bidirectional else d), (4 if mixer["cell"] == "lstm" else 3)
        size = self.gates * self.hidden
        self.directions = [(weight(d, size), weight(self.hidden, size)) for _ in range(2 if bidirectional else 1)]

    def run(self, x, w, u):
        """The products of a cell; its gates cost nothing here, so one form stands for both cells."""
        h, states = weight(1, self.hidden), []
        for row in x.unbind():
            h = (row[None] @ w + h @ u).unflatten(1, (self.gates, -1)).tanh().sum(1)
            states.append(h)
        return torch.cat(states)

    def __call__(self, x, _):
        outputs = [self.run(x, *self.directions[0])]
        if len(self.directions) == 2:
            outputs.append(self.run(x.flip(0), *self.directions[1]).flip(0))
        return torch.cat(outputs, 1)


def mixer_of(c, side, layer):
    mixer = c.get(side + "_mixer", {"kind": "attention"})
    if mixer["kind"] == "convolution":
        return Convolution(c, mixer, layer, side == "decoder")
    if mixer["kind"] == "recurrence":
        return Recurrence(c, mixer, side == "encoder" and mixer.get("bidirectional", True))
    if mixer["kind"] == "none":
        return lambda x, _: 0
    relative = {"encoder": 2 * CLIP + 1, "decoder": CLIP + 1}[side]  # a decoder sees no later positions
    return Attention(c, relative if c.get("position") == "relative" else 0)


def masked_pairs(c, side, length):
    mixer = c.get(side + "_mixer", {"kind": "attention"})
    window = mixer.get("window", 2 * length)
    pairs = [(i, j) for i in range(length) for j in range(length)]
    if "attention" not in mixer["kind"]:
        return 0
    if side == "encoder":
        return sum(abs(i - j) > window // 2 for i, j in pairs)
    return sum(j > i or i - j >= window for i, j in pairs)


def training_step(c):
    embedding = weight(c["vocabulary"], c["d_model"])
    gated = c.get("activation") in ("swiglu", "geglu")

    def feed_forward(x, w1, w2, *gate):
        hidden = F.silu(x @ gate[0]) * (x @ w1) if gate else F.relu(x @ w1)
        return hidden @ w2

    networks = lambda: tuple(weight(*(c["d_model"], c["d_ff"])[::side]) for side in ((1, -1, 1) if gated else (1, -1)))
    source = torch.randint(c["vocabulary"], (c["source"],))
    target = torch.randint(c["vocabulary"], (c["target"],))
    encoder = [(mixer_of(c, "encoder", i), networks()) for i in range(c["layers"])]
    decoder = [(mixer_of(c, "decoder", i), Attention(c), networks()) for i in range(c["layers"])]

    def forward():
        x, y = embedding[source], embedding[target]
        for own, w in encoder:
            x = x + own(x, x)
            x = x + feed_forward(x, *w)
        for own, cross, w in decoder:
            y = y + own(y, y)
            y = y + cross(y, x)
            y = y + feed_forward(y, *w)
        return F.cross_entropy(y @ embedding.t(), target)

    with FlopCounterMode(display=False) as counter:
        loss = forward()
    forward_flops = counter.get_total_flops()
    with FlopCounterMode(display=False) as counter:
        forward().backward()
    return forward_flops, counter.get_total_flops()


def main():
    out = pathlib.Path(__file__).resolve().parents[2] / "tests/model/data/flops.json"
    rows = []
    for c in CASES:
        torch.manual_seed(1)
        forward, training = training_step(c)
        pairs = masked_pairs(c, "encoder", c["source"]) + masked_pairs(c, "decoder", c["target"])
        masked = 2 * c["layers"] * c["heads"] * (c["d_k"] + c["d_v"]) * pairs
        rows.append({**c, "forward": forward, "training": training, "masked": masked})
    out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
