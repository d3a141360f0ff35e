// Packing and element-wise work in bf16 with AVX-512. Part of amx.cpp and avx512_bf16.cpp, which
// include it in their own namespaces and differ in how they multiply. No standard templates here:
// see body.h.

#include "kernels/cpu/mask_body.h"

const float* wide(const TileSource& m, int64_t row, int64_t column) {
  return static_cast<const float*>(m.data) + row * m.stride + column;
}
const uint16_t* narrow(const TileSource& m, int64_t row, int64_t column) {
  return static_cast<const uint16_t*>(m.data) + row * m.stride + column;
}

// 32 elements of a row as bf16, zero-padded.
__m512i row_of_32(const TileSource& m, int64_t row, int64_t column) {
  if (row >= m.rows) return _mm512_setzero_si512();
  const int64_t left = m.columns - column;
  if (m.narrow) {
    const __mmask32 mask = left >= 32 ? 0xffffffffu : (1u << left) - 1;
    return _mm512_maskz_loadu_epi16(mask, narrow(m, row, column));
  }
  const float* at = wide(m, row, column);
  const __m512 low = left >= 16 ? _mm512_loadu_ps(at) : _mm512_maskz_loadu_ps(first(left), at);
  const __m512 high = left >= 32   ? _mm512_loadu_ps(at + 16)
                      : left <= 16 ? _mm512_setzero_ps()
                                   : _mm512_maskz_loadu_ps(first(left - 16), at + 16);
  return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
}

// 16 elements of two neighbouring rows as bf16, interleaved.
__m512i pairs_of_16(const TileSource& m, int64_t row, int64_t column) {
  const __mmask16 mask = first(m.columns - column);
  const bool one = row < m.rows, two = row + 1 < m.rows;
  if (m.narrow) {
    const __m512i even = _mm512_cvtepu16_epi32(
        one ? _mm256_maskz_loadu_epi16(mask, narrow(m, row, column)) : _mm256_setzero_si256());
    const __m512i odd = _mm512_cvtepu16_epi32(
        two ? _mm256_maskz_loadu_epi16(mask, narrow(m, row + 1, column)) : _mm256_setzero_si256());
    return _mm512_or_si512(even, _mm512_slli_epi32(odd, 16));
  }
  const __m512 even = one ? _mm512_maskz_loadu_ps(mask, wide(m, row, column)) : _mm512_setzero_ps();
  const __m512 odd =
      two ? _mm512_maskz_loadu_ps(mask, wide(m, row + 1, column)) : _mm512_setzero_ps();
  const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24,
                                         8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return _mm512_permutexvar_epi16(order, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(odd, even)));
}

// Transposes a 16 × 16 matrix of 32-bit words in place.
void transpose(__m512i (&x)[16]) {
  __m512i y[16];
  for (int i = 0; i < 16; i += 2) {
    y[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
    y[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    x[i] = _mm512_unpacklo_epi64(y[i], y[i + 2]);
    x[i + 1] = _mm512_unpackhi_epi64(y[i], y[i + 2]);
    x[i + 2] = _mm512_unpacklo_epi64(y[i + 1], y[i + 3]);
    x[i + 3] = _mm512_unpackhi_epi64(y[i + 1], y[i + 3]);
  }
  // x[4 g + j] now holds, in its 128-bit lane l, rows 4 g … 4 g + 3 of column 4 l + j.
  for (int j = 0; j < 4; ++j) {
    const __m512i a = _mm512_shuffle_i32x4(x[j], x[4 + j], 0x88);
    const __m512i b = _mm512_shuffle_i32x4(x[j], x[4 + j], 0xdd);
    const __m512i c = _mm512_shuffle_i32x4(x[8 + j], x[12 + j], 0x88);
    const __m512i d = _mm512_shuffle_i32x4(x[8 + j], x[12 + j], 0xdd);
    y[j] = _mm512_shuffle_i32x4(a, c, 0x88);
    y[8 + j] = _mm512_shuffle_i32x4(a, c, 0xdd);
    y[4 + j] = _mm512_shuffle_i32x4(b, d, 0x88);
    y[12 + j] = _mm512_shuffle_i32x4(b, d, 0xdd);
  }
  for (int i = 0; i < 16; ++i) x[i] = y[i];
}

void store_tile(const __m512i (&lines)[16], uint16_t* tile) {
  for (int i = 0; i < 16; ++i) _mm512_storeu_si512(tile + i * kTileInner, lines[i]);
}

// Lines run over the source's rows, the inner dimension over its columns.
template <bool kTranspose>
void pack_by_rows(const TileSource& m, uint16_t* tiles) {
  for (int64_t line = 0; line < m.rows; line += kTileLines) {
    for (int64_t inner = 0; inner < m.columns; inner += kTileInner, tiles += kTileSize) {
      __m512i words[16];
      for (int i = 0; i < 16; ++i) words[i] = row_of_32(m, line + i, inner);
      if constexpr (kTranspose) transpose(words);
      store_tile(words, tiles);
    }
  }
}

// Lines run over the source's columns, the inner dimension over its rows.
template <bool kTranspose>
void pack_by_columns(const TileSource& m, uint16_t* tiles) {
  const int64_t inner_tiles = tile_count(m.rows, kTileInner);
  for (int64_t kt = 0; kt < inner_tiles; ++kt) {
    uint16_t* tile = tiles + kt * kTileSize;
    for (int64_t line = 0; line < m.columns; line += kTileLines, tile += inner_tiles * kTileSize) {
      __m512i words[16];
      for (int i = 0; i < 16; ++i) words[i] = pairs_of_16(m, kt * kTileInner + 2 * i, line);
      if constexpr (kTranspose) transpose(words);
      store_tile(words, tile);
    }
  }
}

void store_narrow(uint16_t* out, __mmask16 mask, __m512 value) {
  _mm256_mask_storeu_epi16(out, mask, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(value)));
}

void narrow_rows(const float* y, int64_t y_stride, int64_t rows, int64_t columns, uint16_t* out,
                 int64_t out_stride) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; c += 16) {
      const __mmask16 mask = first(columns - c);
      store_narrow(out + r * out_stride + c, mask,
                   _mm512_maskz_loadu_ps(mask, y + r * y_stride + c));
    }
  }
}

__m512 widened(__m256i half) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16));
}

void add_rows(const TileSource& m, float* sums) {
  // Four vectors of columns at a time: whole cache lines, with sums in registers.
  for (int64_t c = 0; c < m.columns; c += 64) {
    __mmask16 mask[4];
    __m512 sum[4];
    for (int v = 0; v < 4; ++v) {
      mask[v] = first(m.columns - c - 16 * v);
      sum[v] = _mm512_maskz_loadu_ps(mask[v], sums + c + 16 * v);
    }
    for (int64_t r = 0; r < m.rows; ++r) {
      for (int v = 0; v < 4; ++v) {
        const int64_t at = c + 16 * v;
        sum[v] = _mm512_add_ps(
            sum[v], m.narrow ? widened(_mm256_maskz_loadu_epi16(mask[v], narrow(m, r, at)))
                             : _mm512_maskz_loadu_ps(mask[v], wide(m, r, at)));
      }
    }
    for (int v = 0; v < 4; ++v) _mm512_mask_storeu_ps(sums + c + 16 * v, mask[v], sum[v]);
  }
}
