// Products of int8 matrices, by AVX-512 VNNI, AVX2 or plain C++. Sums are int32, exact for up to
// kInt8Inputs inputs. Raw pointers, row-major.
#pragma once

#include <cstdint>

namespace attn::cpu {

/// Maximum number of inputs of a product: the sums of more could overflow.
inline constexpr int64_t kInt8Inputs = 1 << 17;

/// Four inputs share a word, the first in the lowest byte; missing ones are 0.
constexpr int64_t int8_words(int64_t inputs) {
  return (inputs + 3) / 4;
}

constexpr int64_t int8_panels(int64_t outputs, int64_t panel_outputs) {
  return (outputs + panel_outputs - 1) / panel_outputs;
}

/// Quantizes a weight [outputs, inputs] symmetrically per output, in panels of `panel_outputs`:
/// [int8_words(inputs)][panel_outputs] words each. A scale is the largest absolute weight / 127,
/// NaN for an output with a NaN or an infinity. `scales` has one for each output of a panel.
void pack_int8(const float* weight, int64_t outputs, int64_t inputs, int64_t panel_outputs,
               uint32_t* panels, float* scales);

/// Outputs per panel of Int8Kernels.
inline constexpr int64_t kInt8Panel = 32;

/// Rows quantized symmetrically: level = round(x · 127 / max |x|). The scale of a row that has a
/// NaN or an infinity is NaN.
struct Int8Rows {
  uint32_t* words;  ///< [rows, int8_words(inputs)]
  float* scales;    ///< [rows]: max |x| / 127
  int32_t* sums;    ///< [rows]: the sum of a row's levels
};

/// y = x Wᵀ + b with both operands in int8.
struct Int8Product {
  Int8Rows x;
  const uint32_t* panels;  ///< panels of kInt8Panel outputs
  const float* scales;     ///< scales of each panel's outputs
  const float* bias;       ///< [outputs], or null
  float* y;
  int64_t y_stride;  ///< floats between rows
  int64_t rows, inputs, outputs;
  bool relu;
};

/// All are thread-safe.
struct Int8Kernels {
  const char* name;
  /// Writes every word of the rows, padding included; x_stride in floats.
  void (*quantize)(const float* x, int64_t x_stride, int64_t rows, int64_t inputs, const Int8Rows&);
  void (*multiply)(const Int8Product&, int64_t first_panel, int64_t last_panel);
};

/// The kernels that this processor supports, fastest first, plain C++ last; null beyond the last.
const Int8Kernels* supported_int8(int64_t index);

/// The fastest of them that ATTN_ISA (instructions.h) allows; null if float32 products are as fast:
/// with AVX-512 without VNNI, and for plain C++ unless ATTN_ISA selects it.
const Int8Kernels* int8_kernels();

}  // namespace attn::cpu
