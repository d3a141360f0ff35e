// tiles.h in plain C++: the reference for the other implementations, and the fallback in tests.
#include <cstring>

#include "kernels/cpu/tiles.h"

namespace attn::cpu::generic {
namespace {

uint16_t to_bf16(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  if (x != x) return static_cast<uint16_t>((bits >> 16) | 0x40);  // rounding could make it infinite
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);  // to nearest even
}

float to_float(uint16_t half) {
  const uint32_t bits = static_cast<uint32_t>(half) << 16;
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

uint16_t element(const TileSource& m, int64_t row, int64_t column) {
  if (row >= m.rows || column >= m.columns) return 0;
  const int64_t at = row * m.stride + column;
  return m.narrow ? static_cast<const uint16_t*>(m.data)[at]
                  : to_bf16(static_cast<const float*>(m.data)[at]);
}

// Where element `inner` of line `line` lies in a tile of a left and of a right operand.
int64_t left_place(int64_t line, int64_t inner) {
  return line * kTileInner + inner;
}
int64_t right_place(int64_t line, int64_t inner) {
  return inner / 2 * kTileInner + 2 * line + inner % 2;
}

template <int64_t kPlace(int64_t, int64_t), bool kLinesAreColumns>
void pack(const TileSource& m, uint16_t* tiles) {
  const int64_t lines = kLinesAreColumns ? m.columns : m.rows;
  const int64_t inner = kLinesAreColumns ? m.rows : m.columns;
  for (int64_t line = 0; line < lines; line += kTileLines) {
    for (int64_t k = 0; k < inner; k += kTileInner, tiles += kTileSize) {
      for (int64_t l = 0; l < kTileLines; ++l) {
        for (int64_t i = 0; i < kTileInner; ++i) {
          tiles[kPlace(l, i)] =
              kLinesAreColumns ? element(m, k + i, line + l) : element(m, line + l, k + i);
        }
      }
    }
  }
}

void multiply(const TileProduct& p) {
  for (int64_t r = 0; r < p.rows; ++r) {
    const uint16_t* left = p.left + r / kTileLines * p.inner_tiles * kTileSize;
    for (int64_t c = 0; c < p.columns; ++c) {
      const uint16_t* right = p.right + c / kTileLines * p.right_stride * kTileSize;
      float& out = p.out[r * p.out_stride + c];
      float sum = p.add ? out : p.bias ? p.bias[c] : 0.0f;
      for (int64_t i = 0; i < p.inner_tiles * kTileInner; ++i) {
        const int64_t tile = i / kTileInner * kTileSize, inner = i % kTileInner;
        sum += to_float(left[tile + left_place(r % kTileLines, inner)]) *
               to_float(right[tile + right_place(c % kTileLines, inner)]);
      }
      out = sum;
    }
  }
}

void narrow(const float* y, int64_t y_stride, int64_t rows, int64_t columns, uint16_t* out,
            int64_t out_stride) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      out[r * out_stride + c] = to_bf16(y[r * y_stride + c]);
    }
  }
}

void add_rows(const TileSource& m, float* sums) {
  for (int64_t r = 0; r < m.rows; ++r) {
    for (int64_t c = 0; c < m.columns; ++c) {
      const int64_t at = r * m.stride + c;
      sums[c] += m.narrow ? to_float(static_cast<const uint16_t*>(m.data)[at])
                          : static_cast<const float*>(m.data)[at];
    }
  }
}

}  // namespace

const TileKernels* bf16_table();  // for tiles.cpp

const TileKernels* bf16_table() {
  static constexpr TileKernels kTable = {"generic",
                                         pack<left_place, false>,
                                         pack<left_place, true>,
                                         pack<right_place, true>,
                                         pack<right_place, false>,
                                         multiply,
                                         narrow,
                                         add_rows};
  return &kTable;
}

}  // namespace attn::cpu::generic
