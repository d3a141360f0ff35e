"""Writes tests/model/data/transformer_parts.safetensors: log-probabilities of small Transformers with one option each.

    python3 tools/goldens/transformer_parts.py        (needs torch and safetensors)

Computed by tools/attn_torch in float64 from seeded weights, which are stored, too: "CASE/NAME"; the options of all cases
are in the metadata.
"""
import json
import sys

import torch
from optimizers import ROOT, write_tensors

sys.path.insert(0, str(ROOT / "tools"))
from attn_torch import batch, make_model  # noqa: E402  # its folder must be on the path first

PAPER = {"architecture": "transformer", "layers": 1, "d_model": 8, "d_ff": 12, "heads": 4, "kv_heads": "auto", "d_k": 4, "d_v": 2,
         "position": "sinusoidal", "norm": "post", "norm_kind": "layer", "qk_norm": "none", "bias": True,
         "feed_forward_bias": True, "activation": "relu", "mup_base": 0, "embedding_sharing": "all", "dropout": 0,
         "attention_dropout": 0, "activation_dropout": 0, "word_positions": False, "deterministic_attention": False,
         "encoder_mixer": {"kind": "attention"}, "decoder_mixer": {"kind": "attention"}}
CASES = {"paper": {}, "alibi": {"position": "alibi"}, "t5_bias": {"position": "t5_bias"},
         "relative": {"position": "relative"}, "swiglu": {"activation": "swiglu"}, "geglu": {"activation": "geglu"},
         "scale_norm": {"norm_kind": "scale"}, "deep_norm": {"norm": "deep"}, "qk_l2": {"qk_norm": "l2"},
         "qk_rms": {"qk_norm": "rms", "position": "rotary"}, "grouped": {"kv_heads": 2}, "multi_query": {"kv_heads": 1},
         "no_biases": {"bias": False, "feed_forward_bias": False}, "mup": {"mup_base": 4},
         "deep_norm_layers": {"norm": "deep", "layers": 3}}
CLASSES, BOS, EOS = 11, 1, 2
SOURCE, TARGET = list(range(3, 11)) * 3, [9, 8, 7, 3, 4, 5, 6] * 3


def main():
    out = {}
    for number, (case, change) in enumerate(CASES.items()):
        torch.manual_seed(number)
        model = make_model(PAPER | change, {"shared": CLASSES})
        model.load_state_dict({name: 0.6 * torch.randn(weights.shape) for name, weights in model.state_dict().items()})
        out |= {f"{case}/{name}": weights.clone() for name, weights in model.state_dict().items()}
        source, target, following = batch([SOURCE], [TARGET], BOS, EOS)
        with torch.no_grad():
            found = model.double()(source, target).log_softmax(2).gather(2, following.unsqueeze(2))
        assert found.isfinite().all()
        out[f"{case}/log_probabilities"] = found.flatten()
    out |= {"source": torch.tensor(SOURCE), "target": torch.tensor(TARGET)}
    write_tensors("model/data/transformer_parts", out, cases=json.dumps(CASES))


if __name__ == "__main__":
    main()
