// tiles.h for AVX-512 BF16 (vdpbf16ps), with the same operand layout as AMX: a line of a right tile
// is one vector (two adjacent inner elements of 16 columns), and two adjacent inner elements of a
// left row are one 32-bit word, which is broadcast.
#include <immintrin.h>

#include "kernels/cpu/tiles.h"

namespace attn::cpu::avx512_bf16 {
namespace {

#include "kernels/cpu/bf16_body.h"

// Inner tiles per pass: six lines of right tiles (96 KB) stay in L2 while left tiles stream by.
constexpr int64_t kInnerBlock = 16;

// A block of the result: kRows rows of kColumns vectors.
struct Block {
  const uint16_t* left;   // the first row, in a tile that holds all rows
  const uint16_t* right;  // the first line
  int64_t right_line;     // elements from one line of the right operand to the next
  int64_t inner;          // tiles
  float* out;
  int64_t stride;         // floats
  int64_t rows, columns;  // valid part of the block; the rest is not stored
  const float* bias;      // of the first column, or null
  bool add;
};

template <int kRows, int kColumns>
void multiply_block(const Block& b) {
  __mmask16 mask[kColumns];
  __m512 sums[kRows][kColumns];
#pragma GCC unroll 8
  for (int v = 0; v < kColumns; ++v) {
    mask[v] = first(b.columns - 16 * v);
    const __m512 start =
        b.bias ? _mm512_maskz_loadu_ps(mask[v], b.bias + 16 * v) : _mm512_setzero_ps();
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) sums[r][v] = start;
  }
  if (b.add) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      if (r >= b.rows) break;
#pragma GCC unroll 8
      for (int v = 0; v < kColumns; ++v) {
        sums[r][v] = _mm512_maskz_loadu_ps(mask[v], b.out + r * b.stride + 16 * v);
      }
    }
  }
  const uint16_t* left = b.left;
  const uint16_t* right = b.right;
  // A tile's rows and a right tile's lines both lie kTileInner elements apart, pair after pair.
  for (int64_t k = 0; k < b.inner; ++k, left += kTileSize, right += kTileSize) {
    for (int pair = 0; pair < kTileInner / 2; ++pair) {
      __m512bh lines[kColumns];
#pragma GCC unroll 8
      for (int v = 0; v < kColumns; ++v) {
        lines[v] = reinterpret_cast<__m512bh>(
            _mm512_loadu_si512(right + v * b.right_line + pair * kTileInner));
      }
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        int word;
        __builtin_memcpy(&word, left + r * kTileInner + 2 * pair, sizeof word);
        const __m512bh both = reinterpret_cast<__m512bh>(_mm512_set1_epi32(word));
#pragma GCC unroll 8
        for (int v = 0; v < kColumns; ++v) {
          sums[r][v] = _mm512_dpbf16_ps(sums[r][v], both, lines[v]);
        }
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    if (r >= b.rows) break;
#pragma GCC unroll 8
    for (int v = 0; v < kColumns; ++v) {
      _mm512_mask_storeu_ps(b.out + r * b.stride + 16 * v, mask[v], sums[r][v]);
    }
  }
}

// Up to 24 of the 32 registers hold sums: blocks with fewer columns have more rows. The number of
// rows divides the 16 of a tile.
struct Shape {
  int rows;
  void (*multiply)(const Block&);
};
constexpr Shape kShapes[] = {{8, multiply_block<8, 1>}, {8, multiply_block<8, 2>},
                             {8, multiply_block<8, 3>}, {4, multiply_block<4, 4>},
                             {4, multiply_block<4, 5>}, {4, multiply_block<4, 6>}};
constexpr int64_t kMaxColumns = 6;

// Vectors of the next block when `left` remain, so that no block of a single vector is left over.
int64_t columns_of(int64_t left) {
  if (left <= kMaxColumns) return left;
  return left < kMaxColumns + 3 ? 4 : kMaxColumns;
}

void multiply(const TileProduct& p) {
  const int64_t columns = tile_count(p.columns, kTileLines);
  const int64_t left_line = p.inner_tiles * kTileSize, right_line = p.right_stride * kTileSize;
  for (int64_t k = 0; k < p.inner_tiles; k += kInnerBlock) {
    const int64_t inner = p.inner_tiles - k < kInnerBlock ? p.inner_tiles - k : kInnerBlock;
    for (int64_t c = 0; c < columns;) {
      const int64_t taken = columns_of(columns - c);
      const Shape& shape = kShapes[taken - 1];
      for (int64_t row = 0; row < p.rows; row += shape.rows) {
        shape.multiply({.left = p.left + row / kTileLines * left_line + k * kTileSize +
                                row % kTileLines * kTileInner,
                        .right = p.right + c * right_line + k * kTileSize,
                        .right_line = right_line,
                        .inner = inner,
                        .out = p.out + row * p.out_stride + 16 * c,
                        .stride = p.out_stride,
                        .rows = p.rows - row,
                        .columns = p.columns - 16 * c,
                        .bias = p.bias ? p.bias + 16 * c : nullptr,
                        .add = p.add || k > 0});
      }
      c += taken;
    }
  }
}

}  // namespace

const TileKernels* table();  // for tiles.cpp

const TileKernels* table() {
  static constexpr TileKernels kTable = {"avx512_bf16",         pack_by_rows<false>,
                                         pack_by_columns<true>, pack_by_columns<false>,
                                         pack_by_rows<true>,    multiply,
                                         narrow_rows,           add_rows};
  return &kTable;
}

}  // namespace attn::cpu::avx512_bf16
