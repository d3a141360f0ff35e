#!/usr/bin/env python3
"""Writes tests/model/data/flops.json: FLOPs of a training step by PyTorch's counter.

    pip install torch==2.13.0 && python3 tools/goldens/flops.py [OUT]

The model is the paper's equations written out in matrix products, forward and backward, on one sentence pair; the
counter (torch.utils.flop_counter) counts them as they run. It counts masked positions too, so `causal` says how many of
the forward operations fall on them: 2 · layers · heads · (d_k + d_v) · (T² − T (T + 1) / 2).
"""

import argparse
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


def weight(*shape):
    return torch.randn(*shape, requires_grad=True)


class Attention:
    def __init__(self, c):
        self.c = c
        d, h = c["d_model"], c["heads"]
        self.q, self.k = weight(d, h * c["d_k"]), weight(d, h * c["d_k"])
        self.v, self.o = weight(d, h * c["d_v"]), weight(h * c["d_v"], d)

    def __call__(self, x, memory):
        h = self.c["heads"]
        q = (x @ self.q).unflatten(1, (h, -1)).transpose(0, 1)
        k = (memory @ self.k).unflatten(1, (h, -1)).transpose(0, 1)
        v = (memory @ self.v).unflatten(1, (h, -1)).transpose(0, 1)
        weights = torch.softmax(torch.bmm(q, k.transpose(1, 2)), -1)
        return torch.bmm(weights, v).transpose(0, 1).flatten(1) @ self.o


def training_step(c):
    embedding = weight(c["vocabulary"], c["d_model"])
    feed_forward = lambda x, w1, w2: F.relu(x @ w1) @ w2
    networks = lambda: (weight(c["d_model"], c["d_ff"]), weight(c["d_ff"], c["d_model"]))
    source = torch.randint(c["vocabulary"], (c["source"],))
    target = torch.randint(c["vocabulary"], (c["target"],))
    encoder = [(Attention(c), networks()) for _ in range(c["layers"])]
    decoder = [(Attention(c), Attention(c), networks()) for _ in range(c["layers"])]

    def forward():
        x, y = embedding[source], embedding[target]
        for attention, w in encoder:
            x = x + attention(x, x)
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
    parser = argparse.ArgumentParser(description=__doc__)
    default = pathlib.Path(__file__).parents[2] / "tests/model/data/flops.json"
    parser.add_argument("out", nargs="?", type=pathlib.Path, default=default)
    out = parser.parse_args().out
    rows = []
    for c in CASES:
        torch.manual_seed(1)
        forward, training = training_step(c)
        t = c["target"]
        causal = 2 * c["layers"] * c["heads"] * (c["d_k"] + c["d_v"]) * (t * t - t * (t + 1) // 2)
        rows.append({**c, "forward": forward, "training": training, "causal": causal})
    out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
