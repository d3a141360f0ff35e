"""The architectures before the Transformer (Table 2): recurrent with attention, ConvS2S, ByteNet."""
import math

import torch
from torch import nn
from torch.nn import functional as F

from .layers import PADDING, EncoderDecoder, Recurrence, numbered, weight, window

HALF_ROOT = math.sqrt(0.5)  # keeps the variance of a sum of two terms


class RecurrentAttention(nn.Module):
    """additive: vᵀ tanh(W q + U k) (Bahdanau et al. 2015); dot: (W q)ᵀ (U k) (Luong et al. 2015, general)."""

    def __init__(self, config, memory):
        super().__init__()
        self.query = nn.Linear(config.hidden, config.d_attention, False)
        self.key = nn.Linear(memory, config.d_attention, False)
        self.score_weight = weight(config.d_attention) if config.attention == "additive" else None

    def forward(self, x, keys, memory, real):
        """The context of x [B, hidden]; keys are key(memory)."""
        q = self.query(x).unsqueeze(1)
        scores = q @ keys.mT if self.score_weight is None else self.score_weight[None] @ torch.tanh(q + keys).mT
        return (scores.masked_fill(~real.unsqueeze(1), -math.inf).softmax(2) @ memory).squeeze(1)


class Recurrent(EncoderDecoder):
    """GNMT's form (Wu et al. 2016): the first decoder layer computes the query, the others read the context. Luong's: the
    last layer computes it. With input feeding the first layer reads what came out at the previous position."""

    def __init__(self, config, sizes):
        super().__init__(config, sizes)
        width, encoder, self.gnmt = config.d_model, [], config.decoder == "gnmt"
        for i in range(config.encoder_layers):
            both = config.encoder_directions == "both" or config.encoder_directions == "bottom" and i == 0
            encoder.append(Recurrence(config.cell, width, config.hidden, both))
            width = config.hidden * (1 + both)
        self.fed = config.input_feeding * (width if self.gnmt else config.d_model)
        inputs = [config.d_model + self.fed] + [config.hidden + width * self.gnmt] * (config.decoder_layers - 1)
        self.encoder_layers = numbered(self, "encoder", encoder)
        self.decoder_layers = numbered(self, "decoder", (Recurrence(config.cell, n, config.hidden) for n in inputs))
        self.first_states = numbered(self, "first_state", (nn.Linear(width, config.hidden) for _ in inputs))
        self.attention = RecurrentAttention(config, width)
        self.output = nn.Linear(config.hidden + width + config.d_model * self.gnmt, config.d_model)
        self.dropped = nn.Dropout(config.dropout)

    def residual(self, i, x):
        return x if self.config.residual and i >= 2 else 0

    def encode(self, embedded, real):
        x = self.dropped(embedded)
        for i, layer in enumerate(self.encoder_layers):
            x = self.dropped(layer(x, real) + self.residual(i, x))
        return x, real

    def decode(self, target, memory, real):
        mean = (memory * real.unsqueeze(2)).sum(1) / real.sum(1, keepdim=True)
        states = [layer.begin(torch.tanh(first(mean))) for layer, first in zip(self.decoder_layers, self.first_states)]
        keys, attending, rows = self.attention.key(memory), 0 if self.gnmt else len(states) - 1, []
        fed = context = memory.new_zeros(len(memory), self.fed)
        for embedded in self.dropped(self.embed(target, "target")).unbind(1):
            x = torch.cat([embedded, fed], 1)
            for i, layer in enumerate(self.decoder_layers):
                below = self.dropped(x) if i else x
                below = torch.cat([below, context], 1) if i and self.gnmt else below
                states[i] = layer.step(below, states[i])
                x = states[i][0] + self.residual(i, x)
                context = self.attention(x, keys, memory, real) if i == attending else context
            x = torch.cat([x, context] + [embedded] * self.gnmt, 1)
            rows.append(self.dropped(torch.tanh(self.output(x))))
            if self.fed:
                fed = context if self.gnmt else rows[-1]
        return torch.stack(rows, 1)


class WeightNormLinear(nn.Module):
    """x Wᵀ + b, where a row of W is length · direction / ‖direction‖ (Salimans and Kingma 2016)."""

    def __init__(self, inputs, outputs):
        super().__init__()
        self.direction, self.length, self.bias = weight(outputs, inputs), weight(outputs), weight(outputs)

    def forward(self, x):
        return x @ self.direction.T * (self.length / self.direction.norm(dim=1)) + self.bias


class GatedConvolution(nn.Module):
    """Section 3.2 of ConvS2S: a convolution to twice the width, one half of which gates the other."""

    def __init__(self, inputs, width, kernel, causal, dropout):
        super().__init__()
        self.product = WeightNormLinear(kernel * inputs, 2 * width)
        self.projection = WeightNormLinear(inputs, width) if inputs != width else None
        self.shape, self.dropout = (kernel, causal), nn.Dropout(dropout)

    def forward(self, x, real):
        return F.glu(self.product(window(self.dropout(x) * real.unsqueeze(2), *self.shape)), 2)

    def residual(self, x):
        return self.projection(x) if self.projection else x


class Convolutional(EncoderDecoder):
    """ConvS2S (Gehring et al. 2017)."""

    def __init__(self, config, sizes):
        super().__init__(config, sizes)
        self.scale, self.dropped = 0.1 * math.sqrt(config.d_model), nn.Dropout(config.dropout)
        for side, stacks in (("encoder", config.encoder), ("decoder", config.decoder)):
            shapes = [(stack.width, stack.kernel) for stack in stacks for _ in range(stack.layers)]
            widths = [width for width, _ in shapes]
            setattr(self, side + "_layers", numbered(self, side, (
                GatedConvolution(below, *shape, side == "decoder", config.dropout)
                for below, shape in zip(widths[:1] + widths, shapes))))
            self.add_module(side + "_in", WeightNormLinear(config.d_model, widths[0]))
            self.add_module(side + "_out", WeightNormLinear(widths[-1], config.d_model))
        self.attentions = numbered(self, "attention", (nn.ModuleDict(
            {"in": WeightNormLinear(width, config.d_model), "out": WeightNormLinear(config.d_model, width)})
            for width in widths))
        self.source_positions = weight(config.max_positions, config.d_model)
        self.target_positions = weight(config.max_positions, config.d_model)

    def encode(self, embedded, real):
        embedded = self.dropped(embedded + self.source_positions[:embedded.size(1)])
        x = self.encoder_in(embedded)
        for layer in self.encoder_layers:
            x = (layer(x, real) + layer.residual(x)) * HALF_ROOT
        keys = self.encoder_out(x)
        if keys.requires_grad:  # every attention adds to the gradient, through keys and values
            keys.register_hook(lambda gradient: gradient * 0.5 / len(self.attentions))
        roots = real.sum(1).to(keys).sqrt().view(-1, 1, 1)  # undo the shrinking of an average of S vectors
        return keys, (keys + embedded) * HALF_ROOT * roots, real

    def decode(self, target, keys, values, real):
        embedded = self.dropped(self.embed(target, "target") + self.target_positions[:target.size(1)])
        x = self.decoder_in(embedded)
        for layer, attention in zip(self.decoder_layers, self.attentions):
            states = layer(x, target != PADDING)
            scores = (attention["in"](states) + embedded) * HALF_ROOT @ keys.transpose(1, 2)
            weights = scores.masked_fill(~real.unsqueeze(1), -math.inf).softmax(2)
            attended = (attention["out"](weights @ values) + states) * HALF_ROOT
            x = (attended + layer.residual(x)) * HALF_ROOT
        return self.dropped(self.decoder_out(x))


class ByteNetBlock(nn.Module):
    """Narrow, convolve, widen, with norm and ReLU before each (Kalchbrenner et al. 2016, figure 3, left)."""

    def __init__(self, config, dilation, causal):
        super().__init__()
        width, hidden, self.shape = config.d_model, config.hidden, (config.kernel, causal, dilation)
        self.narrow_norm, self.narrow = nn.LayerNorm(width), nn.Linear(width, hidden)
        self.convolution_norm, self.convolution = nn.LayerNorm(hidden), nn.Linear(config.kernel * hidden, hidden)
        self.widen_norm, self.widen = nn.LayerNorm(hidden), nn.Linear(hidden, width)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x, real):
        y = F.relu(self.convolution_norm(self.narrow(F.relu(self.narrow_norm(x)))))
        y = self.convolution(window(y * real.unsqueeze(2), *self.shape))
        return x + self.dropout(self.widen(F.relu(self.widen_norm(y))))


class ByteNet(EncoderDecoder):
    """Target position t reads position t of the encoder, which runs over the source and some zeros after it."""

    def __init__(self, config, sizes):
        super().__init__(config, sizes)
        dilations = list(config.dilations) * config.repeats
        self.encoder_blocks = numbered(self, "encoder", (ByteNetBlock(config, d, False) for d in dilations))
        self.decoder_blocks = numbered(self, "decoder", (ByteNetBlock(config, d, True) for d in dilations))
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(config.d_model), nn.LayerNorm(config.d_model)
        self.join = nn.Linear(config.kernel * 2 * config.d_model, config.d_model)
        self.dropped = nn.Dropout(config.dropout)

    def encode(self, embedded, real):
        lengths = (real.sum(1, keepdim=True) * self.config.length_factor).ceil()  # dynamic unfolding
        unfolded = torch.arange(int(lengths.max()), device=real.device) < lengths
        x = F.pad(self.dropped(embedded), (0, 0, 0, unfolded.size(1) - real.size(1)))
        for block in self.encoder_blocks:
            x = block(x, unfolded)
        return (self.encoder_norm(x) * unfolded.unsqueeze(2),)

    def decode(self, target, memory):
        memory = F.pad(memory, (0, 0, 0, max(target.size(1) - memory.size(1), 0)))[:, :target.size(1)]
        joined = torch.cat([memory, self.dropped(self.embed(target, "target"))], 2)
        x = self.join(window(joined, self.config.kernel, True))
        for block in self.decoder_blocks:
            x = block(x, target != PADDING)
        return self.decoder_norm(x)
