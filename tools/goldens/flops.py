#!/usr/bin/env python3
"""Writes tests/model/data/flops.json and flops_architectures.json: FLOPs by PyTorch's counter.

    pip install torch==2.13.0 && python3 tools/goldens/flops.py

Each model is its published equations written out in matrix products and convolutions, on one sentence pair; the counter
(torch.utils.flop_counter) counts them as they run. Element-wise operations cost nothing there. Transformers: forward and
backward; masked positions are counted too, so `masked` says how many of the forward operations fall on them: 2 · layers ·
heads · (d_k + d_v) for each masked pair of positions. Other architectures: forward.
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


VOCABULARY, SOURCE, TARGET = 40, 7, 5
RECURRENT = dict(architecture="recurrent", d_model=6, hidden=10, d_attention=8)
ARCHITECTURES = [
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
    folder, rows = pathlib.Path(__file__).resolve().parents[2] / "tests/model/data", []
    for c in CASES:
        torch.manual_seed(1)
        forward, training = training_step(c)
        pairs = masked_pairs(c, "encoder", c["source"]) + masked_pairs(c, "decoder", c["target"])
        masked = 2 * c["layers"] * c["heads"] * (c["d_k"] + c["d_v"]) * pairs
        rows.append({**c, "forward": forward, "training": training, "masked": masked})
    others = [dict(model=c, vocabulary=VOCABULARY, source=SOURCE, target=TARGET, forward=forward_flops(c))
              for c in ARCHITECTURES]
    for name, found in (("flops", rows), ("flops_architectures", others)):
        (folder / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
