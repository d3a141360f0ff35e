#!/usr/bin/env python3
"""Writes tests/model/data/flops_architectures.json: forward FLOPs of the other architectures by PyTorch's counter.

    python3 tools/goldens/flops_architectures.py        (needs torch 2.13)

Each model is its published equations in matrix products and convolutions, on one sentence pair; the counter
(torch.utils.flop_counter) counts them as they run. Element-wise operations cost nothing there.
"""

import json
import pathlib

import torch
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

VOCABULARY, SOURCE, TARGET = 40, 7, 5
RECURRENT = dict(architecture="recurrent", d_model=6, hidden=10, d_attention=8)
CASES = [
    {**RECURRENT},
    {**RECURRENT, "cell": "gru", "attention": "dot", "decoder_layers": 1},
    {**RECURRENT, "encoder_layers": 4, "decoder_layers": 4, "encoder_directions": "bottom", "residual": True},
    {**RECURRENT, "input_feeding": True},
    {**RECURRENT, "decoder": "luong", "input_feeding": True, "encoder_directions": "forward", "attention": "dot"},
    {**RECURRENT, "decoder": "luong", "encoder_layers": 2, "decoder_layers": 3},
    dict(architecture="convolutional", d_model=6, encoder=[dict(layers=2, width=10, kernel=3)],
         decoder=[dict(layers=3, width=10, kernel=3)]),
    dict(architecture="convolutional", d_model=8,
         encoder=[dict(layers=2, width=4, kernel=3), dict(layers=1, width=6, kernel=5)],
         decoder=[dict(layers=1, width=4, kernel=2), dict(layers=2, width=12, kernel=1)]),
    dict(architecture="bytenet", d_model=8, hidden=4, kernel=3, repeats=2, dilations=[1, 2], length_factor=1.5),
    dict(architecture="bytenet", d_model=10, hidden=6, kernel=5, repeats=1, dilations=[1, 3, 9], length_factor=1.0),
]


def product(x, outputs):
    return x @ torch.randn(x.shape[-1], outputs)


def convolution(x, outputs, kernel, dilation=1):
    """As many positions as before; which side is padded makes no difference to the count."""
    padded = F.pad(x.T[None], ((kernel - 1) * dilation, 0))
    return F.conv1d(padded, torch.randn(outputs, x.shape[1], kernel), dilation=dilation)[0].T


def recurrence(x, hidden, gates, fed=0):
    """One direction, position by position; each reads its input, what is fed to it, and its state."""
    rows, state = [], torch.zeros(1, hidden)
    for row in x.split(1):
        product(torch.cat([row, torch.zeros(1, fed)], 1), gates * hidden)
        product(state, gates * hidden)
        rows.append(state)
    return torch.cat(rows)


def recurrent(c, source, target):
    hidden, width = c["hidden"], c["d_model"]
    gates = 3 if c.get("cell") == "gru" else 4
    directions, gnmt = c.get("encoder_directions", "both"), c.get("decoder", "gnmt") == "gnmt"
    x = source
    for i in range(c.get("encoder_layers", 1)):
        both = directions == "both" or (directions == "bottom" and i == 0)
        x = torch.cat([recurrence(x, hidden, gates) for _ in range(2 if both else 1)], 1)
    layers = c.get("decoder_layers", 2)
    for _ in range(layers):
        product(x.mean(0, keepdim=True), hidden)  # the layer's first state

    def attend(states):
        keys, queries = product(x, c["d_attention"]), product(states, c["d_attention"])
        if c.get("attention", "additive") == "dot":
            scores = queries @ keys.T
        else:
            scores = (torch.tanh(queries[:, None] + keys[None]).flatten(0, 1) @ torch.randn(c["d_attention"], 1)).view(
                len(states), len(x))
        return scores.softmax(1) @ x

    fed = (x.shape[1] if gnmt else width) if c.get("input_feeding") else 0
    y = recurrence(target, hidden, gates, fed)
    context = attend(y) if gnmt else None
    for _ in range(1, layers):
        y = recurrence(torch.cat([y, context], 1) if gnmt else y, hidden, gates)
    if gnmt:
        return product(torch.cat([y, context, target], 1), width)
    return product(torch.cat([y, attend(y)], 1), width)


def convolutional(c, source, target):
    layers = lambda stacks: [(s["width"], s["kernel"]) for s in stacks for _ in range(s["layers"])]
    width = c["d_model"]

    def side(x, stacks, memory=None):
        x = product(x, stacks[0]["width"])
        for channels, kernel in layers(stacks):
            residual = x if x.shape[1] == channels else product(x, channels)
            x = F.glu(convolution(x, 2 * channels, kernel), 1)
            if memory is not None:
                x = product((product(x, width) @ memory.T).softmax(1) @ memory, channels) + x
            x = x + residual
        return product(x, width)

    return side(target, c["decoder"], side(source, c["encoder"]))


def bytenet(c, source, target):
    def blocks(x):
        for dilation in c["dilations"] * c["repeats"]:
            inner = convolution(product(x, c["hidden"]), c["hidden"], c["kernel"], dilation)
            x = x + product(inner, c["d_model"])
        return x

    unfolded = -int(-len(source) * c["length_factor"] // 1)
    memory = blocks(F.pad(source, (0, 0, 0, unfolded - len(source))))
    both = torch.cat([F.pad(memory, (0, 0, 0, len(target)))[: len(target)], target], 1)
    return blocks(convolution(both, c["d_model"], c["kernel"]))


def forward_flops(c):
    source, target = torch.randn(SOURCE, c["d_model"]), torch.randn(TARGET, c["d_model"])
    model = dict(recurrent=recurrent, convolutional=convolutional, bytenet=bytenet)[c["architecture"]]
    with FlopCounterMode(display=False) as counter:
        product(model(c, source, target), VOCABULARY)
    return counter.get_total_flops()


def main():
    out = pathlib.Path(__file__).resolve().parents[2] / "tests/model/data/flops_architectures.json"
    rows = [dict(model=c, vocabulary=VOCABULARY, source=SOURCE, target=TARGET, forward=forward_flops(c)) for c in CASES]
    out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
