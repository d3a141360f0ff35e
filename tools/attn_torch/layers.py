"""What the architectures share: embeddings and projection, convolutions, recurrences, and the batches that they read.

Names of dimensions: B sentences, S source and T target positions, L positions of one side, D d_model, V vocabulary.
"""
import math

import torch
from torch import nn
from torch.nn import functional as F

PADDING = -1  # in batches of token numbers; vocabularies have no such token


def pad(rows):
    """Lists of numbers as a tensor [B, L], the shorter ones padded at the end."""
    return nn.utils.rnn.pad_sequence([torch.tensor(row, dtype=torch.long) for row in rows], True, PADDING)


def batch(sources, targets, bos, eos):
    """Sentences without BOS and EOS to (source [B, S], decoder input [B, T], what it must predict [B, T])."""
    return (pad([[*row, eos] for row in sources]), pad([[bos, *row] for row in targets]),
            pad([[*row, eos] for row in targets]))


def weight(*shape):
    return nn.Parameter(torch.empty(shape))  # a checkpoint has its values


def numbered(owner, name, modules):
    """Registers the modules as name_0, name_1, …"""
    modules = list(modules)
    for i, module in enumerate(modules):
        owner.add_module(f"{name}_{i}", module)
    return modules


class EncoderDecoder(nn.Module):
    """Token numbers to logits, with the embedding matrices of section 3.4. `sizes`: rows of the vocabularies.

    An architecture has encode(embedded source, real) and decode(target, *what encode returned).
    """

    def __init__(self, config, sizes):
        super().__init__()
        self.config, self.scale = config, math.sqrt(config.d_model)
        names = {"all": ["shared"], "decoder": ["source", "target"], "none": ["source", "target", "projection"]}
        for name in names[config.embedding_sharing] + ["feature"] * ("feature" in sizes):
            setattr(self, name + "_weight", weight(sizes[name], config.d_model))

    def table(self, side):
        """The matrix of the "source", the "target" or the "projection", [V, D]."""
        names = [side, "target", "shared"] if side == "projection" else [side, "shared"]
        return next(getattr(self, name + "_weight") for name in names if hasattr(self, name + "_weight"))

    def embed(self, side, ids):
        """[B, L] to [B, L, D], with the factor √d_model."""
        return F.embedding(ids.clamp(min=0), self.table(side)) * self.scale

    def forward(self, source, target, features=None, **words):
        """Logits [B, T, V] of teacher forcing: source with EOS, target from BOS on, both padded with PADDING.

        features [B, S, any number]: those of source tokens, padded; words: see Transformer.decode.
        """
        embedded = self.embed("source", source)
        if features is not None:
            rows = F.embedding(features.clamp(min=0), self.feature_weight) * self.scale
            embedded = embedded + (rows * (features != PADDING).unsqueeze(3)).sum(2)
        elif hasattr(self, "feature_weight"):
            raise ValueError("the model has source features: pass features=")
        memory = self.encode(embedded, source != PADDING)
        return self.decode(target, *memory, **words) @ self.table("projection").T


def window(x, kernel, causal, dilation=1):
    """The inputs of a convolution, [B, L, D] to [B, L, kernel · D], in the order of time: the last one is the position
    itself if causal, else the middle one. Zeros lie beyond the ends."""
    before = (kernel - 1 if causal else (kernel - 1) // 2) * dilation
    padded = F.pad(x, (0, 0, before, (kernel - 1) * dilation - before))
    return torch.cat([padded[:, k * dilation:k * dilation + x.size(1)] for k in range(kernel)], 2)


def reverse(x, real):
    """Each sentence of x [B, L, D] from its end to its start; the padding stays where it is."""
    position, length = torch.arange(x.size(1), device=x.device), real.sum(1, keepdim=True)
    return x.gather(1, torch.where(real, length - 1 - position, position).unsqueeze(2).expand_as(x))


class Recurrence(nn.Module):
    """An LSTM or GRU layer in PyTorch's order of gates. A state is [hidden, cell] or [hidden], each [B, hidden]."""

    def __init__(self, cell, inputs, hidden, bidirectional=False):
        super().__init__()
        self.cell, self.hidden, gates = cell, hidden, (4 if cell == "lstm" else 3) * hidden
        self.directions = ["", "_reverse"] if bidirectional else [""]
        for direction in self.directions:
            for name, *shape in (("input_weight", gates, inputs), ("state_weight", gates, hidden),
                                 ("input_bias", gates), ("state_bias", gates)):
                setattr(self, name + direction, weight(*shape))

    def linear(self, of, x, direction=""):
        return F.linear(x, getattr(self, f"{of}_weight{direction}"), getattr(self, f"{of}_bias{direction}"))

    def begin(self, hidden):
        return [hidden, torch.zeros_like(hidden)] if self.cell == "lstm" else [hidden]

    def step(self, gates, state, direction=""):
        """The next state from W x + b of one position."""
        others = self.linear("state", state[0], direction)
        if self.cell == "lstm":
            i, f, g, o = (gates + others).chunk(4, -1)
            cell = torch.sigmoid(f) * state[1] + torch.sigmoid(i) * torch.tanh(g)
            return [torch.sigmoid(o) * torch.tanh(cell), cell]
        (r, z, n), (r_state, z_state, n_state) = gates.chunk(3, -1), others.chunk(3, -1)
        z = torch.sigmoid(z + z_state)
        return [(1 - z) * torch.tanh(n + torch.sigmoid(r + r_state) * n_state) + z * state[0]]

    def run(self, x, direction):
        state, rows = self.begin(x.new_zeros(len(x), self.hidden)), []
        for gates in self.linear("input", x, direction).unbind(1):
            state = self.step(gates, state, direction)
            rows.append(state[0])
        return torch.stack(rows, 1)

    def forward(self, x, real):
        """[B, L, inputs] to [B, L, hidden], twice as wide if bidirectional."""
        rows = [reverse(self.run(reverse(x, real), d), real) if d else self.run(x, d) for d in self.directions]
        return torch.cat(rows, 2)
