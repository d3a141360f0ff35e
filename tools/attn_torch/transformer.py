"""The Transformer ("Attention Is All You Need", section 3) with its options and the names of attn's checkpoints.

Further dimensions in comments: H heads, K d_k or d_v.
"""
import math

import torch
from torch import nn
from torch.nn import functional as F

from .layers import PADDING, EncoderDecoder, Recurrence, weight, window

RELATIVE_CLIP, T5_BUCKETS, T5_FARTHEST = 16, 32, 128
ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu, "silu": F.silu, "geglu": F.gelu, "swiglu": F.silu}
GATED = ("geglu", "swiglu")
ADDED = ("sinusoidal", "sinusoidal_halves", "learned")  # positions that are added to embeddings


def width_ratio(config):
    """d_model relative to the base model's of µP (Yang et al. 2021)."""
    return config.d_model / (config.mup_base or config.d_model)


class ScaleNorm(nn.Module):
    """g x / ‖x‖ (Nguyen and Salazar 2019)."""

    def __init__(self, width):
        super().__init__()
        self.weight = weight(1)

    def forward(self, x):
        return F.rms_norm(x, x.shape[-1:], eps=1e-10) * self.weight / math.sqrt(x.size(-1))


def make_norm(config):
    kinds = {"layer": nn.LayerNorm, "rms": lambda width: nn.RMSNorm(width, 1e-6), "scale": ScaleNorm}
    return kinds[config.norm_kind](config.d_model)


# Section 3.5: positions


def sinusoids(length, width, halves=False, device=None):
    """[length, width]: dimension 2i is sin(p / 10000^(2i/width)), 2i + 1 its cosine. halves: as in the released code all
    sines, then all cosines, of p / 10000^(i / (width/2 - 1))."""
    position, pair = (torch.arange(n, dtype=torch.float64, device=device) for n in (length, width // 2))
    angle = position[:, None] / 10000 ** (pair / (max(width // 2 - 1, 1) if halves else width / 2))
    return torch.cat([angle.sin(), angle.cos()], 1) if halves else torch.stack([angle.sin(), angle.cos()], 2).flatten(1)


def rotate(x):
    """RoPE (Su et al. 2021): turns the pairs (2i, 2i + 1) of x [B, H, L, K] by their position's angles."""
    sin, cos = sinusoids(*x.shape[2:], device=x.device).to(x).unflatten(1, (-1, 2)).unbind(2)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(3)


def distances(length, device):
    """j - i of query i and key j, [L, L]."""
    position = torch.arange(length, device=device)
    return position[None, :] - position[:, None]


def alibi_slopes(heads):
    """2^(-8h/H), [H] (Press et al. 2022); unless H is a power of two, also every second slope of twice as many heads."""
    power = 2 ** int(math.log2(heads))
    return torch.exp2(-8 / power * torch.cat([torch.arange(1, power + 1), torch.arange(heads - power) + 0.5]).double())


def t5_buckets(distance, causal):
    """A bucket each for short distances, then logarithmically wider ones (Raffel et al. 2020)."""
    buckets = T5_BUCKETS if causal else T5_BUCKETS // 2
    far, exact = (-distance).clamp(min=0) if causal else distance.abs(), buckets // 2
    wide = (far.clamp(min=exact).double() / exact).log() / math.log(T5_FARTHEST / exact) * (buckets - exact)
    bucket = torch.where(far < exact, far, (exact + wide + 1e-6).long().clamp(max=buckets - 1))
    return bucket if causal else bucket + (distance > 0) * buckets


class Position(nn.Module):
    """What is added to embeddings, or to the scores of self-attention."""

    def __init__(self, config, causal, attends):
        super().__init__()
        self.kind, self.causal, self.heads = config.position, causal, config.heads
        if self.kind == "learned":
            self.weight = weight(config.max_positions, config.d_model)
        if self.kind == "t5_bias" and attends:
            self.weight = weight(T5_BUCKETS, config.heads)

    def forward(self, x, position):
        """Adds encodings of position [L] or [B, L] to x [B, L, D]."""
        if self.kind not in ADDED:
            return x
        learned = self.kind == "learned"
        table = self.weight if learned else sinusoids(x.size(1), x.size(2), self.kind == "sinusoidal_halves", x.device)
        return x + table[position].to(x)

    def bias(self, x):
        """[H, L, L] for the scores of positions x [B, L, D], or 0."""
        distance = distances(x.size(1), x.device)
        if self.kind == "alibi":
            return -alibi_slopes(self.heads).to(x)[:, None, None] * distance.abs()
        if self.kind == "t5_bias" and hasattr(self, "weight"):
            return self.weight[t5_buckets(distance, self.causal)].permute(2, 0, 1)
        return 0


class Embedding(nn.Module):
    def __init__(self, config, causal, attends, word_positions=False):
        super().__init__()
        self.position = Position(config, causal, attends)
        self.word_position = Position(config, causal, attends) if word_positions else None
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x, words=None):
        x = self.position(x, torch.arange(x.size(1), device=x.device))
        if self.word_position:  # in reverse order, so that the sum of both encodings identifies both
            x = self.word_position(x.flip(2), words).flip(2)
        return self.dropout(x)


# Section 3.2: attention


class RelativePositions(nn.Module):
    """Vectors of the clipped distance, for keys and values of self-attention (Shaw et al. 2018)."""

    def __init__(self, config):
        super().__init__()
        self.key_weight = weight(config.heads, 2 * RELATIVE_CLIP + 1, config.d_k)
        self.value_weight = weight(config.heads, 2 * RELATIVE_CLIP + 1, config.d_v)

    def index(self, x):
        """The vector of each pair of positions of x [B, H, L, …], [B, H, L, L]."""
        clipped = distances(x.size(2), x.device).clamp(-RELATIVE_CLIP, RELATIVE_CLIP) + RELATIVE_CLIP
        return clipped.expand(*x.shape[:2], -1, -1)

    def scores(self, q):
        return (q @ self.key_weight.mT).gather(3, self.index(q))

    def values(self, weights):
        of_vectors = weights.new_zeros(*weights.shape[:3], self.value_weight.size(1))
        return of_vectors.scatter_add(3, self.index(weights), weights) @ self.value_weight


class QueryKeyNorm(nn.Module):
    """Queries and keys of heads [B, H, L, K] of length 1 (Henry et al. 2020), or RMSNorm of them with gains."""

    def __init__(self, config):
        super().__init__()
        if config.qk_norm == "l2":
            self.scale = weight(1)  # of the scores
        else:
            self.query_weight, self.key_weight = weight(config.d_k), weight(config.d_k)

    def forward(self, q, k):
        q, k = (F.rms_norm(x, x.shape[-1:], eps=1e-6) for x in (q, k))  # of length √d_k
        if hasattr(self, "scale"):
            return q * q.size(-1) ** -0.5, k * k.size(-1) ** -0.5
        return q * self.query_weight, k * self.key_weight


class MultiHeadAttention(nn.Module):
    def __init__(self, config, cross=False):
        super().__init__()
        self.heads, self.kv_heads = config.heads, config.kv_heads
        self.query = nn.Linear(config.d_model, self.heads * config.d_k, config.bias)
        self.key = nn.Linear(config.d_model, self.kv_heads * config.d_k, config.bias)
        self.value = nn.Linear(config.d_model, self.kv_heads * config.d_v, config.bias)
        self.output = nn.Linear(self.heads * config.d_v, config.d_model, config.bias)
        self.weights_dropout = nn.Dropout(config.attention_dropout)
        self.scale = 1 / math.sqrt(config.d_k * width_ratio(config))
        self.qk_norm = QueryKeyNorm(config) if config.qk_norm != "none" else None
        self.rotary = config.position == "rotary" and not cross
        self.relative = RelativePositions(config) if config.position == "relative" and not cross else None

    def forward(self, x, visible, bias=0, memory=None):
        """x [B, L, D] to the same; keys and values are of memory [B, M, D], in self-attention of x. visible [B, L or 1, M]:
        what positions see; bias [H, L, M]: of the scores."""
        memory, scale = x if memory is None else memory, self.scale
        q = self.query(x).unflatten(2, (self.heads, -1)).transpose(1, 2)
        k, v = (part(memory).unflatten(2, (self.kv_heads, -1)).transpose(1, 2) for part in (self.key, self.value))
        if self.qk_norm:
            q, k = self.qk_norm(q, k)
            scale = getattr(self.qk_norm, "scale", scale)
        if self.rotary:
            q, k = rotate(q), rotate(k)
        k, v = (rows.repeat_interleave(self.heads // self.kv_heads, 1) for rows in (k, v))
        scores = q @ k.transpose(2, 3)
        if self.relative:
            scores = scores + self.relative.scores(q)
        scores = (scores * scale + bias).masked_fill(~visible.unsqueeze(1), torch.finfo(scores.dtype).min)
        weights = self.weights_dropout(scores.softmax(3))
        context = weights @ v
        if self.relative:
            context = context + self.relative.values(weights)
        return self.output(context.transpose(1, 2).flatten(2))


# Section 3.1: layers


class Convolution(nn.Module):
    """In place of self-attention (Table 1)."""

    def __init__(self, config, mixer, layer, causal):
        super().__init__()
        self.shape, self.gated = (mixer.kernel, causal, mixer.dilation ** layer), mixer.gated
        self.taps = nn.Linear(mixer.kernel * config.d_model, (1 + mixer.gated) * config.d_model)

    def forward(self, x, real):
        x = self.taps(window(x * real.unsqueeze(2), *self.shape))
        return F.glu(x, 2) if self.gated else x


class FeedForward(nn.Module):
    """W2 act(W1 x); gated: W2 (act(W x) ⊙ W1 x) (Shazeer 2020)."""

    def __init__(self, config):
        super().__init__()
        self.activation, bias = ACTIVATIONS[config.activation], config.feed_forward_bias
        self.inner = nn.Linear(config.d_model, config.d_ff, bias)
        self.gate = nn.Linear(config.d_model, config.d_ff, bias) if config.activation in GATED else None
        self.outer, self.dropout = nn.Linear(config.d_ff, config.d_model, bias), nn.Dropout(config.activation_dropout)

    def forward(self, x):
        hidden = self.activation(self.gate(x)) * self.inner(x) if self.gate else self.activation(self.inner(x))
        return self.outer(self.dropout(hidden))


class Sublayer(nn.Module):
    """post: LayerNorm(x + F(x)), as in the paper; pre: x + F(LayerNorm(x)); deep: LayerNorm(α x + F(x)) (DeepNorm)."""

    def __init__(self, config, decoder):
        super().__init__()
        self.pre, self.alpha = config.norm == "pre", 1
        if config.norm == "deep":
            self.alpha = (3 * config.decoder_layers) ** 0.25 if decoder else 0.81 * (config.layers ** 4 * config.decoder_layers) ** 0.0625
        self.norm, self.dropout = make_norm(config), nn.Dropout(config.dropout)

    def forward(self, x, function):
        if self.pre:
            return x + self.dropout(function(self.norm(x)))
        return self.norm(self.alpha * x + self.dropout(function(x)))


class Layer(nn.Module):
    """Figure 1: a layer of the encoder, or, with cross-attention, of the decoder."""

    def __init__(self, config, mixer, number, decoder):
        super().__init__()
        parts, both = {}, getattr(mixer, "bidirectional", False)
        if mixer.kind.endswith("attention"):
            parts["self_attention"] = MultiHeadAttention(config)
        if mixer.kind == "convolution":
            parts["convolution"] = Convolution(config, mixer, number, decoder)
        if mixer.kind == "recurrence":
            parts["recurrence"] = Recurrence(mixer.cell, config.d_model, config.d_model // (1 + both), both)
        self.mixer = next(iter(parts), None)
        if decoder:
            parts["cross_attention"] = MultiHeadAttention(config, cross=True)
        parts["feed_forward"] = FeedForward(config)
        for name, part in parts.items():
            self.add_module(name, part)
            self.add_module(name + "_sublayer", Sublayer(config, decoder))

    def forward(self, x, real, visible, bias, memory=None, memory_real=None):
        if self.mixer:
            mix, seen = getattr(self, self.mixer), (visible, bias) if self.mixer == "self_attention" else (real,)
            x = getattr(self, self.mixer + "_sublayer")(x, lambda y: mix(y, *seen))
        if memory is not None:
            x = self.cross_attention_sublayer(x, lambda y: self.cross_attention(y, memory_real.unsqueeze(1), 0, memory))
        return self.feed_forward_sublayer(x, self.feed_forward)


class Stack(nn.Module):
    """The encoder, or the decoder."""

    def __init__(self, config, mixer, decoder):
        super().__init__()
        self.layers = nn.ModuleList(Layer(config, mixer, i, decoder) for i in range(config.decoder_layers if decoder else config.layers))
        self.final_norm = make_norm(config) if config.norm == "pre" else nn.Identity()
        self.decoder, self.window = decoder, getattr(mixer, "window", 0)

    def forward(self, x, real, bias, *memory):
        distance, visible = distances(x.size(1), x.device), real.unsqueeze(1)
        if self.decoder:
            visible = visible & (distance <= 0)
        if self.window:  # restricted attention, section 4
            visible = visible & (distance.abs() <= (self.window - 1 if self.decoder else self.window // 2))
        for layer in self.layers:
            x = layer(x, real, visible, bias, *memory)
        return self.final_norm(x)


class Transformer(EncoderDecoder):
    def __init__(self, config, sizes):
        super().__init__(config, sizes)
        self.scale = math.sqrt(config.mup_base or config.d_model)
        attends = [mixer.kind.endswith("attention") for mixer in (config.encoder_mixer, config.decoder_mixer)]
        self.source_embedding = Embedding(config, False, attends[0])
        self.target_embedding = Embedding(config, True, attends[1], config.word_positions)
        self.encoder = Stack(config, config.encoder_mixer, False)
        self.decoder = Stack(config, config.decoder_mixer, True)
        self.counts_words = config.word_positions or config.deterministic_attention
        if config.deterministic_attention:
            self.deterministic_attention = nn.ModuleDict({"projection": nn.Linear(*[config.d_model] * 2, bias=False)})

    def encode(self, embedded, real):
        x = self.source_embedding(embedded)
        return self.encoder(x, real, self.source_embedding.position.bias(x)), real

    def decode(self, target, memory, memory_real, words=None):
        """words [B, T], of parsers with word_positions or deterministic_attention: the number of leaves of the tree up to
        and including each token, torch.isin(target, leaves).cumsum(1)."""
        if (words is None) == bool(self.counts_words):
            raise ValueError("words are for models with word_positions or deterministic_attention, and required there")
        x = self.embed(target, "target")
        if self.config.deterministic_attention:  # the encoder's row of the next word
            row = torch.minimum(words, memory_real.sum(1, keepdim=True) - 1).unsqueeze(2).expand_as(x)
            x = x + self.deterministic_attention["projection"](memory).gather(1, row)
        x = self.target_embedding(x, words)
        x = self.decoder(x, target != PADDING, self.target_embedding.position.bias(x), memory, memory_real)
        return x / width_ratio(self.config)
