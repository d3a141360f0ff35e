#!/usr/bin/env python3
"""A training step of ConvS2S, ByteNet and recurrent models in plain PyTorch, for comparison with `attn bench step`.

    attn config experiments/multi30k/tiny.json --set model.architecture=convolutional > c.json
    python3 tools/peers/pytorch_architectures.py c.json [--seconds 8] [--threads 2] [--bf16]

Reads the resolved config of a model (model.architecture convolutional, bytenet or recurrent) and trains it on synthetic
text of log-normal lengths like that of pytorch_step.py, padded, with sentences of like length together, by nn.Conv1d,
weight_norm, nn.LSTM or nn.GRU over packed sequences, and nn.LSTMCell or nn.GRUCell with input feeding. Prints the rate in target
tokens/s, padding not counted, and the same by the process's CPU time, for machines that others use too.
"""
import argparse
import json
import math
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import rnn
from torch.nn.utils.parametrizations import weight_norm

from pytorch_step import IGNORE, batches, synthetic_pairs, padded, smoothed_loss
from run_files import report

ROOT = math.sqrt(0.5)


def linear(inputs, outputs):
    return weight_norm(nn.Linear(inputs, outputs))


class GatedStack(nn.Module):
    """ConvS2S's layers of one side, over [B, L, C]; with attention if `memory_width` is given."""

    def __init__(self, model, side, causal):
        super().__init__()
        width, self.causal, self.dropout = model["d_model"], causal, model["dropout"]
        shapes = [(s["width"], s["kernel"]) for s in model[side] for _ in range(s["layers"])]
        below = [shapes[0][0]] + [channels for channels, _ in shapes[:-1]]
        self.enter, self.leave = linear(width, shapes[0][0]), linear(shapes[-1][0], width)
        self.convolutions = nn.ModuleList(weight_norm(nn.Conv1d(b, 2 * c, k)) for b, (c, k) in zip(below, shapes))
        self.projections = nn.ModuleList(linear(b, c) if b != c else nn.Identity() for b, (c, _) in zip(below, shapes))
        if causal:
            self.queries = nn.ModuleList(linear(c, width) for c, _ in shapes)
            self.contexts = nn.ModuleList(linear(width, c) for c, _ in shapes)

    def forward(self, embedded, kept, memory=None):
        x = self.enter(embedded)
        for i, convolution in enumerate(self.convolutions):
            residual, reach = self.projections[i](x), convolution.kernel_size[0] - 1
            before = reach if self.causal else reach // 2
            x = F.dropout(x * kept, self.dropout, self.training).transpose(1, 2)
            x = F.glu(convolution(F.pad(x, (before, reach - before))), 1).transpose(1, 2)
            if memory is not None:
                keys, values, hidden, roots = memory
                scores = ((self.queries[i](x) + embedded) * ROOT) @ keys.transpose(1, 2)
                attended = scores.masked_fill(hidden, -math.inf).softmax(-1) @ values * roots
                x = (self.contexts[i](attended) + x) * ROOT
            x = (x + residual) * ROOT
        return self.leave(x)


class Convolutional(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.encoder, self.decoder = GatedStack(model, "encoder", False), GatedStack(model, "decoder", True)
        self.positions = nn.ModuleList(nn.Embedding(model["max_positions"], model["d_model"]) for _ in range(2))
        self.dropout, self.scale = model["dropout"], 0.1 * math.sqrt(model["d_model"])

    def forward(self, source, target, lengths, kept):
        embedded = [F.dropout(x * self.scale + p.weight[: x.size(1)], self.dropout, self.training)
                    for x, p in zip((source, target), self.positions)]
        keys = self.encoder(embedded[0], kept)
        share = 1 / (2 * len(self.decoder.convolutions))
        keys.register_hook(lambda gradient: gradient * share)
        values = (keys + embedded[0]) * ROOT
        roots = lengths.sqrt()[:, None, None].to(keys.device)
        memory = keys, values, (kept == 0).transpose(1, 2), roots
        return F.dropout(self.decoder(embedded[1], 1.0, memory), self.dropout, self.training)


class ByteNetBlock(nn.Module):
    def __init__(self, model, dilation, causal):
        super().__init__()
        width, hidden, self.dropout = model["d_model"], model["hidden"], model["dropout"]
        self.norms = nn.ModuleList(nn.LayerNorm(n) for n in (width, hidden, hidden))
        self.narrow, self.widen = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.convolution = nn.Conv1d(hidden, hidden, model["kernel"], dilation=dilation)
        reach = (model["kernel"] - 1) * dilation
        self.padding = (reach, 0) if causal else (reach // 2, reach // 2)

    def forward(self, x, kept):
        y = self.norms[1](self.narrow(self.norms[0](x).relu())).relu() * kept
        y = self.convolution(F.pad(y.transpose(1, 2), self.padding)).transpose(1, 2)
        return x + F.dropout(self.widen(self.norms[2](y).relu()), self.dropout, self.training)


class ByteNet(nn.Module):
    def __init__(self, model):
        super().__init__()
        width, self.model = model["d_model"], model
        side = lambda causal: nn.ModuleList(ByteNetBlock(model, d, causal)
                                            for d in model["dilations"] * model["repeats"])
        self.encoder, self.decoder = side(False), side(True)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.join = nn.Conv1d(2 * width, width, model["kernel"])

    def forward(self, source, target, lengths, kept):
        scale, dropout = math.sqrt(self.model["d_model"]), self.model["dropout"]
        source, target = (F.dropout(x * scale, dropout, self.training) for x in (source, target))
        longest = math.ceil(source.size(1) * self.model["length_factor"])
        x = F.pad(source * kept, (0, 0, 0, longest - source.size(1)))
        unfolded = torch.ceil(lengths * self.model["length_factor"]).to(x.device)
        kept = (torch.arange(longest, device=x.device) < unfolded[:, None])[..., None]
        for block in self.encoder:
            x = block(x, kept)
        x = self.norms[0](x) * kept
        x = F.pad(x, (0, 0, 0, max(0, target.size(1) - longest)))[:, : target.size(1)]
        y = torch.cat([x, target], 2).transpose(1, 2)
        y = self.join(F.pad(y, (self.model["kernel"] - 1, 0))).transpose(1, 2)
        for block in self.decoder:
            y = block(y, 1.0)
        return self.norms[1](y)


class Recurrent(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model, width, hidden = model, model["d_model"], model["hidden"]
        lstm = model["cell"] == "lstm"
        layer, cell = (nn.LSTM, nn.LSTMCell) if lstm else (nn.GRU, nn.GRUCell)
        self.gnmt, self.lstm = model["decoder"] == "gnmt", lstm
        self.encoder, memory = nn.ModuleList(), width
        for i in range(model["encoder_layers"]):
            both = model["encoder_directions"] == "both" or (model["encoder_directions"] == "bottom" and i == 0)
            self.encoder.append(layer(memory, hidden, batch_first=True, bidirectional=both))
            memory = hidden * (2 if both else 1)
        fed = (memory if self.gnmt else width) if model["input_feeding"] else 0
        inputs = [width + fed] + [hidden + (memory if self.gnmt else 0)] * (model["decoder_layers"] - 1)
        fed_layers = (1 if self.gnmt else len(inputs)) if fed else 0  # those inside the loop over positions
        self.cells = nn.ModuleList(cell(n, hidden) for n in inputs[:fed_layers])
        self.layers = nn.ModuleList(layer(n, hidden, batch_first=True) for n in inputs[fed_layers:])
        self.first = nn.ModuleList(nn.Linear(memory, hidden) for _ in inputs)
        self.query, self.key = (nn.Linear(n, model["d_attention"], bias=False) for n in (hidden, memory))
        self.score = nn.Parameter(torch.randn(model["d_attention"])) if model["attention"] == "additive" else None
        self.out = nn.Linear(hidden + memory + (width if self.gnmt else 0), width)
        self.fed_width = fed

    def drop(self, x):
        return F.dropout(x, self.model["dropout"], self.training)

    def attend(self, states, keys, values, hidden):
        queries = self.query(states)
        if self.score is None:
            scores = queries @ keys.transpose(1, 2)
        else:
            scores = torch.tanh(queries.unsqueeze(2) + keys.unsqueeze(1)) @ self.score
        return scores.masked_fill(hidden, -math.inf).softmax(-1) @ values

    def output(self, states, contexts, target):
        return self.drop(torch.tanh(self.out(torch.cat([states, contexts] + ([target] if self.gnmt else []), -1))))

    def whole(self, i, layer, x, first):
        state = first[None]
        out = layer(x, (state, torch.zeros_like(state)) if self.lstm else state)[0]
        return out

    def in_sequence(self, target, first, memory):
        states = [(f, torch.zeros_like(f)) if self.lstm else f for f in first[: len(self.cells)]]
        fed, rows, contexts = target.new_zeros(len(target), self.fed_width), [], []
        for t in range(target.size(1)):
            x = torch.cat([target[:, t], fed], 1)
            for i, cell in enumerate(self.cells):
                below = x
                states[i] = cell(x if i == 0 else self.drop(x), states[i])
                x = states[i][0] if self.lstm else states[i]
                x = x + below if self.model["residual"] and i > 1 else x
            context = self.attend(x[:, None], *memory)[:, 0]
            x = x if self.gnmt else self.output(x, context, None)
            fed = context if self.gnmt else x
            rows.append(x)
            contexts.append(context)
        return torch.stack(rows, 1), torch.stack(contexts, 1)

    def forward(self, source, target, lengths, kept):
        scale, residual = math.sqrt(self.model["d_model"]), self.model["residual"]
        x, target = self.drop(source * scale), self.drop(target * scale)
        for i, layer in enumerate(self.encoder):
            packed = rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            out = rnn.pad_packed_sequence(layer(packed)[0], batch_first=True)[0]
            x = self.drop(out + x if residual and i > 1 else out)
        mean = x.sum(1) / lengths[:, None]
        first = [torch.tanh(one(mean)) for one in self.first]
        memory = self.key(x), x, (kept == 0).transpose(1, 2)
        done, context = len(self.cells), None
        if self.cells:
            y, context = self.in_sequence(target, first, memory)
            if not self.gnmt:
                return y
        else:
            y = target
        for i, layer in enumerate(self.layers, done):
            read = y if i == 0 else self.drop(y)
            below, y = y, self.whole(i, layer, read if context is None else torch.cat([read, context], -1), first[i])
            y = y + below if residual and i > 1 else y
            if self.gnmt and context is None:
                context = self.attend(y, *memory)
        return self.output(y, self.attend(y, *memory) if context is None else context, target)


class Network(nn.Module):
    def __init__(self, model, classes):
        super().__init__()
        self.embedding = nn.Embedding(classes, model["d_model"])
        nn.init.normal_(self.embedding.weight, 0, model["d_model"] ** -0.5)
        self.body = dict(convolutional=Convolutional, bytenet=ByteNet, recurrent=Recurrent)[model["architecture"]](model)

    def forward(self, source, target, wanted):
        there = source != IGNORE
        rows = self.body(self.embedding(source.clamp(min=0)), self.embedding(target), there.sum(1),
                         there[..., None].float()).flatten(0, 1)
        return rows.index_select(0, wanted) @ self.embedding.weight.T


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("config", help="resolved config: the output of attn config")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--classes", type=int, default=10000)
    parser.add_argument("--bf16", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    with open(options.config, encoding="utf-8") as file:
        config = json.load(file)
    network, train = Network(config["model"], options.classes).train(), config["train"]
    adam = torch.optim.Adam(network.parameters(), lr=1e-4, betas=(train["beta1"], train["beta2"]), eps=train["epsilon"],
                            fused=True)
    pairs = synthetic_pairs(options.classes)
    cut = batches(pairs, config["data"]["batch_tokens"])

    def step(ids):
        source = padded([pairs[i][0] + [2] for i in ids], IGNORE)
        target = padded([[1] + pairs[i][1] for i in ids], 2)
        wanted = padded([pairs[i][1] + [2] for i in ids], IGNORE).flatten()
        there = (wanted != IGNORE).nonzero().squeeze(1)
        adam.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=options.bf16):
            logits = network(source, target, there)
        smoothed_loss(logits, wanted[there], train["label_smoothing"]).backward()
        adam.step()
        return len(there)

    for ids in cut[:3]:
        step(ids)
    tokens, steps, begin, cpu = 0, 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - begin < options.seconds:
        tokens += step(cut[(steps + 3) % len(cut)])
        steps += 1
    rate, cpu_rate = tokens / (time.perf_counter() - begin), tokens / (time.process_time() - cpu)
    parameters = sum(parameter.numel() for parameter in network.parameters())
    report(f"plain PyTorch, {config['model']['architecture']}", version=torch.__version__, tokens_per_second=rate,
           tokens_per_cpu_second=cpu_rate, steps=steps, parameters=parameters)


if __name__ == "__main__":
    main()
