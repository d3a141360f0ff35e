// tiles.h for Intel AMX.
#include <immintrin.h>

#include "kernels/cpu/tiles.h"

namespace attn::cpu::amx {
namespace {

// Inner tiles per pass: two lines of left tiles (32 KB) stay in L1 while right tiles stream by.
constexpr int64_t kInnerBlock = 16;
// Lines of right tiles per pass: 512 KB with kInnerBlock, for L2.
constexpr int64_t kColumnBlock = 32;

#include "kernels/cpu/bf16_body.h"

struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t line_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t lines[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// One 16 × 16 block of the result, through a buffer at the edge.
struct Corner {
  float* out;
  int64_t stride;  // floats
  int64_t rows, columns;
  const float* bias;  // of the first column, or null
  bool whole() const { return rows >= 16 && columns >= 16; }
  Corner next(int64_t lines, int64_t vectors) const {
    return {out + 16 * (lines * stride + vectors), stride, rows - 16 * lines,
            columns - 16 * vectors, bias ? bias + 16 * vectors : nullptr};
  }
};

void copy_in(const Corner& c, float* buffer) {
  for (int64_t r = 0; r < 16; ++r) {
    const __m512 row = r < c.rows ? _mm512_maskz_loadu_ps(first(c.columns), c.out + r * c.stride)
                                  : _mm512_setzero_ps();
    _mm512_store_ps(buffer + 16 * r, row);
  }
}

// The row from which the sums are initialized: the bias, or a copy of its end.
const float* bias_line(const Corner& c, float* buffer) {
  if (c.columns >= 16) return c.bias;
  _mm512_store_ps(buffer, _mm512_maskz_loadu_ps(first(c.columns), c.bias));
  return buffer;
}

void copy_out(const Corner& c, const float* buffer) {
  for (int64_t r = 0; r < 16 && r < c.rows; ++r) {
    _mm512_mask_storeu_ps(c.out + r * c.stride, first(c.columns), _mm512_load_ps(buffer + 16 * r));
  }
}

// GCC does not know that a tile load reads memory: without this barrier before and after one, it
// may drop earlier stores or move later ones before it.
#define ATTN_STORED __asm__ volatile("" ::: "memory")

// Tiles 0 to 3 hold sums; tile numbers must be constants.
#define ATTN_LOAD_SUMS(tile, corner)                                           \
  if (add && (corner).whole()) {                                               \
    _tile_loadd(tile, (corner).out, static_cast<size_t>((corner).stride) * 4); \
  } else if (add) {                                                            \
    copy_in(corner, buffer);                                                   \
    ATTN_STORED;                                                               \
    _tile_loadd(tile, buffer, 64);                                             \
    ATTN_STORED;                                                               \
  } else if ((corner).bias) {                                                  \
    const float* line = bias_line(corner, buffer);                             \
    ATTN_STORED;                                                               \
    _tile_loadd(tile, line, 0);                                                \
    ATTN_STORED;                                                               \
  } else {                                                                     \
    _tile_zero(tile);                                                          \
  }
#define ATTN_STORE_SUMS(tile, corner)                                           \
  if ((corner).whole()) {                                                       \
    _tile_stored(tile, (corner).out, static_cast<size_t>((corner).stride) * 4); \
  } else {                                                                      \
    _tile_stored(tile, buffer, 64);                                             \
    ATTN_STORED;                                                                \
    copy_out(corner, buffer);                                                   \
  }

// kLines × kColumns tiles of the result, over `inner` tiles of the inner dimension.
template <int kLines, int kColumns>
void multiply_block(const uint16_t* left, int64_t left_line, const uint16_t* right,
                    int64_t right_line, int64_t inner, const Corner& c, bool add) {
  alignas(64) float buffer[256];
  const Corner c01 = c.next(0, 1), c10 = c.next(1, 0), c11 = c.next(1, 1);
  ATTN_LOAD_SUMS(0, c)
  if constexpr (kColumns > 1) {
    ATTN_LOAD_SUMS(1, c01)
  }
  if constexpr (kLines > 1) {
    ATTN_LOAD_SUMS(2, c10)
  }
  if constexpr (kLines > 1 && kColumns > 1) {
    ATTN_LOAD_SUMS(3, c11)
  }
  for (int64_t k = 0; k < inner; ++k, left += kTileSize, right += kTileSize) {
    _tile_loadd(4, left, 64);
    _tile_loadd(6, right, 64);
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (kColumns > 1) {
      _tile_loadd(7, right + right_line, 64);
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (kLines > 1) {
      _tile_loadd(5, left + left_line, 64);
      _tile_dpbf16ps(2, 5, 6);
      if constexpr (kColumns > 1) _tile_dpbf16ps(3, 5, 7);
    }
  }
  ATTN_STORE_SUMS(0, c)
  if constexpr (kColumns > 1) {
    ATTN_STORE_SUMS(1, c01)
  }
  if constexpr (kLines > 1) {
    ATTN_STORE_SUMS(2, c10)
  }
  if constexpr (kLines > 1 && kColumns > 1) {
    ATTN_STORE_SUMS(3, c11)
  }
}

#undef ATTN_LOAD_SUMS
#undef ATTN_STORE_SUMS
#undef ATTN_STORED

void multiply(const TileProduct& p) {
  static constexpr TileConfig config;  // static: GCC does not know that all of it is read
  _tile_loadconfig(&config);
  const int64_t lines = tile_count(p.rows, kTileLines), columns = tile_count(p.columns, kTileLines);
  const Corner all{p.out, p.out_stride, p.rows, p.columns, p.bias};
  const int64_t left_line = p.inner_tiles * kTileSize, right_line = p.right_stride * kTileSize;
  for (int64_t column = 0; column < columns; column += kColumnBlock) {
    const int64_t end = column + kColumnBlock < columns ? column + kColumnBlock : columns;
    for (int64_t k = 0; k < p.inner_tiles; k += kInnerBlock) {
      const int64_t inner = p.inner_tiles - k < kInnerBlock ? p.inner_tiles - k : kInnerBlock;
      const bool add = p.add || k > 0;
      for (int64_t l = 0; l < lines; l += 2) {
        const uint16_t* left = p.left + l * left_line + k * kTileSize;
        for (int64_t c = column; c < end; c += 2) {
          const uint16_t* right = p.right + c * right_line + k * kTileSize;
          const Corner corner = all.next(l, c);
          const bool two_lines = l + 1 < lines, two_columns = c + 1 < end;
          const auto block = two_lines
                                 ? (two_columns ? multiply_block<2, 2> : multiply_block<2, 1>)
                                 : (two_columns ? multiply_block<1, 2> : multiply_block<1, 1>);
          block(left, left_line, right, right_line, inner, corner, add);
        }
      }
    }
  }
  _tile_release();
}

}  // namespace

const TileKernels* table();  // for tiles.cpp

const TileKernels* table() {
  static constexpr TileKernels kTable = {"amx",
                                         pack_by_rows<false>,
                                         pack_by_columns<true>,
                                         pack_by_columns<false>,
                                         pack_by_rows<true>,
                                         multiply,
                                         narrow_rows,
                                         add_rows};
  return &kTable;
}

}  // namespace attn::cpu::amx
