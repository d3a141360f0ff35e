"""What the architectures share. Dimensions in comments: B sentences, S source and T target positions, L positions of one
side, M keys, D d_model, V vocabulary. Sentences of a batch end with PADDING."""
import math

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import rnn

PADDING = -1  # in place of a token number


def pad(rows):
    """Lists of numbers as a tensor [B, L]."""
    return rnn.pad_sequence([torch.tensor(row, dtype=torch.long) for row in rows], True, PADDING)


def batch(sources, targets, bos, eos):
    """Sentences without BOS and EOS to the source [B, S], the decoder's input [B, T] and what it must predict [B, T]."""
    return tuple(map(pad, ([[*row, eos] for row in sources], [[bos, *row] for row in targets], [[*row, eos] for row in targets])))


def weight(*shape):
    return nn.Parameter(torch.empty(shape))  # a checkpoint has the values


def numbered(owner, name, modules):
    """Registers the modules as name_0, name_1, …"""
    for i, module in enumerate(modules := list(modules)):
        owner.add_module(f"{name}_{i}", module)
    return modules


class EncoderDecoder(nn.Module):
    """Token numbers to logits, with the matrices of section 3.4. An architecture adds encode(embedded source, real), with
    real [B, S] false at padding, and decode(target, *encoded). sizes: rows of the matrices by name."""

    def __init__(self, config, sizes):
        super().__init__()
        self.config, self.scale = config, math.sqrt(config.d_model)
        names = {"all": ["shared"], "decoder": ["source", "target"], "none": ["source", "target", "projection"]}
        for name in names[config.embedding_sharing] + ["feature"] * ("feature" in sizes):
            setattr(self, name + "_weight", weight(sizes[name], config.d_model))

    def table(self, *names):
        """The first of these matrices that the model has, [V, D]."""
        return next(getattr(self, name + "_weight") for name in (*names, "shared") if hasattr(self, name + "_weight"))

    def embed(self, ids, side):
        """Numbers […] to […, D]; zeros at padding."""
        return F.embedding(ids.clamp(min=0), self.table(side)) * (self.scale * (ids != PADDING).unsqueeze(-1))

    def forward(self, source, target, features=None, **words):
        """Logits [B, T, V] of source (with EOS) and target (from BOS on). features [B, S, any number]: numbers of the
        features of source tokens; words: see Transformer.decode."""
        if (features is None) == hasattr(self, "feature_weight"):
            raise ValueError("features are for models with source features, and required there")
        embedded = self.embed(source, "source")
        if features is not None:
            embedded = embedded + self.embed(features, "feature").sum(2)
        encoded = self.encode(embedded, source != PADDING)
        return self.decode(target, *encoded, **words) @ self.table("projection", "target").T


def window(x, kernel, causal, dilation=1):
    """The inputs of a convolution, [B, L, D] to [B, L, kernel · D], in the order of time: the last one is the position
    itself if causal, else the middle one. Zeros beyond the ends."""
    before = (kernel - 1 if causal else kernel // 2) * dilation
    padded = F.pad(x, (0, 0, before, (kernel - 1) * dilation - before))
    return torch.cat([padded[:, k * dilation:k * dilation + x.size(1)] for k in range(kernel)], 2)


class Recurrence(nn.Module):
    """An LSTM or GRU layer, as PyTorch's but for the names. A state is [hidden, cell] or [hidden], each [B, hidden]."""

    def __init__(self, cell, inputs, hidden, bidirectional=False):
        super().__init__()
        self.lstm, self.hidden, self.bidirectional = cell == "lstm", hidden, bidirectional
        gates = (4 if self.lstm else 3) * hidden
        for direction in ["", "_reverse"][:1 + bidirectional]:
            for name, *shape in (("input_weight", gates, inputs), ("state_weight", gates, hidden),
                                 ("input_bias", gates), ("state_bias", gates)):
                self.register_parameter(name + direction, weight(*shape))

    def begin(self, hidden):
        return [hidden, torch.zeros_like(hidden)] if self.lstm else [hidden]

    def step(self, x, state):
        """The state after one more position, x [B, inputs]."""
        if self.lstm:
            return list(torch.lstm_cell(x, state, *self.parameters()))
        return [torch.gru_cell(x, *state, *self.parameters())]

    def forward(self, x, real):
        """[B, L, inputs] to [B, L, hidden], twice as wide if bidirectional."""
        rows = rnn.pack_padded_sequence(x, real.sum(1).cpu(), batch_first=True, enforce_sorted=False)
        state = self.begin(x.new_zeros(1 + self.bidirectional, len(x), self.hidden))
        run, state = (torch.lstm, state) if self.lstm else (torch.gru, state[0])
        out = run(rows.data, rows.batch_sizes, state, list(self.parameters()), True, 1, 0.0, self.training, self.bidirectional)
        return rnn.pad_packed_sequence(rows._replace(data=out[0]), batch_first=True, total_length=x.size(1))[0]
