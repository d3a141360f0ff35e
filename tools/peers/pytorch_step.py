"""A training step in optimized plain PyTorch, for comparison with `attn bench step`: the same pairs and batches.

    python3 tools/peers/pytorch_step.py RUN [--seconds 8] [--threads 2] [--bf16]
    python3 tools/peers/pytorch_step.py RUN --set d_model=512 --set d_ff=2048 --vocabulary 37000
    python3 tools/peers/pytorch_step.py --config FILE --vocabulary 37000 --device cuda --bf16 [--compile layers]
    python3 tools/peers/pytorch_step.py … --bf16 --ragged --graphs --bf16-loss [--classes --compile layers]

Takes model, text and vocabulary from a run; --set overrides model options, --vocabulary N measures on the synthetic
pairs of `attn bench step` with a vocabulary of N; --config takes the output of `attn config` in place of a run. Prints
target tokens/s as JSON. Uses one product for queries, keys and values, tied embeddings and fused Adam. Needs torch, and
sentencepiece for a run; LD_PRELOAD=libtcmalloc_minimal.so.4 keeps freed memory as attn does.

Batches are padded for scaled_dot_product_attention; only rows of real tokens are projected to the vocabulary. --ragged
has no padding: rows of real tokens and torch.nn.attention.varlen (on a CPU a loop over sentences, for tests). --classes
pads it to a multiple of ROWS rows by sentences that do not enter the loss, so that few shapes are compiled. --graphs
captures the whole update, Adam included, for each shape. --compile runs torch.compile over the whole step up to the loss
or, in less time, over the embedding, each kind of layer and the loss; shapes are dynamic without --graphs.

On a GPU the batches are made before the measurement and copied from pinned memory during it, at most two updates are in
flight, and memory is what the allocator reserved at most. The warm-up runs every batch once and ends after five updates
in a row without compilation. cuDNN's attention is off: in bf16 it builds a plan for every new shape.
"""
import argparse
import collections
import functools
import itertools
import math
import os
import pathlib
import signal
import sys
import time
import types

import torch
from torch import nn
from torch._dynamo.utils import counters
from torch.nn import functional as F

from batches import cut_batches, synthetic_pairs
from run_files import Config, Run, report

IGNORE = -100

# One side of a batch: tokens [B, L] and a mask [B, 1, 1, L] of real ones; or tokens [N], their positions and sentences,
# an object with their starts [B + 1] and the longest, which compiled code does not look into: it would depend on them.
Side = collections.namedtuple("Side", "tokens mask places sentences", defaults=(None,) * 3)


@torch.compiler.disable
def ragged_attention(query, key, value, own, memory, causal):
    """Attention of rows [N, heads, width] within their sentences."""
    if query.is_cuda:
        from torch.nn.attention.varlen import varlen_attn
        return varlen_attn(query, key, value, own.starts, memory.starts, own.longest, memory.longest, window_size=(-1, 0 if causal else -1))
    sentences = zip(*(x.transpose(0, 1).split(side.starts.diff().tolist(), 1)
                      for x, side in ((query, own), (key, memory), (value, memory))))
    return torch.cat([F.scaled_dot_product_attention(*s, is_causal=causal) for s in sentences], 1).transpose(0, 1)


class Attention(nn.Module):
    def __init__(self, model, cross):
        super().__init__()
        width, heads = model["d_model"], model["heads"]
        self.heads, self.cross, self.dropout = heads, cross, model["attention_dropout"]
        keys, values = heads * model["d_k"], heads * model["d_v"]
        self.sizes = [keys, keys, values]
        if cross:
            self.query, self.memory = nn.Linear(width, keys), nn.Linear(width, keys + values)
        else:
            self.project = nn.Linear(width, 2 * keys + values)
        self.out = nn.Linear(values, width)

    def forward(self, x, own, causal=False, memory=None, other=None):
        if self.cross:
            rows = [self.query(x), *self.memory(memory).split(self.sizes[1:], -1)]
        else:
            rows, other = self.project(x).split(self.sizes, -1), own
        heads = [t.unflatten(-1, (self.heads, -1)) for t in rows]
        if own.sentences is not None:
            return self.out(ragged_attention(*heads, own.sentences, other.sentences, causal).flatten(1))
        attended = F.scaled_dot_product_attention(*(t.transpose(1, 2) for t in heads), is_causal=causal,
                                                  attn_mask=None if causal else other.mask,
                                                  dropout_p=self.dropout if self.training else 0.0)
        return self.out(attended.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, model, decoder):
        super().__init__()
        width = model["d_model"]
        self.dropout = model["dropout"]
        self.self_attention = Attention(model, False)
        self.cross_attention = Attention(model, True) if decoder else None
        self.inner, self.outer = nn.Linear(width, model["d_ff"]), nn.Linear(model["d_ff"], width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3 if decoder else 2))

    def add(self, x, update, norm):
        return norm(x + F.dropout(update, self.dropout, self.training))

    def forward(self, x, own, memory=None, other=None):
        x = self.add(x, self.self_attention(x, own, memory is not None), self.norms[0])
        if memory is not None:
            x = self.add(x, self.cross_attention(x, own, False, memory, other), self.norms[1])
        return self.add(x, self.outer(F.relu(self.inner(x))), self.norms[-1])


class Transformer(nn.Module):
    def __init__(self, model, vocabulary):
        super().__init__()
        width = model["d_model"]
        self.width, self.dropout = width, model["dropout"]
        self.embedding = nn.Embedding(vocabulary, width)
        nn.init.normal_(self.embedding.weight, 0, width**-0.5)
        rate = torch.exp(torch.arange(0, width, 2) * -(math.log(10000) / width))
        angle = torch.arange(1024.0)[:, None] * rate
        self.register_buffer("positions", torch.stack([angle.sin(), angle.cos()], 2).flatten(1), persistent=False)
        self.encoder = nn.ModuleList(Layer(model, False) for _ in range(model["layers"]))
        self.decoder = nn.ModuleList(Layer(model, True) for _ in range(model["layers"]))

    def embed(self, tokens, places):
        positions = self.positions[: tokens.size(1)] if places is None else self.positions[places]
        return F.dropout(self.embedding(tokens) * math.sqrt(self.width) + positions, self.dropout, self.training)

    def forward(self, source, target, kept=None):
        """Logits of all rows, or of the kept ones."""
        memory = self.embed(source.tokens, source.places)
        for layer in self.encoder:
            memory = layer(memory, source)
        x = self.embed(target.tokens, target.places)
        for layer in self.decoder:
            x = layer(x, target, memory, source)
        return F.linear(x if kept is None else x.flatten(0, 1).index_select(0, kept), self.embedding.weight)


def padded(rows, filling):
    return nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=filling)


def spare_lengths(sides, rows):
    """Lengths of sentences that bring both sides to a multiple of `rows` tokens: as many on both, none empty or longer
    than the longest of the batch. varlen_attn leaves rows outside any sentence unwritten."""
    longest, spare = max(map(max, sides)), [-sum(side) % rows for side in sides]
    while min(spare) < (count := -(-max(spare) // longest)):
        spare[spare.index(min(spare))] += rows
    return [[total // count + (i < total % count) for i in range(count)] for total in spare]


class Batch:
    """A batch on the host, all tensors in one block, so that an update copies once. `rows`: of --classes, or None."""

    def __init__(self, pairs, start, end, ragged=False, rows=None, pinned=False):
        sentences = [(s + [end], [start] + t, t + [end]) for s, t in pairs]
        self.tokens, self.longest = sum(len(t) for _, t, _ in sentences), 0
        if rows:
            spare = spare_lengths([[len(row[i]) for row in sentences] for i in (0, 1)], rows)
            sentences += [([end] * s, [end] * t, [IGNORE] * t) for s, t in zip(*spare)]
        sides = sources, targets, wanted = [*zip(*sentences)]
        if ragged:
            lengths = [list(map(len, side)) for side in sides[:2]]
            self.longest = max(map(max, lengths))
            parts = [*(torch.tensor([*itertools.chain(*side)]) for side in sides),
                     *(torch.cat([*map(torch.arange, side)]) for side in lengths),
                     *(torch.tensor([0, *itertools.accumulate(side)]) for side in lengths)]
        else:
            source, target, wanted = padded(sources, IGNORE), padded(targets, end), padded(wanted, IGNORE).flatten()
            kept = (wanted != IGNORE).nonzero().squeeze(1)
            parts = [source, target, wanted[kept], kept]
        self.shapes = tuple(part.shape for part in parts)
        block = torch.cat([part.flatten() for part in parts])
        self.block = block.pin_memory() if pinned else block
        self.shape = self.shapes, self.longest  # what a captured update depends on

    def sides(self, block):
        """Source, target, wanted tokens and the kept rows, None for all, in a copy of the block."""
        parts = block.split([shape.numel() for shape in self.shapes])
        source, target, wanted, *rest = (part.view(shape) for part, shape in zip(parts, self.shapes))
        if not self.longest:
            return Side(source.clamp(min=0), (source != IGNORE)[:, None, None]), Side(target), wanted, rest[0]
        sentences = [types.SimpleNamespace(starts=starts.int(), longest=self.longest) for starts in rest[2:]]
        return *(Side(x, None, *of) for x, *of in zip((source, target), rest, sentences)), wanted, None


def smoothed_loss(logits, wanted, smoothing, in_bf16=False):
    with torch.autocast(logits.device.type, enabled=False):  # which would compute it in fp32
        return F.cross_entropy(logits if in_bf16 else logits.float(), wanted, label_smoothing=smoothing)


class Step:
    """The model, its optimizer and the update of a batch. options: device, bf16, bf16_loss, graphs, compile."""

    def __init__(self, model, classes, train, options):
        self.options, self.smoothing = options, train["label_smoothing"]
        self.network = network = Transformer(model, classes).train().to(options.device)
        self.adam = torch.optim.Adam(network.parameters(), lr=1e-4, betas=(train["beta1"], train["beta2"]),
                                     eps=train["epsilon"], fused=True, capturable=options.graphs)
        self.captured, self.loss_of = {}, smoothed_loss
        if options.graphs:
            self.stream, self.pool = torch.cuda.Stream(), torch.cuda.graph_pool_handle()
        if options.compile:
            torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 10**4
        compiled = functools.partial(torch.compile, dynamic=not options.graphs)
        if options.compile == "step":
            self.loss = compiled(self.loss)
        elif options.compile:  # what repeats, once for all layers of a kind
            network.embed, self.loss_of = compiled(network.embed), compiled(smoothed_loss)
            for layer in (*network.encoder, *network.decoder):
                layer.forward = compiled(layer.forward)

    def loss(self, source, target, wanted, kept):
        return self.loss_of(self.network(source, target, kept), wanted, self.smoothing, self.options.bf16_loss)

    def gradients(self, batch, block):
        self.adam.zero_grad(set_to_none=True)
        with torch.autocast(self.options.device, dtype=torch.bfloat16, enabled=self.options.bf16):
            loss = self.loss(*batch.sides(block))
        loss.backward()
        return loss.detach()

    def eager(self, batch, block):
        self.gradients(batch, block)
        self.adam.step()

    def capture(self, batch):
        """Eager updates and captures use one stream: a pool's memory is reused by captures of the same stream alone."""
        block, graph = batch.block.to(self.options.device), torch.cuda.CUDAGraph()
        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream):
            for _ in range(2):  # libraries start, code is compiled
                self.eager(batch, block)
            torch.cuda.synchronize()
            graph.capture_begin(pool=self.pool)
            self.eager(batch, block)
            graph.capture_end()
        torch.cuda.current_stream().wait_stream(self.stream)
        return block, graph

    def update(self, batch):
        if not self.options.graphs:
            return self.eager(batch, batch.block.to(self.options.device, non_blocking=True))
        if batch.shape not in self.captured:
            self.captured[batch.shape] = self.capture(batch)
        block, graph = self.captured[batch.shape]
        block.copy_(batch.block, non_blocking=True)
        graph.replay()


def measure(update, batch, seconds, first, on_gpu):
    """Target tokens/s of the batches from `first` on, and the number of updates."""
    if on_gpu:
        torch.cuda.synchronize()  # what came before
    flying, tokens, steps, begin = collections.deque(), 0, 0, time.perf_counter()
    while time.perf_counter() - begin < seconds:
        now = batch(first + steps)
        update(now)
        tokens, steps = tokens + now.tokens, steps + 1
        if on_gpu:
            flying.append(torch.cuda.Event())
            flying[-1].record()
            if len(flying) > 2:
                flying.popleft().synchronize()
    if on_gpu:
        torch.cuda.synchronize()
    return dict(tokens_per_second=tokens / (time.perf_counter() - begin), steps=steps)


def read_options(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", nargs="?")
    parser.add_argument("--config", metavar="FILE", help="resolved config in place of a run, with --vocabulary")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--rounds", action="store_true", help="measure once for each line of stdin; print a line when ready")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="(default: all cores, as attn)")
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--bf16-loss", action="store_true", help="the loss of bf16 logits: coarse in value, with --bf16")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--ragged", action="store_true", help="rows of real tokens, without padding")
    parser.add_argument("--classes", nargs="?", type=int, const=1024, metavar="ROWS",
                        help="pad ragged batches to a multiple of 1,024 rows, or of ROWS")
    parser.add_argument("--graphs", action="store_true", help="an update as one CUDA graph")
    parser.add_argument("--compile", nargs="?", choices=["step", "layers"], const="step", help="use torch.compile")
    parser.add_argument("--inductor-cache", type=pathlib.Path, metavar="FILE",
                        help="what an earlier call compiled; written after the warm-up, also after SIGTERM")
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE", help="override a model option")
    parser.add_argument("--vocabulary", type=int, metavar="N", help="synthetic text with this vocabulary size")
    options = parser.parse_args(arguments)
    on_gpu, version = options.device == "cuda", [int(part) for part in torch.__version__.split(".")[:2]]
    for wrong, why in (
            ((options.run is None) == (options.config is None), "a run or --config FILE is required, not both"),
            (options.config and not options.vocabulary, "--config has no text: add --vocabulary N"),
            (on_gpu and not torch.cuda.is_available(), "--device cuda: no GPU found (CPU-only PyTorch, or no driver)"),
            (options.graphs and not on_gpu, "--graphs: CUDA graphs need --device cuda"),
            (options.classes is not None and (options.classes < 1 or not options.ragged),
             "--classes: at least one row, and only with --ragged"),
            (options.ragged and on_gpu and version < [2, 11], "--ragged: needs PyTorch 2.11 (torch.nn.attention.varlen)"),
            (options.ragged and on_gpu and not options.bf16, "--ragged: varlen_attn has no fp32 on a GPU; add --bf16"),
            (options.bf16_loss and not options.bf16, "--bf16-loss: only with --bf16")):
        if wrong:
            sys.exit(f"pytorch_step: {why}")
    return options


def main():
    options = read_options()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    on_gpu = options.device == "cuda"
    torch.backends.cuda.enable_cudnn_sdp(False)
    run = Config(options.config) if options.config else Run(options.run)
    run.set(options.set)
    if options.run:  # another model is only timed
        run.require_paper()
    model, train, limit = run.model, run.config["train"], run.data["batch_tokens"]
    if options.ragged and (model["attention_dropout"] or model["d_k"] != model["d_v"]):
        sys.exit(f"{run.name}: --ragged needs model.attention_dropout 0 and d_k = d_v")
    start, end = (1, 2) if options.config else (run.pieces.bos_id(), run.pieces.eos_id())
    classes = options.vocabulary or run.pieces.get_piece_size()
    pairs = synthetic_pairs(classes) if options.vocabulary else run.pairs()
    cut = cut_batches(pairs, limit, run.config["seed"])
    if options.inductor_cache and options.inductor_cache.exists():
        torch.compiler.load_cache_artifacts(options.inductor_cache.read_bytes())
    step = Step(model, classes, train, options)
    batch = lambda i: Batch(cut[i % len(cut)], start, end, options.ragged, options.classes, on_gpu)
    if on_gpu:  # made once, as by the workers of a DataLoader
        ready = [batch(i) for i in range(len(cut))]
        batch = lambda i: ready[i % len(ready)]
    begin, warm, quiet = time.perf_counter(), 0, 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # what was compiled is kept
    try:
        while warm < (len(cut) if on_gpu else 3) or (options.compile and quiet < 5):
            before = counters["stats"]["unique_graphs"]
            step.update(batch(warm))
            warm, quiet = warm + 1, quiet + 1 if counters["stats"]["unique_graphs"] == before else 0
    finally:
        if options.inductor_cache and (made := torch.compiler.save_cache_artifacts()):
            options.inductor_cache.write_bytes(made[0])
    facts = dict(version=torch.__version__, warm_up_seconds=time.perf_counter() - begin, batches=len(cut),
                 tokens_per_batch=sum(len(target) + 1 for _, target in pairs) / len(cut))
    facts |= dict(device=torch.cuda.get_device_name(), captured=len(step.captured)) if on_gpu else {}
    if options.rounds:
        report("plain PyTorch", **facts)
    for _ in sys.stdin if options.rounds else [""]:
        found = measure(step.update, batch, options.seconds, warm, on_gpu)
        warm += found["steps"]
        if options.compile:
            compiled = counters["stats"]["unique_graphs"]
            found |= dict(compiled=options.compile, compiled_graphs=compiled, compiled_late=compiled - before)
        found |= dict(memory=torch.cuda.max_memory_reserved()) if on_gpu else {}
        report("plain PyTorch", **facts, **found)


if __name__ == "__main__":
    main()
