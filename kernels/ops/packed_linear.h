// A linear layer for search: few rows, the same weight many times.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/libtorch.h"
#include "kernels/precision.h"

namespace attn {

/// y = x Wᵀ + b with a packed copy of the weight. Float32, on the CPU; torch::linear is the
/// reference. bf16 rounds both operands. int8 quantizes the weight per output (error at most max
/// |w| / 254) and, with AVX-512 VNNI or AVX2 (cpu/int8.h), x per row (at most
/// max |x| / 254).
class PackedLinear {
 public:
  /// weight [outputs, inputs]; bias [outputs], or undefined for none. bf16 requires
  /// has_bf16_tiles().
  PackedLinear(const torch::Tensor& weight, const torch::Tensor& bias, WeightType type);

  int64_t inputs() const { return inputs_; }
  int64_t outputs() const { return outputs_; }

  /// Applies it to rows with the given strides in floats; with `relu`, max(0, y). Uses torch's
  /// threads if there is enough work.
  void apply(const float* x, int64_t x_stride, int64_t rows, float* y, int64_t y_stride,
             bool relu = false) const;

 private:
  void apply_tiles(const float* x, int64_t x_stride, int64_t rows, float* y, int64_t y_stride,
                   bool relu) const;
  void apply_int8(const float* x, int64_t x_stride, int64_t rows, float* y, int64_t y_stride,
                  bool relu) const;

  // Whether both operands are int8.
  bool multiplies_int8() const;

  int64_t inputs_, outputs_;
  WeightType type_;
  torch::Tensor panels_;  // or tiles; a tensor for its alignment to cache lines
  std::vector<float> scales_, bias_;
};

}  // namespace attn
