// The pre-softmax projection and the label-smoothed loss together, in chunks of rows, so that a
// batch's logits never exist whole; train/loss.h holds the plain counterpart that defines it.
#pragma once

#include <cstdint>

#include "kernels/cpu/table.h"
#include "kernels/libtorch.h"

namespace attn {

struct LossSums {
  torch::Tensor
      loss;    ///< scalar, float32: sum over rows of the smoothed loss; carries the gradient
  double nll;  ///< sum over rows of -log p(target), without smoothing
};

/// x_ND rows [N, D] times weight_VD transposed against targets_N (int64). CPU, float32 weights;
/// products run in the type of x_ND (bf16 x: bf16 products, float32 sums), or in bf16 tiles within
/// a Bf16Scope. Differentiable in x and weight when gradients are enabled.
LossSums chunked_smoothed_loss(const torch::Tensor& x_ND, const torch::Tensor& weight_VD,
                               const torch::Tensor& targets_N, cpu::SmoothedTargets targets);

}  // namespace attn
