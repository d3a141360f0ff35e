// Rotary positions (Su et al. 2021): the scores of rotated queries and keys depend on how far apart
// they are, not on where they stand.
#pragma once

#include <cstdint>

#include "kernels/libtorch.h"

namespace attn {

/// By which angles rows are turned; undefined for none.
struct Rotation {
  torch::Tensor table_PK;     ///< [positions, d_k] float32: sine and cosine of each pair's angle
  torch::Tensor positions_N;  ///< [N] int64: each row's line of the table

  bool defined() const { return table_PK.defined(); }
};

/// Each head of x_NE [N, heads·d_k]: pairs (2i, 2i + 1) turned by their row's angles; x_NE itself
/// without a rotation. Differentiable. On a CPU computed in and returned as float32; elsewhere by
/// LibTorch's operations (rotate_libtorch), in the type of x_NE.
torch::Tensor rotate(const torch::Tensor& x_NE, const Rotation& rotation);
torch::Tensor rotate_libtorch(const torch::Tensor& x_NE, const Rotation& rotation);

/// So many heads in place, by one line of the table.
void rotate_heads(float* x, const float* line_K, int64_t heads, int64_t d_k);

}  // namespace attn
