#!/usr/bin/env python3
"""A training step in optimized plain PyTorch, for comparison with `attn bench step`.

    python3 tools/peers/pytorch_step.py RUN [--seconds 8] [--threads 2] [--bf16]
    python3 tools/peers/pytorch_step.py RUN --set d_model=512 --set d_ff=2048 --invented 37000

Takes model, text and vocabulary from a run; --set overrides model options, --invented N measures on synthetic pairs of
random tokens from a vocabulary of N, with the lengths (log-normal, median 22) of `attn bench step` without text. Uses one product for queries,
keys and values, scaled_dot_product_attention, tied embeddings, the projection of non-padding positions only, fused Adam
and batches of similar lengths, padded. Needs torch and sentencepiece; LD_PRELOAD=libtcmalloc_minimal.so.4 keeps freed
memory as attn does.
"""
import argparse
import math
import random
import time

import torch
from torch import nn
from torch.nn import functional as F

from run_files import Run, report

IGNORE = -100


class Attention(nn.Module):
    def __init__(self, model, cross, dropout):
        super().__init__()
        width, heads = model["d_model"], model["heads"]
        self.heads, self.cross, self.dropout = heads, cross, dropout
        keys, values = heads * model["d_k"], heads * model["d_v"]
        self.sizes = [keys, keys, values]
        if cross:
            self.query, self.memory = nn.Linear(width, keys), nn.Linear(width, keys + values)
        else:
            self.project = nn.Linear(width, 2 * keys + values)
        self.out = nn.Linear(values, width)

    def forward(self, x, memory=None, mask=None, causal=False):
        if self.cross:
            query, (key, value) = self.query(x), self.memory(memory).split(self.sizes[1:], -1)
        else:
            query, key, value = self.project(x).split(self.sizes, -1)
        query, key, value = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in (query, key, value))
        attended = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, is_causal=causal,
                                                  dropout_p=self.dropout if self.training else 0.0)
        return self.out(attended.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, model, decoder):
        super().__init__()
        width = model["d_model"]
        self.dropout = model["dropout"]
        self.self_attention = Attention(model, False, model["attention_dropout"])
        self.cross_attention = Attention(model, True, model["attention_dropout"]) if decoder else None
        self.inner, self.outer = nn.Linear(width, model["d_ff"]), nn.Linear(model["d_ff"], width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3 if decoder else 2))

    def add(self, x, update, norm):
        return norm(x + F.dropout(update, self.dropout, self.training))

    def forward(self, x, mask=None, memory=None, memory_mask=None):
        decoder = memory is not None
        x = self.add(x, self.self_attention(x, mask=mask, causal=decoder), self.norms[0])
        if decoder:
            x = self.add(x, self.cross_attention(x, memory, memory_mask), self.norms[1])
        return self.add(x, self.outer(F.relu(self.inner(x))), self.norms[-1])


class Transformer(nn.Module):
    def __init__(self, model, vocabulary):
        super().__init__()
        width = model["d_model"]
        self.width, self.dropout = width, model["dropout"]
        self.embedding = nn.Embedding(vocabulary, width)
        nn.init.normal_(self.embedding.weight, 0, width**-0.5)
        position = torch.arange(1024.0)[:, None]
        rate = torch.exp(torch.arange(0, width, 2) * -(math.log(10000) / width))
        table = torch.stack([torch.sin(position * rate), torch.cos(position * rate)], 2).flatten(1)
        self.register_buffer("positions", table, persistent=False)
        self.encoder = nn.ModuleList(Layer(model, False) for _ in range(model["layers"]))
        self.decoder = nn.ModuleList(Layer(model, True) for _ in range(model["layers"]))

    def embed(self, tokens):
        x = self.embedding(tokens) * math.sqrt(self.width) + self.positions[: tokens.size(1)]
        return F.dropout(x, self.dropout, self.training)

    def forward(self, source, source_mask, target, kept):
        memory = self.embed(source)
        for layer in self.encoder:
            memory = layer(memory, source_mask)
        x = self.embed(target)
        for layer in self.decoder:
            x = layer(x, None, memory, source_mask)
        return F.linear(x.flatten(0, 1).index_select(0, kept), self.embedding.weight)


def batches(pairs, limit):
    """Pairs of like length together, cut where sentences × longest side would exceed the limit; in random order."""
    order = sorted(range(len(pairs)), key=lambda i: (len(pairs[i][1]), len(pairs[i][0])))
    cut, longest = [[]], 0
    for i in order:
        longest = max(longest, len(pairs[i][0]) + 1, len(pairs[i][1]) + 1)
        if cut[-1] and longest * (len(cut[-1]) + 1) > limit:
            cut.append([])
            longest = max(len(pairs[i][0]), len(pairs[i][1])) + 1
        cut[-1].append(i)
    random.Random(1).shuffle(cut)
    return cut


def padded(rows, filling):
    return nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=filling)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE", help="override a model option")
    parser.add_argument("--invented", type=int, metavar="CLASSES", help="synthetic text with this vocabulary size")
    parser.add_argument("--name", default="plain PyTorch")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    run = Run(options.run)
    run.set(options.set)
    start, end, classes = run.pieces.bos_id(), run.pieces.eos_id(), run.pieces.get_piece_size()
    if options.invented:
        classes, rng = options.invented, random.Random(1)
        vary = lambda length, spread: round(min(max(length * rng.lognormvariate(0, spread), 1), 200))
        sentence = lambda length: [rng.randrange(4, classes) for _ in range(length)]
        lengths = [vary(22, 0.6) for _ in range(20000)]
        pairs = [(sentence(length), sentence(vary(length, 0.2))) for length in lengths]
    else:
        prefix = run.data["train"]
        pairs = list(zip(run.tokens(f"{prefix}.{run.data['source']}"), run.tokens(f"{prefix}.{run.data['target']}")))
    network = Transformer(run.model, classes).train()
    train = run.config["train"]
    adam = torch.optim.Adam(network.parameters(), lr=1e-4, betas=(train["beta1"], train["beta2"]), eps=train["epsilon"],
                            fused=True)

    def step(ids):
        source = padded([pairs[i][0] + [end] for i in ids], IGNORE)
        target = padded([[start] + pairs[i][1] for i in ids], end)
        wanted = padded([pairs[i][1] + [end] for i in ids], IGNORE).flatten()
        kept = (wanted != IGNORE).nonzero().squeeze(1)
        adam.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=options.bf16):
            mask = (source != IGNORE)[:, None, None, :]
            logits = network(source.clamp(min=0), mask, target, kept)
            loss = F.cross_entropy(logits.float(), wanted[kept], label_smoothing=train["label_smoothing"])
        loss.backward()
        adam.step()
        return kept.numel()

    cut = batches(pairs, run.data["batch_tokens"])
    for ids in cut[:3]:
        step(ids)
    tokens, steps, begin = 0, 0, time.perf_counter()
    while time.perf_counter() - begin < options.seconds:
        tokens += step(cut[(steps + 3) % len(cut)])
        steps += 1
    rate = tokens / (time.perf_counter() - begin)
    report(options.name, version=torch.__version__, tokens_per_second=rate, steps=steps)


if __name__ == "__main__":
    main()
