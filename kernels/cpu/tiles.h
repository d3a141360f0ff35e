// Products of bf16 matrices, by AMX, AVX-512 BF16 or plain C++. Operands are packed into tiles,
// which converts float32 to bf16; sums are float32. Raw pointers, row-major.
#pragma once

#include <cstdint>

#include "kernels/cpu/table.h"

namespace attn::cpu {

/// The layout of packed operands. A tile of a left operand [rows, inner] is 16 rows of 32 inner
/// elements. A tile of a right operand [inner, columns] is 16 lines, each two adjacent inner
/// elements of 16 columns, interleaved. A tile is 1 KB, zero-padded. Tiles are contiguous along the
/// inner dimension: an operand has tile_count(rows or columns, 16) lines of tile_count(inner, 32)
/// tiles.
inline constexpr int64_t kTileLines = 16, kTileInner = 32, kTileSize = kTileLines * kTileInner;

constexpr int64_t tile_count(int64_t length, int64_t tile) {
  return (length + tile - 1) / tile;
}

/// A matrix to pack: float32, or bf16 if `narrow`.
struct TileSource {
  const void* data;
  int64_t stride;  ///< elements between rows
  int64_t rows, columns;
  bool narrow;
};

/// out = left × right, added to `out` (`add`) or to a bias in every row.
struct TileProduct {
  const uint16_t* left;
  const uint16_t* right;
  int64_t right_stride;  ///< tiles from one line of the right operand to the next
  int64_t rows, inner_tiles, columns;
  float* out;
  int64_t out_stride;  ///< floats between rows
  bool add;
  const float* bias = nullptr;  ///< [columns], or none; not with `add`
};

/// All are thread-safe.
struct TileKernels {
  const char* name;
  /// Packs the source, or its transpose, as a left operand.
  void (*left)(const TileSource&, uint16_t* tiles);
  void (*left_transposed)(const TileSource&, uint16_t* tiles);
  /// Packs the source, or its transpose, as a right operand.
  void (*right)(const TileSource&, uint16_t* tiles);
  void (*right_transposed)(const TileSource&, uint16_t* tiles);
  void (*multiply)(const TileProduct&);
  /// y as bf16.
  void (*narrow)(const float* y, int64_t y_stride, int64_t rows, int64_t columns, uint16_t* out,
                 int64_t out_stride);
  /// Adds the sum over the source's rows to sums[columns].
  void (*add_rows)(const TileSource&, float* sums);
};

/// Whether the processor has instructions for bf16: on x86 AVX-512 BF16 or AMX; assumed elsewhere.
bool has_bf16_instructions();

/// The kernels that this processor supports, fastest first, plain C++ last; null beyond the last.
const TileKernels* supported_tiles(int64_t index);

/// The fastest of them; null if that is plain C++, unless ATTN_ISA (instructions.h) selects it.
const TileKernels* tile_kernels();

}  // namespace attn::cpu
