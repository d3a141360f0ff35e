#!/usr/bin/env python3
"""Writes tests/model/data/convolutional.safetensors: ConvS2S by PyTorch's own convolutions and weight norm.

    python3 tools/goldens/convolutional.py        (needs torch 2.11 to 2.13 and safetensors)

"block." is a gated convolution with its residual sum; "model." a whole encoder-decoder from token numbers to the input of
the projection, one sentence at a time, with the gradients of all parameters. Weights are normalized by
torch.nn.utils.parametrizations.weight_norm. Everything is computed in float64 and written as float32.
"""
import math

import torch
from optimizers import write_tensors
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.parametrizations import weight_norm

WIDTH, VOCABULARY, POSITIONS = 6, 11, 8
ENCODER, DECODER = [(5, 3), (7, 1)], [(4, 3), (4, 2), (8, 3)]  # widths and kernels
SOURCES, TARGETS = [[4, 5, 6, 7, 8], [9, 3], [10, 4, 4]], [[1, 5, 6], [1, 9, 10, 3], [1]]
ROOT = math.sqrt(0.5)


class Linear(nn.Module):
    """A convolution, of one position if `kernel` is 1, with weight norm."""

    def __init__(self, inputs, outputs, kernel=1, causal=False):
        super().__init__()
        self.conv = weight_norm(nn.Conv1d(inputs, outputs, kernel))
        parts = self.conv.parametrizations.weight
        for tensor in (parts.original0, parts.original1, self.conv.bias):
            nn.init.normal_(tensor, 0.0, 0.4)
        self.before = kernel - 1 if causal else (kernel - 1) // 2
        self.after = 0 if causal else (kernel - 1) // 2

    def forward(self, x):
        return self.conv(F.pad(x.T[None], (self.before, self.after)))[0].T

    def parts(self, of):
        """{name: tensor}, the direction with the taps of a position side by side."""
        weight = self.conv.parametrizations.weight
        return {"direction": of(weight.original1).permute(0, 2, 1).flatten(1), "length": of(weight.original0).flatten(),
                "bias": of(self.conv.bias)}


class Block(nn.Module):
    def __init__(self, inputs, width, kernel, causal):
        super().__init__()
        self.product = Linear(inputs, 2 * width, kernel, causal)
        self.projection = Linear(inputs, width) if inputs != width else None

    def gated(self, x):
        return F.glu(self.product(x), 1)

    def residual(self, x):
        return self.projection(x) if self.projection else x

    def forward(self, x):
        return (self.gated(x) + self.residual(x)) * ROOT


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(context, x, factor):
        context.factor = factor
        return x.clone()

    @staticmethod
    def backward(context, gradient):
        return gradient * context.factor, None


def stack(shapes, causal):
    inputs = [shapes[0][0]] + [width for width, _ in shapes[:-1]]
    return [Block(below, width, kernel, causal) for below, (width, kernel) in zip(inputs, shapes)]


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared_weight = nn.Parameter(torch.randn(VOCABULARY, WIDTH))
        self.source_positions = nn.Parameter(torch.randn(POSITIONS, WIDTH))
        self.target_positions = nn.Parameter(torch.randn(POSITIONS, WIDTH))
        self.encoder_in, self.encoder_out = Linear(WIDTH, ENCODER[0][0]), Linear(ENCODER[-1][0], WIDTH)
        self.decoder_in, self.decoder_out = Linear(WIDTH, DECODER[0][0]), Linear(DECODER[-1][0], WIDTH)
        self.encoder, self.decoder = nn.ModuleList(stack(ENCODER, False)), nn.ModuleList(stack(DECODER, True))
        self.queries = nn.ModuleList(Linear(width, WIDTH) for width, _ in DECODER)
        self.contexts = nn.ModuleList(Linear(WIDTH, width) for width, _ in DECODER)

    def embed(self, tokens, positions):
        # Stored with the standard deviation 1/√width, used with 0.1.
        return 0.1 * math.sqrt(WIDTH) * self.shared_weight[tokens] + positions[: len(tokens)]

    def forward(self, source, target):
        embedded = self.embed(source, self.source_positions)
        x = self.encoder_in(embedded)
        for block in self.encoder:
            x = block(x)
        keys = Scaled.apply(self.encoder_out(x), 1 / (2 * len(DECODER)))
        values = (keys + embedded) * ROOT
        embedded = self.embed(target, self.target_positions)
        y = self.decoder_in(embedded)
        for block, query, context in zip(self.decoder, self.queries, self.contexts):
            states = block.gated(y)
            scores = ((query(states) + embedded) * ROOT) @ keys.T
            attended = scores.softmax(1) @ values * len(source) / math.sqrt(len(source))
            y = ((context(attended) + states) * ROOT + block.residual(y)) * ROOT
        return self.decoder_out(y)

    def named(self):
        """The C++ names of the parameters: {prefix: Linear}."""
        out = {name: getattr(self, name) for name in ("encoder_in", "encoder_out", "decoder_in", "decoder_out")}
        for side in ("encoder", "decoder"):
            for i, block in enumerate(getattr(self, side)):
                out[f"{side}_{i}.product"] = block.product
                if block.projection:
                    out[f"{side}_{i}.projection"] = block.projection
        for i, (query, context) in enumerate(zip(self.queries, self.contexts)):
            out[f"attention_{i}.in"], out[f"attention_{i}.out"] = query, context
        return out


def add_parts(out, case, name, linear):
    for part, tensor in linear.parts(lambda x: x).items():
        out[f"{case}parameter.{name}.{part}"] = tensor
    for part, tensor in linear.parts(lambda x: x.grad).items():
        out[f"{case}gradient.{name}.{part}"] = tensor


def add_blocks(out):
    lengths = [5, 1, 4]
    for case, inputs, width, kernel, causal in (("centred.", 4, 5, 3, False), ("causal.", 5, 5, 4, True)):
        block = Block(inputs, width, kernel, causal)
        x = torch.randn(sum(lengths), inputs, requires_grad=True)
        result = torch.cat([block(rows) for rows in x.split(lengths)])
        upstream = torch.randn_like(result)
        (result * upstream).sum().backward()
        case = "block." + case
        out.update({case + "x": x, case + "output": result, case + "upstream": upstream, case + "x_gradient": x.grad})
        add_parts(out, case, "product", block.product)
        if block.projection:
            add_parts(out, case, "projection", block.projection)


def add_model(out):
    model = Model()
    rows = [model(torch.tensor(source), torch.tensor(target)) for source, target in zip(SOURCES, TARGETS)]
    result = torch.cat(rows)
    upstream = torch.randn_like(result)
    (result * upstream).sum().backward()
    out.update({"model.output": result, "model.upstream": upstream})
    for name in ("shared_weight", "source_positions", "target_positions"):
        out[f"model.parameter.{name}"] = getattr(model, name)
        out[f"model.gradient.{name}"] = getattr(model, name).grad
    for name, linear in model.named().items():
        add_parts(out, "model.", name, linear)


def main():
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(7)
    out = {}
    add_blocks(out)
    add_model(out)
    write_tensors("model/data/convolutional", out)


if __name__ == "__main__":
    main()
