// What linear() needs of the products of one precision. Internal to kernels/ops.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/libtorch.h"
#include "kernels/ops/linear_weights.h"
#include "kernels/precision.h"

namespace attn {

/// Linear layers over the same rows; backward needs their parameters besides the saved tensors.
struct LinearLayers : torch::CustomClassHolder {
  struct Layer : LinearWeights {
    std::shared_ptr<const PackedWeight> operand;
    int64_t outputs() const { return weight.size(0); }
  };
  std::vector<Layer> layers;
  Precision precision = Precision::fp32;
};

struct WeightGradient {
  torch::Tensor dy;  ///< [N, O]
  float* sum;        ///< [O, I]
};

/// A unit of packing work: part of the operand `forward` (x Wᵀ) or `backward` (dy W), from its line
/// of tiles, or panel, `first`.
struct PackingPiece {
  const torch::Tensor* weight;
  const torch::Tensor* operand;
  bool forward;
  int64_t first;
};

/// All tensors are contiguous, on the CPU.
struct LinearProducts {
  /// Uninitialized operands of a weight; `backward` only with `gradients`.
  PackedWeight (*operand_like)(const torch::Tensor& weight, bool gradients);
  int64_t lines_of_piece;  ///< lines of tiles, or panels, in a unit of packing work
  void (*pack)(const PackingPiece&);
  /// y[m] = x W_mᵀ + b_m, float32.
  torch::autograd::variable_list (*multiply_all)(const torch::Tensor& x, const LinearLayers&);
  /// dx = Σ_m dy[m] W_m, in the type of x; undefined dy are zero.
  torch::Tensor (*input_gradient)(const torch::Tensor& x, const LinearLayers&,
                                  const torch::autograd::variable_list& dy);
  /// sums[c] += Σ_r dy[r][c]
  void (*add_rows)(const torch::Tensor& dy, float* sums);
  /// sum += dyᵀ x for each weight; x [N, I].
  void (*add_weight_gradients)(const torch::Tensor& x, std::span<const WeightGradient>);
};

const LinearProducts& bf16_linear_products();
const LinearProducts& fp32_linear_products();
inline const LinearProducts& products_of(Precision precision) {
  return precision == Precision::bf16 ? bf16_linear_products() : fp32_linear_products();
}

}  // namespace attn
