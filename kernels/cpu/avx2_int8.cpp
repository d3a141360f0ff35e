// int8.h for AVX2 (without VNNI). vpmaddubsw multiplies unsigned by signed bytes and adds pairs in
// 16 bits: |x| times the weights with the sign of x is at most 2 · 127² < 2¹⁵, so that sums are
// exact.
#include <immintrin.h>

#include <limits>

#include "kernels/cpu/int8.h"

namespace attn::cpu::avx2_int8 {
namespace {

constexpr int kLanes = 8;
// Vectors of a tile, two of the panel's four: with them sums take 10 of the 16 registers; weights,
// a word, its absolute value and a product take the rest.
constexpr int kVectors = 2;
constexpr int kTileRows = 5;

// The first `count` of 8 lanes; all for more, none for fewer than one.
inline __m256i first(int64_t count) {
  const auto lanes = static_cast<int>(count < kLanes ? count : kLanes);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(lanes), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

// The largest of eight unsigned numbers.
inline uint32_t largest_of(__m256i values) {
  alignas(32) uint32_t lanes[kLanes];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), values);
  uint32_t largest = 0;
  for (const uint32_t lane : lanes) largest = lane > largest ? lane : largest;
  return largest;
}

inline int32_t sum_of(__m256i values) {
  alignas(32) int32_t lanes[kLanes];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), values);
  int32_t sum = 0;
  for (const int32_t lane : lanes) sum += lane;
  return sum;
}

// The lowest bytes of eight lanes, whose values fit into them.
inline uint64_t bytes_of(__m256i values) {
  const __m128i words =
      _mm_packs_epi32(_mm256_castsi256_si128(values), _mm256_extracti128_si256(values, 1));
  return static_cast<uint64_t>(_mm_cvtsi128_si64(_mm_packs_epi16(words, words)));
}

void quantize(const float* x, int64_t x_stride, int64_t rows, int64_t inputs, const Int8Rows& out) {
  const int64_t words = int8_words(inputs);
  const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
  for (int64_t r = 0; r < rows; ++r, x += x_stride) {
    // Without their sign, the bits of floats are ordered as the floats are; NaN is the largest.
    __m256i bits = _mm256_setzero_si256();
    for (int64_t i = 0; i < inputs; i += kLanes) {
      const __m256 part = _mm256_maskload_ps(x + i, first(inputs - i));
      bits = _mm256_max_epu32(bits, _mm256_and_si256(_mm256_castps_si256(part), magnitude));
    }
    const float largest =
        _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128(static_cast<int>(largest_of(bits)))));
    const bool finite = largest <= std::numeric_limits<float>::max();
    // Infinite for a row of zeros or of the smallest values, whose levels are then 0.
    const float ratio = 127.0f / largest;
    const float inverse = finite && ratio <= std::numeric_limits<float>::max() ? ratio : 0.0f;
    uint32_t* row = out.words + r * words;
    __m256i sums = _mm256_setzero_si256();
    for (int64_t i = 0; i < inputs; i += kLanes) {
      const __m256 part = _mm256_maskload_ps(x + i, first(finite ? inputs - i : 0));
      const __m256i level = _mm256_cvtps_epi32(_mm256_mul_ps(part, _mm256_set1_ps(inverse)));
      sums = _mm256_add_epi32(sums, level);
      const uint64_t bytes = bytes_of(level);
      row[i / 4] = static_cast<uint32_t>(bytes);
      if (i / 4 + 1 < words) row[i / 4 + 1] = static_cast<uint32_t>(bytes >> 32);
    }
    out.sums[r] = sum_of(sums);
    out.scales[r] = finite ? largest / 127.0f : std::numeric_limits<float>::quiet_NaN();
  }
}

// Keeps the compiler from moving computations of `value` across: GCC 12 starts with all rows of a
// tile and runs out of registers.
inline void in_order(__m256i& value) {
  __asm__ volatile("" : "+x"(value));
}

template <int kRows>
void multiply_tile(const Int8Product& p, int64_t row, int64_t output) {
  const int64_t words = int8_words(p.inputs);
  const uint32_t* weights =
      p.panels + output / kInt8Panel * kInt8Panel * words + output % kInt8Panel;
  const uint32_t* x = p.x.words + row * words;
  const __m256i ones = _mm256_set1_epi16(1);
  __m256i sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) sums[r][0] = sums[r][1] = _mm256_setzero_si256();
  for (int64_t w = 0; w < words; ++w, weights += kInt8Panel) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      __m256i word = _mm256_set1_epi32(static_cast<int>(x[r * words + w]));
      in_order(word);
      const __m256i absolute = _mm256_abs_epi8(word);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        const __m256i levels =
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights + kLanes * v));
        const __m256i pairs = _mm256_maddubs_epi16(absolute, _mm256_sign_epi8(levels, word));
        sums[r][v] = _mm256_add_epi32(sums[r][v], _mm256_madd_epi16(pairs, ones));
        in_order(sums[r][v]);
      }
    }
  }
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
    const int64_t column = output + kLanes * v;
    const bool whole = column + kLanes <= p.outputs;
    const __m256i mask = first(p.outputs - column);
    const __m256 scales = _mm256_loadu_ps(p.scales + column);
    const __m256 bias =
        p.bias != nullptr ? _mm256_maskload_ps(p.bias + column, mask) : _mm256_setzero_ps();
    const __m256 floor = _mm256_set1_ps(p.relu ? 0.0f : -std::numeric_limits<float>::infinity());
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const __m256 scale = _mm256_mul_ps(scales, _mm256_set1_ps(p.x.scales[row + r]));
      const __m256 y = _mm256_add_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(sums[r][v]), scale), bias);
      const __m256 out = _mm256_max_ps(floor, y);  // the second operand, y, if that is NaN
      float* at = p.y + (row + r) * p.y_stride + column;
      if (whole) {  // masked stores are slow on Zen 3
        _mm256_storeu_ps(at, out);
      } else {
        _mm256_maskstore_ps(at, mask, out);
      }
    }
  }
}

using Tile = void (*)(const Int8Product&, int64_t row, int64_t output);
constexpr Tile kTiles[kTileRows + 1] = {nullptr,          multiply_tile<1>, multiply_tile<2>,
                                        multiply_tile<3>, multiply_tile<4>, multiply_tile<5>};

void multiply(const Int8Product& p, int64_t first_panel, int64_t last_panel) {
  const int64_t panels_end = last_panel * kInt8Panel;
  const int64_t end = panels_end < p.outputs ? panels_end : p.outputs;
  for (int64_t output = first_panel * kInt8Panel; output < end; output += kVectors * kLanes) {
    for (int64_t row = 0; row < p.rows; row += kTileRows) {
      kTiles[p.rows - row < kTileRows ? p.rows - row : kTileRows](p, row, output);
    }
  }
}

}  // namespace

const Int8Kernels* table();  // for int8.cpp

const Int8Kernels* table() {
  static constexpr Int8Kernels kTable = {"avx2", quantize, multiply};
  return &kTable;
}

}  // namespace attn::cpu::avx2_int8
