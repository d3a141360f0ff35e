"""Writes tests/model/data/flops.json: FLOPs by PyTorch's counter.

    python3 tools/goldens/flops.py        (needs torch 2.13 and safetensors)

The models of tools/attn_torch on one sentence pair: torch.utils.flop_counter counts their matrix products as they run.
Element-wise operations cost nothing there. Transformers: forward and backward; masked positions are counted too, so
`masked` says how many of the forward operations fall on them: 2 · layers · heads · (d_k + d_v) for each masked pair of
positions. Other architectures: forward.
"""
import sys

import torch
from optimizers import ROOT, write_json
from torch.utils.flop_counter import FlopCounterMode
from transformer_parts import PAPER

sys.path.insert(0, str(ROOT / "tools"))
from attn_torch import batch, make_model  # noqa: E402  # its folder must be on the path first
from attn_torch.layers import Recurrence  # noqa: E402

CASES = [
    ({"layers": 1, "d_model": 32, "d_ff": 64, "heads": 2, "d_k": 16, "d_v": 16}, (100, 7, 5)),
    ({"layers": 2, "d_model": 64, "d_ff": 96, "heads": 4, "d_k": 8, "d_v": 24}, (200, 11, 13)),
    ({"layers": 3, "d_model": 48, "d_ff": 200, "heads": 1, "d_k": 48, "d_v": 16}, (50, 1, 9)),
]  # the model, then the vocabulary's size and the lengths of source and target
SMALL = {"layers": 2, "d_model": 24, "d_ff": 40, "heads": 3, "d_k": 8, "d_v": 6}
MIXERS = [
    ({"kind": "restricted_attention", "window": 5}, {"kind": "restricted_attention", "window": 4}),
    ({"kind": "restricted_attention", "window": 40}, {"kind": "restricted_attention", "window": 40}),
    ({"kind": "convolution", "kernel": 5}, {"kind": "convolution", "kernel": 4, "gated": True}),
    ({"kind": "convolution", "kernel": 3, "dilation": 2}, {"kind": "convolution", "kernel": 3, "dilation": 2}),
    ({"kind": "recurrence", "cell": "lstm"}, {"kind": "recurrence", "cell": "lstm"}),
    ({"kind": "recurrence", "cell": "gru", "bidirectional": False}, {"kind": "recurrence", "cell": "gru"}),
    ({"kind": "none"}, {"kind": "none"}),
]
CASES += [({**SMALL, "encoder_mixer": encoder, "decoder_mixer": decoder}, (60, 12, 10)) for encoder, decoder in MIXERS]
# Norms, rotations and biases of scores are element-wise and cost nothing here.
NEWER = [{"activation": "swiglu"}, {"activation": "geglu"}, {"heads": 4, "kv_heads": 2}, {"heads": 4, "kv_heads": 1},
         {"position": "relative"}, {"position": "rotary", "norm": "pre", "norm_kind": "rms", "qk_norm": "rms"},
         {"position": "t5_bias"},
         {"heads": 4, "kv_heads": 2, "activation": "swiglu", "position": "relative", "norm": "pre", "norm_kind": "rms"}]
CASES += [({**SMALL, **change}, (60, 12, 10)) for change in NEWER]
MIXER = {"kind": "attention", "gated": False, "dilation": 1}


def masked_pairs(c, side, length):
    mixer = c.get(side + "_mixer", {"kind": "attention"})
    window = mixer.get("window", 2 * length)
    pairs = [(i, j) for i in range(length) for j in range(length)]
    if "attention" not in mixer["kind"]:
        return 0
    if side == "encoder":
        return sum(abs(i - j) > window // 2 for i, j in pairs)
    return sum(j > i or i - j >= window for i, j in pairs)


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
DEFAULTS = {
    "transformer": PAPER,
    "recurrent": {"encoder_layers": 1, "decoder_layers": 2, "cell": "lstm", "attention": "additive", "decoder": "gnmt",
                  "encoder_directions": "both", "input_feeding": False, "residual": False},
    "convolutional": {"max_positions": 16}, "bytenet": {},
}


def counted(c, vocabulary, source, target):
    """FLOPs of forward, and of forward and backward."""
    architecture = c.get("architecture", "transformer")
    options = {"embedding_sharing": "all", "dropout": 0.0, **DEFAULTS[architecture], **c}
    for side, defaults in (("encoder_mixer", {**MIXER, "bidirectional": True}), ("decoder_mixer", MIXER)):
        options[side] = {**defaults, **c.get(side, {})}
    model = make_model(options, {"shared": vocabulary})
    inputs = batch([[0] * (source - 1)], [[0] * (target - 1)], 0, 0)[:2]
    found = []
    for train in (False, True):
        with FlopCounterMode(display=False) as counter:
            logits = model(*inputs)
            if train:
                logits.sum().backward()
        found.append(counter.get_total_flops())
    if options.get("position") == "relative":  # the decoder sees no later positions
        unseen = 2 * c["layers"] * c["heads"] * (c["d_k"] + c["d_v"]) * target * 16
        found = [found[0] - unseen, found[1] - 3 * unseen]
    return found


def begin(layer, hidden, of_zeros=Recurrence.begin):
    """The first state: its gradient is counted, too."""
    return of_zeros(layer, hidden.requires_grad_() if hidden.is_leaf else hidden)


def main():
    Recurrence.begin = begin
    torch.backends.mkldnn.enabled = False  # its LSTM is not counted
    rows = []
    for c, (vocabulary, source, target) in [*CASES, *((c, (40, 7, 5)) for c in ARCHITECTURES)]:
        forward, training = counted(c, vocabulary, source, target)
        rows.append(dict(model=c, vocabulary=vocabulary, source=source, target=target, forward=forward))
        if "architecture" not in c:
            pairs = masked_pairs(c, "encoder", source) + masked_pairs(c, "decoder", target)
            masked = 2 * c["layers"] * c["heads"] * (c["d_k"] + c["d_v"]) * pairs
            rows[-1].update(training=training, masked=masked)
    write_json("model/data/flops", rows, 1)


if __name__ == "__main__":
    main()
