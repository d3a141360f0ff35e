"""Writes tests/model/data/rms_rotary.safetensors: RMSNorm and self-attention with rotary positions, forward and gradients.

    python3 tools/goldens/rms_rotary.py        (needs torch 2.11 to 2.13 and safetensors)

RMSNorm is torch.nn.RMSNorm of a sum, which must agree with the formula written out. Rotary positions are products of
complex numbers, one for each pair (2i, 2i + 1) of a head, by exp(i p 10000^(-2i/d_k)); attention is a loop over
sentences and heads. Everything is computed in float64 and written as float32.
"""
import math

import torch
from optimizers import write_tensors

WIDTH, HEADS, D_K, D_V, LENGTHS = 12, 2, 6, 4, [5, 3, 7]


def add_rms(out):
    torch.manual_seed(5)
    x, update = (torch.randn(9, WIDTH, requires_grad=True) for _ in range(2))
    norm = torch.nn.RMSNorm(WIDTH, eps=1e-6)
    torch.nn.init.normal_(norm.weight)
    result, upstream = norm(x + update), torch.randn(9, WIDTH)
    total = x + update
    formula = total / (total.pow(2).mean(1, keepdim=True) + 1e-6).sqrt() * norm.weight
    assert torch.allclose(result, formula, atol=1e-12)
    (result * upstream).sum().backward()
    out.update({"rms.x": x, "rms.update": update, "rms.weight": norm.weight, "rms.upstream": upstream,
                "rms.output": result, "rms.x_gradient": x.grad, "rms.weight_gradient": norm.weight.grad})


def rotated(x):
    """[L, HEADS * D_K] rows of one sentence, turned by their positions."""
    pairs = torch.view_as_complex(x.view(len(x), HEADS, D_K // 2, 2))
    rates = 10000.0 ** (-2.0 * torch.arange(D_K // 2) / D_K)
    angles = torch.arange(len(x))[:, None, None] * rates
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).reshape(x.shape)


def attention(x, linears, causal):
    rows = []
    for sentence in x.split(LENGTHS):
        q, k, v = (linears[name](sentence) for name in ("query", "key", "value"))
        heads = []
        for h in range(HEADS):
            keys, values = slice(h * D_K, (h + 1) * D_K), slice(h * D_V, (h + 1) * D_V)
            scores = rotated(q)[:, keys] @ rotated(k)[:, keys].T / math.sqrt(D_K)
            if causal:
                scores = scores + torch.full_like(scores, -math.inf).triu(1)
            heads.append(scores.softmax(1) @ v[:, values])
        rows.append(linears["output"](torch.cat(heads, 1)))
    return torch.cat(rows)


def add_rotary(out):
    torch.manual_seed(6)
    for causal in (False, True):
        x = torch.randn(sum(LENGTHS), WIDTH, requires_grad=True)
        linears = {"query": torch.nn.Linear(WIDTH, HEADS * D_K), "key": torch.nn.Linear(WIDTH, HEADS * D_K),
                   "value": torch.nn.Linear(WIDTH, HEADS * D_V), "output": torch.nn.Linear(HEADS * D_V, WIDTH)}
        for linear in linears.values():
            for parameter in linear.parameters():
                torch.nn.init.normal_(parameter, 0.0, 0.5)
        result, upstream = attention(x, linears, causal), torch.randn(sum(LENGTHS), WIDTH)
        (result * upstream).sum().backward()
        case = "causal." if causal else "whole."
        out.update({case + "x": x, case + "output": result, case + "upstream": upstream, case + "x_gradient": x.grad})
        for name, linear in linears.items():
            for leaf, parameter in linear.named_parameters():
                out[f"{case}parameter.{name}.{leaf}"] = parameter
                out[f"{case}gradient.{name}.{leaf}"] = parameter.grad


def main():
    torch.set_default_dtype(torch.float64)
    out = {}
    add_rms(out)
    add_rotary(out)
    write_tensors("model/data/rms_rotary", out)


if __name__ == "__main__":
    main()
