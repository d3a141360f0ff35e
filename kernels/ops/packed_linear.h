// A linear layer as search uses it: few rows, the same weight thousands of times.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/libtorch.h"
#include "kernels/weight_type.h"

namespace attn {

/// y = x Wᵀ + b with the weight copied once into the order in which the kernel reads it. Float32 on
/// the CPU. torch::linear is the plain counterpart; with bf16 both operands are rounded to it, with
/// int8 the weight is off by at most half of 1/127 of its row's largest.
class PackedLinear {
 public:
  /// weight [outputs, inputs]; bias [outputs], or undefined for none. bf16 needs has_bf16_tiles().
  PackedLinear(const torch::Tensor& weight, const torch::Tensor& bias, WeightType type);

  int64_t inputs() const { return inputs_; }
  int64_t outputs() const { return outputs_; }

  /// For each of the rows, which lie `x_stride` and `y_stride` floats apart; with `relu`, max(0,
  /// y). Uses torch's threads where the work is worth it.
  void apply(const float* x, int64_t x_stride, int64_t rows, float* y, int64_t y_stride,
             bool relu = false) const;

 private:
  void apply_tiles(const float* x, int64_t x_stride, int64_t rows, float* y, int64_t y_stride,
                   bool relu) const;

  int64_t inputs_, outputs_;
  WeightType type_;
  torch::Tensor panels_;  // or tiles; a tensor begins on a cache line, as their vectors then do
  std::vector<float> scales_, bias_;
};

}  // namespace attn
