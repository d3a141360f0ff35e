"""Writes tests/model/data/pytorch_layers.safetensors: PyTorch's encoder and decoder layers, forward and gradients.

    python3 tools/goldens/pytorch_layers.py        (needs torch 2.11 to 2.13 and safetensors)

For post- and pre-norm: parameters under the names of this project, padded inputs with their lengths, the sum-weighted outputs and the
gradient of every parameter and input. Padding does not enter the loss, so it has no gradient.
"""
import torch
from optimizers import write_tensors

D, HEADS, FF, LENGTHS_S, LENGTHS_T = 16, 2, 24, [5, 3, 7], [4, 6, 2]

OURS = {  # PyTorch's name -> ours; in_proj is split below
    "self_attn.out_proj": "self_attention.output",
    "multihead_attn.out_proj": "cross_attention.output",
    "linear1": "feed_forward.inner",
    "linear2": "feed_forward.outer",
}
NORMS = {
    "encoder": {"norm1": "self_attention_sublayer.norm", "norm2": "feed_forward_sublayer.norm"},
    "decoder": {
        "norm1": "self_attention_sublayer.norm",
        "norm2": "cross_attention_sublayer.norm",
        "norm3": "feed_forward_sublayer.norm",
    },
}


def renamed(kind, name, tensor):
    """One PyTorch parameter (or its gradient) as our (name, tensor) pairs."""
    if ".in_proj_" in name:
        module = {"self_attn": "self_attention", "multihead_attn": "cross_attention"}[name.split(".")[0]]
        leaf = name.rsplit("_", 1)[1]
        return [(f"{module}.{part}.{leaf}", piece.contiguous()) for part, piece in zip(("query", "key", "value"), tensor.chunk(3))]
    module, leaf = name.rsplit(".", 1)
    return [(f"{ {**OURS, **NORMS[kind]}[module]}.{leaf}", tensor.contiguous())]


def padding(lengths):
    return torch.arange(max(lengths))[None, :] >= torch.tensor(lengths)[:, None]


def rows(padded, lengths):
    return torch.cat([padded[b, :n] for b, n in enumerate(lengths)]).contiguous()


def add_case(out, kind, pre):
    torch.manual_seed(3 if kind == "encoder" else 4)
    layer_type = torch.nn.TransformerEncoderLayer if kind == "encoder" else torch.nn.TransformerDecoderLayer
    layer = layer_type(D, HEADS, FF, dropout=0.0, batch_first=True, norm_first=pre)
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter, 0.0, 0.3)
    source = torch.randn(len(LENGTHS_S), max(LENGTHS_S), D, requires_grad=True)
    target = torch.randn(len(LENGTHS_T), max(LENGTHS_T), D, requires_grad=True)
    if kind == "encoder":
        result, lengths = layer(source, src_key_padding_mask=padding(LENGTHS_S)), LENGTHS_S
    else:
        future = torch.triu(torch.ones(max(LENGTHS_T), max(LENGTHS_T), dtype=torch.bool), 1)
        result, lengths = layer(target, source, tgt_mask=future, tgt_key_padding_mask=padding(LENGTHS_T),
                                memory_key_padding_mask=padding(LENGTHS_S)), LENGTHS_T
    upstream = torch.randn(sum(lengths), D)
    (rows(result, lengths) * upstream).sum().backward()
    case = f"{kind}.{'pre' if pre else 'post'}."
    out[case + "source"], out[case + "target"] = rows(source.detach(), LENGTHS_S), rows(target.detach(), LENGTHS_T)
    out[case + "upstream"], out[case + "output"] = upstream, rows(result.detach(), lengths)
    out[case + "source_gradient"] = rows(source.grad, LENGTHS_S)
    if kind == "decoder":
        out[case + "target_gradient"] = rows(target.grad, LENGTHS_T)
    for name, parameter in layer.named_parameters():
        for key, value in renamed(kind, name, parameter.detach()):
            out[case + "parameter." + key] = value.clone()
        for key, value in renamed(kind, name, parameter.grad):
            out[case + "gradient." + key] = value.clone()


def main():
    out = {}
    for kind in ("encoder", "decoder"):
        for pre in (False, True):
            add_case(out, kind, pre)
    write_tensors("model/data/pytorch_layers", out)


if __name__ == "__main__":
    main()
