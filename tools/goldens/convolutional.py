"""Writes tests/model/data/convolutional.safetensors: ConvS2S by tools/attn_torch.

    python3 tools/goldens/convolutional.py        (needs torch 2.11 to 2.13 and safetensors)

"block." is a gated convolution with its residual sum; "model." a whole encoder-decoder from token numbers to the input of
the projection, with the gradients of all parameters. Everything is computed in float64 and written as float32.
"""
import sys

import torch
from optimizers import ROOT, write_tensors
from torch import nn

sys.path.insert(0, str(ROOT / "tools"))
from attn_torch import PADDING, make_model, pad  # noqa: E402  # its folder must be on the path first
from attn_torch.baselines import HALF_ROOT, GatedConvolution  # noqa: E402

WIDTH, VOCABULARY, POSITIONS = 6, 11, 8
ENCODER, DECODER = [(5, 3), (7, 1)], [(4, 3), (4, 2), (8, 3)]  # widths and kernels
SOURCES, TARGETS = [[4, 5, 6, 7, 8], [9, 3], [10, 4, 4]], [[1, 5, 6], [1, 9, 10, 3], [1]]


def add(out, case, result, module):
    """The result [N, outputs] of a module, and the gradients of its sum weighted by `upstream`."""
    upstream = torch.randn_like(result)
    (result * upstream).sum().backward()
    out.update({f"{case}.output": result, f"{case}.upstream": upstream})
    for name, parameter in module.named_parameters():
        out[f"{case}.parameter.{name}"], out[f"{case}.gradient.{name}"] = parameter, parameter.grad


def add_blocks(out):
    real = pad([[0] * length for length in (5, 1, 4)]) != PADDING
    for case, inputs, width, kernel, causal in (("centred", 4, 5, 3, False), ("causal", 5, 5, 4, True)):
        block = GatedConvolution(inputs, width, kernel, causal, 0.0)
        for parameter in block.parameters():
            nn.init.normal_(parameter, 0.0, 0.4)
        x = torch.randn(int(real.sum()), inputs, requires_grad=True)
        padded = torch.zeros(*real.shape, inputs).masked_scatter(real.unsqueeze(2), x)
        add(out, f"block.{case}", ((block(padded, real) + block.residual(padded)) * HALF_ROOT)[real], block)
        out.update({f"block.{case}.x": x, f"block.{case}.x_gradient": x.grad})


def add_model(out):
    stacks = {side: [{"layers": 1, "width": width, "kernel": kernel} for width, kernel in shapes]
              for side, shapes in (("encoder", ENCODER), ("decoder", DECODER))}
    model = make_model({"architecture": "convolutional", "d_model": WIDTH, "max_positions": POSITIONS, "dropout": 0.0,
                        "embedding_sharing": "all", **stacks}, {"shared": VOCABULARY})
    for name, parameter in model.named_parameters():
        nn.init.normal_(parameter, 0.0, 1.0 if name.endswith(("shared_weight", "positions")) else 0.4)
    source, target = pad(SOURCES), pad(TARGETS)
    encoded = model.encode(model.embed(source, "source"), source != PADDING)
    add(out, "model", model.decode(target, *encoded)[target != PADDING], model)


def main():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(7)
    out = {}
    add_blocks(out)
    add_model(out)
    write_tensors("model/data/convolutional", out)


if __name__ == "__main__":
    main()
