// Rotary position embeddings, RoPE (Su et al. 2021): scores of rotated queries and keys depend on
// relative positions only. As it is read, the row rotary of experiments/multi30k/today.json has
// 0.88 to 0.92 of the training speed (results/measurements.md).
#pragma once

#include <cstdint>

#include "kernels/libtorch.h"

namespace attn {

/// Rotation angles of rows; undefined for none.
struct Rotation {
  torch::Tensor table_PK;     ///< [positions, d_k] float32: interleaved sines and cosines
  torch::Tensor positions_N;  ///< [N] int64

  bool defined() const { return table_PK.defined(); }
};

/// Rotates pairs (2i, 2i + 1) of each head of x_NE [N, heads·d_k] on a CPU, in float32.
/// Differentiable. The formula is in model/transformer/position.cpp.
torch::Tensor fast_rotate(const torch::Tensor& x_NE, const Rotation& rotation);

/// Rotates `heads` heads in place by one row of the table.
void rotate_heads(float* x, const float* line_K, int64_t heads, int64_t d_k);

}  // namespace attn
