// Shared by linear layers in training and in search: tile operands and blocked products. Internal
// to kernels/.
#pragma once

#include "kernels/cpu/tiles.h"
#include "kernels/libtorch.h"

namespace attn::bf16 {

using cpu::kTileInner;
using cpu::kTileLines;
using cpu::kTileSize;
using cpu::tile_count;

/// Rows of a contiguous float32 or bf16 matrix [N, C].
inline cpu::TileSource source(const torch::Tensor& matrix, int64_t first_row, int64_t rows) {
  const bool narrow = matrix.scalar_type() == torch::kBFloat16;
  const int64_t offset = first_row * matrix.size(1) * static_cast<int64_t>(matrix.element_size());
  return {.data = static_cast<const char*>(matrix.const_data_ptr()) + offset,
          .stride = matrix.size(1),
          .rows = rows,
          .columns = matrix.size(1),
          .narrow = narrow};
}

/// Columns [begin, end) of a source.
inline cpu::TileSource columns(cpu::TileSource all, int64_t begin, int64_t end) {
  all.data = static_cast<const char*>(all.data) + begin * (all.narrow ? 2 : 4);
  all.columns = end - begin;
  return all;
}

inline torch::Tensor tiles(int64_t lines, int64_t inner) {
  return torch::empty({tile_count(lines, kTileLines), tile_count(inner, kTileInner), kTileSize},
                      torch::kBFloat16);
}

inline uint16_t* data(const torch::Tensor& narrow) {
  return static_cast<uint16_t*>(narrow.data_ptr());
}

/// `rows` rows of a left operand times columns [c, c + columns) of the right `operand` (c a
/// multiple of kTileLines), into `out`; see cpu::TileProduct.
inline void multiply_columns(const uint16_t* left, const torch::Tensor& operand, int64_t rows,
                             int64_t c, int64_t columns, float* out, int64_t out_stride, bool add,
                             const float* bias = nullptr) {
  const int64_t inner_tiles = operand.size(1);
  cpu::tile_kernels()->multiply({.left = left,
                                 .right = data(operand) + c / kTileLines * inner_tiles * kTileSize,
                                 .right_stride = inner_tiles,
                                 .rows = rows,
                                 .inner_tiles = inner_tiles,
                                 .columns = columns,
                                 .out = out,
                                 .out_stride = out_stride,
                                 .add = add,
                                 .bias = bias});
}

}  // namespace attn::bf16
