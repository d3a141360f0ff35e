#!/usr/bin/env python3
"""A training step in optimized plain PyTorch, for comparison with `attn bench step`.

    python3 tools/peers/pytorch_step.py RUN [--seconds 8] [--threads 2] [--bf16]
    python3 tools/peers/pytorch_step.py RUN --set d_model=512 --set d_ff=2048 --vocabulary 37000
    python3 tools/peers/pytorch_step.py --config FILE --vocabulary 37000 --device cuda [--compile]

Takes model, text and vocabulary from a run; --set overrides model options, --vocabulary N measures on synthetic pairs of
random tokens from a vocabulary of N, with the lengths (log-normal, median 22) of `attn bench step` without text;
--config takes the output of `attn config` in place of a run. Uses one product for queries, keys and values,
scaled_dot_product_attention, tied embeddings, the projection of non-padding positions only, fused Adam and batches of
similar lengths, padded. Needs torch, and sentencepiece for a run; LD_PRELOAD=libtcmalloc_minimal.so.4 keeps freed
memory as attn does.

On a GPU the batches are padded before the measurement and copied from pinned memory during it, and memory is what the
allocator reserved at most; the warm-up runs every batch once, within 20 seconds. cuDNN's attention is off unless
--cudnn-attention is given: in bf16 it builds a plan for every new shape. --compile runs torch.compile over the
whole step up to the loss, --compile layers over the embedding, each kind of layer and the loss, which compiles in less
time. Shapes are dynamic; the warm-up ends after five updates in a row without compilation.
"""
import argparse
import math
import random
import time

import torch
from torch import nn
from torch.nn import functional as F

from run_files import Config, Run, report

IGNORE = -100
WARM_UP = 20  # seconds on a GPU


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


def smoothed_loss(logits, wanted, smoothing):
    return F.cross_entropy(logits.float(), wanted, label_smoothing=smoothing)


def compile_parts(network):
    """Compiles what repeats, once for all layers of a kind; returns the loss."""
    network.embed = torch.compile(network.embed, dynamic=True)
    for layer in (*network.encoder, *network.decoder):
        layer.compile(dynamic=True)
    return torch.compile(smoothed_loss, dynamic=True)


def graphs_compiled():
    from torch._dynamo.utils import counters
    return counters["stats"]["unique_graphs"]


def synthetic_pairs(classes):
    rng = random.Random(1)
    vary = lambda length, spread: round(min(max(length * rng.lognormvariate(0, spread), 1), 200))
    sentence = lambda length: [rng.randrange(4, classes) for _ in range(length)]
    lengths = [vary(22, 0.6) for _ in range(20000)]
    return [(sentence(length), sentence(vary(length, 0.2))) for length in lengths]


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", nargs="?")
    parser.add_argument("--config", metavar="FILE", help="resolved config in place of a run, with --vocabulary")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--cudnn-attention", action="store_true", help="let scaled_dot_product_attention use cuDNN")
    parser.add_argument("--compile", nargs="?", choices=["step", "layers"], const="step", help="use torch.compile")
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE", help="override a model option")
    parser.add_argument("--vocabulary", type=int, metavar="N", help="synthetic text with this vocabulary size")
    parser.add_argument("--name", default="plain PyTorch")
    options = parser.parse_args()
    if (options.run is None) == (options.config is None):
        parser.error("a run or --config FILE is required, not both")
    if options.config and not options.vocabulary:
        parser.error("--config has no text: add --vocabulary N")
    if options.device == "cuda" and not torch.cuda.is_available():
        parser.error("--device cuda: no GPU found (CPU-only PyTorch, or no driver)")
    return options


def main():
    options = read_options()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    on_gpu = options.device == "cuda"
    torch.backends.cuda.enable_cudnn_sdp(options.cudnn_attention)
    run = Config(options.config, position=None) if options.config else Run(options.run)
    run.set(options.set)
    start, end = (1, 2) if options.config else (run.pieces.bos_id(), run.pieces.eos_id())
    if options.vocabulary:
        classes, pairs = options.vocabulary, synthetic_pairs(options.vocabulary)
    else:
        classes, prefix = run.pieces.get_piece_size(), run.data["train"]
        pairs = list(zip(run.tokens(f"{prefix}.{run.data['source']}"), run.tokens(f"{prefix}.{run.data['target']}")))
    network = Transformer(run.model, classes).train().to(options.device)
    train = run.config["train"]
    adam = torch.optim.Adam(network.parameters(), lr=1e-4, betas=(train["beta1"], train["beta2"]), eps=train["epsilon"],
                            fused=True)
    loss_of = compile_parts(network) if options.compile == "layers" else smoothed_loss

    def prepare(ids):
        source = padded([pairs[i][0] + [end] for i in ids], IGNORE)
        target = padded([[start] + pairs[i][1] for i in ids], end)
        wanted = padded([pairs[i][1] + [end] for i in ids], IGNORE).flatten()
        kept = (wanted != IGNORE).nonzero().squeeze(1)
        batch = source, target, kept, wanted[kept]
        return tuple(tensor.pin_memory() for tensor in batch) if on_gpu else batch

    def forward(source, target, kept, wanted):
        mask = (source != IGNORE)[:, None, None, :]
        logits = network(source.clamp(min=0), mask, target, kept)
        return loss_of(logits, wanted, train["label_smoothing"])

    if options.compile == "step":
        forward = torch.compile(forward, dynamic=True)

    def step(batch):
        own = [tensor.to(options.device, non_blocking=True) for tensor in batch]
        adam.zero_grad(set_to_none=True)
        with torch.autocast(options.device, dtype=torch.bfloat16, enabled=options.bf16):
            loss = forward(*own)
        loss.backward()
        adam.step()
        return len(batch[-1])

    def now():
        if on_gpu:
            torch.cuda.synchronize()
        return time.perf_counter()

    cut = batches(pairs, run.data["batch_tokens"])
    batch, seen = lambda i: prepare(cut[i % len(cut)]), 3
    if on_gpu:  # prepared as by the workers of a DataLoader; its libraries plan for each shape
        ready, seen = [prepare(ids) for ids in cut], len(cut)
        batch = lambda i: ready[i % len(ready)]
    begin, warm, quiet = now(), 0, 0
    while warm < 3 or (warm < seen and time.perf_counter() - begin < WARM_UP) or (options.compile and quiet < 5):
        before = graphs_compiled() if options.compile else 0
        step(batch(warm))
        warm += 1
        quiet = quiet + 1 if options.compile and graphs_compiled() == before else 0
    before, extra = graphs_compiled() if options.compile else 0, dict(warm_up_seconds=now() - begin)
    tokens, steps, begin = 0, 0, now()
    while time.perf_counter() - begin < options.seconds:
        tokens += step(batch(steps + warm))
        steps += 1
    rate = tokens / (now() - begin)
    if options.compile:
        graphs = graphs_compiled()
        extra.update(compiled=options.compile, graphs=graphs, graphs_compiled_late=graphs - before)
    if on_gpu:
        extra.update(device=torch.cuda.get_device_name(), memory=torch.cuda.max_memory_reserved())
    report(options.name, version=torch.__version__, tokens_per_second=rate, steps=steps, **extra)


if __name__ == "__main__":
    main()
