#!/usr/bin/env python3
"""Writes tests/model/data/transformer_parts.safetensors: log-probabilities of small Transformers with one option each.

    python3 tools/goldens/transformer_parts.py        (needs numpy and safetensors)

Computed by tools/numpy_transformer.py in float64 from seeded weights, which are stored, too: "CASE/NAME". The C++ test
has the same list of options.
"""
import pathlib
import sys

import numpy as np
from safetensors.numpy import save_file

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from numpy_transformer import Transformer  # noqa: E402  # its folder must be on the path first

PAPER = {"layers": 1, "d_model": 8, "d_ff": 12, "heads": 4, "kv_heads": 0, "d_k": 4, "d_v": 2, "position": "sinusoidal",
         "norm": "post", "norm_kind": "layer", "qk_norm": "none", "bias": True, "feed_forward_bias": True,
         "activation": "relu", "mup_base": 0}
CASES = {"paper": {}, "alibi": {"position": "alibi"}, "t5_bias": {"position": "t5_bias"},
         "relative": {"position": "relative"}, "swiglu": {"activation": "swiglu"}, "geglu": {"activation": "geglu"},
         "scale_norm": {"norm_kind": "scale"}, "deep_norm": {"norm": "deep"}, "qk_l2": {"qk_norm": "l2"},
         "qk_rms": {"qk_norm": "rms", "position": "rotary"}, "grouped": {"kv_heads": 2}, "multi_query": {"kv_heads": 1},
         "no_biases": {"bias": False, "feed_forward_bias": False}, "mup": {"mup_base": 4},
         "deep_norm_layers": {"norm": "deep", "layers": 3}}
CLASSES, BOS, EOS = 11, 1, 2
SOURCE, TARGET = list(range(3, 11)) * 3, [9, 8, 7, 3, 4, 5, 6] * 3


def shapes(c):
    """{name: shape} of all weights."""
    out, d, kv = {"shared_weight": (CLASSES, c["d_model"])}, c["d_model"], c["kv_heads"] or c["heads"]

    def linear(name, inputs, outputs, bias):
        out[name + ".weight"] = (outputs, inputs)
        if bias:
            out[name + ".bias"] = (outputs,)

    def norm(name):
        out[name + ".weight"] = (1,) if c["norm_kind"] == "scale" else (d,)
        if c["norm_kind"] == "layer":
            out[name + ".bias"] = (d,)

    for side, stack, kinds in (("source", "encoder", ["self"]), ("target", "decoder", ["self", "cross"])):
        if c["position"] == "t5_bias":
            out[side + "_embedding.position.weight"] = (32, c["heads"])
        for layer in range(c["layers"]):
            at = f"{stack}.layers.{layer}."
            for kind in kinds:
                name = f"{at}{kind}_attention"
                for part, width in (("query", c["heads"] * c["d_k"]), ("key", kv * c["d_k"]), ("value", kv * c["d_v"])):
                    linear(f"{name}.{part}", d, width, c["bias"])
                linear(name + ".output", c["heads"] * c["d_v"], d, c["bias"])
                if c["qk_norm"] == "l2":
                    out[name + ".qk_norm.scale"] = (1,)
                if c["qk_norm"] == "rms":
                    out[name + ".qk_norm.query_weight"] = out[name + ".qk_norm.key_weight"] = (c["d_k"],)
                if c["position"] == "relative" and kind == "self":
                    out[name + ".relative.key_weight"] = (c["heads"], 33, c["d_k"])
                    out[name + ".relative.value_weight"] = (c["heads"], 33, c["d_v"])
                norm(name + "_sublayer.norm")
            if c["activation"] in ("swiglu", "geglu"):
                linear(at + "feed_forward.gate", d, c["d_ff"], c["feed_forward_bias"])
            linear(at + "feed_forward.inner", d, c["d_ff"], c["feed_forward_bias"])
            linear(at + "feed_forward.outer", c["d_ff"], d, c["feed_forward_bias"])
            norm(at + "feed_forward_sublayer.norm")
    return out


def main():
    out = {}
    for number, (case, change) in enumerate(CASES.items()):
        random = np.random.default_rng(number)
        config = PAPER | change
        weights = {name: random.normal(0, 0.6, shape).astype(np.float32) for name, shape in shapes(config).items()}
        model = Transformer({name: array.astype(np.float64) for name, array in weights.items()}, config)
        result = model.log_probabilities(SOURCE, TARGET, BOS, EOS)
        assert np.isfinite(result).all()
        out |= {f"{case}/{name}": array for name, array in weights.items()}
        out[f"{case}/log_probabilities"] = result.astype(np.float32)
    out["source"], out["target"] = np.array(SOURCE, np.float32), np.array(TARGET, np.float32)
    path = ROOT / "tests/model/data/transformer_parts.safetensors"
    save_file(out, path)
    print(f"{path}: {len(out)} tensors, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
