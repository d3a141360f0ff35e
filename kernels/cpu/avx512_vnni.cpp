// int8.h for AVX-512 VNNI. vpdpbusd multiplies unsigned by signed bytes: 128 is added to the
// weights' levels, and 128 times the sum of the row's levels is subtracted.
#include <immintrin.h>

#include <limits>

#include "kernels/cpu/int8.h"

namespace attn::cpu::avx512_vnni {
namespace {

constexpr int kVectors = 2;  // per panel
// 24 of the 32 registers hold sums; weights, a word and the offset take four.
constexpr int kTileRows = 12;

#include "kernels/cpu/mask_body.h"

void quantize(const float* x, int64_t x_stride, int64_t rows, int64_t inputs, const Int8Rows& out) {
  const int64_t words = int8_words(inputs);
  for (int64_t r = 0; r < rows; ++r, x += x_stride) {
    // Without their sign, the bits of floats are ordered as the floats are; NaN is the largest.
    __m512i bits = _mm512_setzero_si512();
    for (int64_t i = 0; i < inputs; i += 16) {
      const __m512 part = _mm512_maskz_loadu_ps(first(inputs - i), x + i);
      bits = _mm512_max_epu32(bits, _mm512_castps_si512(_mm512_abs_ps(part)));
    }
    const float largest = _mm_cvtss_f32(
        _mm_castsi128_ps(_mm_cvtsi32_si128(static_cast<int>(_mm512_reduce_max_epu32(bits)))));
    const bool finite = largest <= std::numeric_limits<float>::max();
    // Infinite for a row of zeros or of the smallest values, whose levels are then 0.
    const float ratio = 127.0f / largest;
    const float inverse = finite && ratio <= std::numeric_limits<float>::max() ? ratio : 0.0f;
    auto* levels = reinterpret_cast<uint8_t*>(out.words + r * words);
    __m512i sums = _mm512_setzero_si512();
    for (int64_t i = 0; i < inputs; i += 16) {
      const __m512 part = _mm512_maskz_loadu_ps(first(inputs - i), x + i);
      const __m512i level = _mm512_maskz_cvtps_epi32(finite ? 0xffff : 0,
                                                     _mm512_mul_ps(part, _mm512_set1_ps(inverse)));
      sums = _mm512_add_epi32(sums, level);
      _mm_mask_storeu_epi8(levels + i, first(4 * words - i), _mm512_cvtepi32_epi8(level));
    }
    out.sums[r] = _mm512_reduce_add_epi32(sums);
    out.scales[r] = finite ? largest / 127.0f : std::numeric_limits<float>::quiet_NaN();
  }
}

// sums += the products of four unsigned by four signed bytes. Not _mm512_dpbusd_epi32, around which
// GCC 12 copies sums between registers and the stack.
inline void add_products(__m512i& sums, __m512i weights, __m512i word) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(weights), "v"(word));
}

template <int kRows>
void multiply_tile(const Int8Product& p, int64_t row, int64_t panel) {
  const int64_t words = int8_words(p.inputs), output = panel * kInt8Panel;
  const uint32_t* weights = p.panels + output * words;
  const uint32_t* x = p.x.words + row * words;
  const __m512i offset = _mm512_set1_epi8(static_cast<char>(0x80));
  __m512i sums[kRows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    sums[r][0] = sums[r][1] = _mm512_set1_epi32(-128 * p.x.sums[row + r]);
  }
  for (int64_t w = 0; w < words; ++w, weights += kInt8Panel) {
    __m512i levels[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      levels[v] = _mm512_xor_si512(_mm512_loadu_si512(weights + 16 * v), offset);
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const __m512i word = _mm512_set1_epi32(static_cast<int>(x[r * words + w]));
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        add_products(sums[r][v], levels[v], word);
      }
    }
  }
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
    const int64_t column = output + 16 * v;
    const __mmask16 mask = first(p.outputs - column);
    const __m512 scales = _mm512_loadu_ps(p.scales + column);
    const __m512 bias =
        p.bias != nullptr ? _mm512_maskz_loadu_ps(mask, p.bias + column) : _mm512_setzero_ps();
    const __m512 floor = _mm512_set1_ps(p.relu ? 0.0f : -std::numeric_limits<float>::infinity());
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const __m512 scale = _mm512_mul_ps(scales, _mm512_set1_ps(p.x.scales[row + r]));
      const __m512 y = _mm512_add_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sums[r][v]), scale), bias);
      // The second operand, y, is returned if it is NaN.
      _mm512_mask_storeu_ps(p.y + (row + r) * p.y_stride + column, mask, _mm512_max_ps(floor, y));
    }
  }
}

using Tile = void (*)(const Int8Product&, int64_t row, int64_t panel);
constexpr Tile kTiles[kTileRows + 1] = {
    nullptr,           multiply_tile<1>,  multiply_tile<2>, multiply_tile<3>, multiply_tile<4>,
    multiply_tile<5>,  multiply_tile<6>,  multiply_tile<7>, multiply_tile<8>, multiply_tile<9>,
    multiply_tile<10>, multiply_tile<11>, multiply_tile<12>};

void multiply(const Int8Product& p, int64_t first_panel, int64_t last_panel) {
  for (int64_t panel = first_panel; panel < last_panel; ++panel) {
    for (int64_t row = 0; row < p.rows; row += kTileRows) {
      kTiles[p.rows - row < kTileRows ? p.rows - row : kTileRows](p, row, panel);
    }
  }
}

}  // namespace

const Int8Kernels* table();  // for int8.cpp

const Int8Kernels* table() {
  static constexpr Int8Kernels kTable = {"avx512_vnni", quantize, multiply};
  return &kTable;
}

}  // namespace attn::cpu::avx512_vnni
