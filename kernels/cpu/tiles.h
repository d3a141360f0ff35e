// Products of bf16 matrices, by AMX or by AVX-512's bf16. Operands are copied into tiles first,
// which is when float32 becomes bf16; sums are float32. Raw pointers, row-major.
#pragma once

#include <cstdint>

#include "kernels/cpu/table.h"

namespace attn::cpu {

/// A tile of a left operand [rows, inner] is 16 rows of 32 inner elements, one of a right operand
/// [inner, columns] 32 inner elements of 16 columns, two inner neighbours side by side: 1 KB each,
/// zeros beyond the edges. Tiles lie one after the other along the inner dimension, so an operand
/// has tile_count(rows or columns, 16) lines of tile_count(inner, 32) tiles.
inline constexpr int64_t kTileLines = 16, kTileInner = 32, kTileSize = kTileLines * kTileInner;

constexpr int64_t tile_count(int64_t length, int64_t tile) {
  return (length + tile - 1) / tile;
}

/// A matrix to be copied: float32, or bf16 if `narrow`.
struct TileSource {
  const void* data;
  int64_t stride;  ///< elements between rows
  int64_t rows, columns;
  bool narrow;
};

/// out = left × right, plus what is there (`add`) or a bias in every row.
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

/// What the loss gathers of a row of logits, a block of classes at a time.
struct LogitSums {
  float largest;
  float exp_sum;  ///< Σ exp(logit - largest)
  double sum;     ///< Σ logit
};

/// Packing runs on any number of threads at once; so does multiply.
struct TileKernels {
  const char* name;
  /// The source as a left operand, and transposed as one.
  void (*left)(const TileSource&, uint16_t* tiles);
  void (*left_transposed)(const TileSource&, uint16_t* tiles);
  /// The source as a right operand, and transposed as one.
  void (*right)(const TileSource&, uint16_t* tiles);
  void (*right_transposed)(const TileSource&, uint16_t* tiles);
  void (*multiply)(const TileProduct&);
  /// y, or max(0, y) with `relu`, as bf16.
  void (*narrow)(const float* y, int64_t y_stride, int64_t rows, int64_t columns, bool relu,
                 uint16_t* out, int64_t out_stride);
  /// Adds the sum over the source's rows to sums[columns].
  void (*add_rows)(const TileSource&, float* sums);
  /// bf16 gradient of max(0, y): d where y > 0, else 0.
  void (*relu_gradient)(const uint16_t* y, const uint16_t* d, uint16_t* out, int64_t count);
  void (*add_logits)(const float* logits, int64_t classes, LogitSums&);
  /// (exp(logit - log_sum) - smoothing) · scale, in place.
  void (*loss_gradient)(float* logits, int64_t classes, float log_sum, float smoothing,
                        float scale);
};

/// Whether products of bf16 numbers are faster than float32's, as far as is known: on x86 with
/// AVX-512's or AMX's instructions, elsewhere taken for granted.
bool has_bf16_instructions();

/// Those that this processor can run, the best first, at the end in plain C++; null beyond the
/// last.
const TileKernels* supported_tiles(int64_t index);

/// The best of them; null where only plain C++ is left, unless ATTN_ISA (instructions.h) names it.
const TileKernels* tile_kernels();

}  // namespace attn::cpu
