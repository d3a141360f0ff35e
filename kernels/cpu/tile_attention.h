// Attention of one sentence and head with products in bf16 tiles, for long sentences. Softmax,
// dropout, log-sums and the sums of products are float32.
#pragma once

#include <cstdint>

#include "kernels/cpu/table.h"
#include "kernels/cpu/tiles.h"

namespace attn::cpu {

/// Whether tiles are faster than the float32 kernel, where they are with AMX: for heads of at least
/// 32 dimensions and sentences of at least 48 keys (results/performance.md), without a window.
bool suits_tile_attention(const AttentionHead&);

/// Floats of scratch for sentences of up to `keys` keys.
int64_t tile_attention_scratch(int64_t keys, int64_t d_k, int64_t d_v);

/// As Kernels::attention_forward and attention_backward. At least one key; the window is ignored.
/// Relative error about that of bf16, 2^-8, of the largest value in a row.
void tile_attention_forward(const TileKernels&, const AttentionHead&, float* output,
                            int64_t output_stride, float* log_sum, float* scratch);
void tile_attention_backward(const TileKernels&, const AttentionHead&, const AttentionGradients&,
                             float* scratch);

}  // namespace attn::cpu
