// Attention of one sentence and head with products in bf16 tiles, for long sentences. Softmax,
// dropout, log-sums and the sums of products are float32.
#pragma once

#include <cstdint>

#include "kernels/cpu/table.h"
#include "kernels/cpu/tiles.h"

namespace attn::cpu {

/// Whether tiles outperform the float32 kernel on AMX: for heads of at least 32 dimensions and
/// sentences of at least 48 keys, without a window, a bias or relative positions (measured with as
/// many queries as keys: results/measurements.md).
bool suits_tile_attention(const AttentionHead&);

/// Floats of scratch for sentences of up to `keys` keys.
int64_t tile_attention_scratch(int64_t keys, int64_t d_k, int64_t d_v);

/// As Kernels::attention_forward and attention_backward, for at least one key. With a window all
/// keys are multiplied. Operands are rounded to bf16 (8 significant bits), queries after scaling: a
/// score s has an error of up to 2^-7 Σ |q k| / √d_k, a weight that of exp(s), a sum over keys or
/// queries 2^-7 of the sum of its absolute terms.
void tile_attention_forward(const TileKernels&, const AttentionHead&, float* output,
                            int64_t output_stride, float* log_sum, float* scratch);
void tile_attention_backward(const TileKernels&, const AttentionHead&, const AttentionGradients&,
                             float* scratch);

}  // namespace attn::cpu
