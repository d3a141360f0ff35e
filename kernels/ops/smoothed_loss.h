// Pre-softmax projection fused with label-smoothed cross entropy, in chunks of rows, so that the
// logits of a batch are never stored. The formula is in train/loss.cpp; by it the base
// of Table 3 has 0.74 of the training speed (results/measurements.md).
#pragma once

#include "kernels/cpu/table.h"
#include "kernels/libtorch.h"

namespace attn {

/// Scalars on the device of the rows: reading one synchronizes with a GPU.
struct LossSums {
  torch::Tensor loss;  ///< float32: sum over rows of the smoothed loss; carries the gradient
  torch::Tensor nll;   ///< float64: sum over rows of -log p(target), without smoothing
};

/// x_ND rows [N, D] times weight_VD (float32) transposed against targets_N (int64). Products are
/// in the type of x_ND (bf16 with float32 accumulation), or on bf16 tiles in such a ComputeScope.
/// Differentiable in x and weight. Kernels on a CPU; elsewhere libtorch_smoothed_loss.
LossSums chunked_smoothed_loss(const torch::Tensor& x_ND, const torch::Tensor& weight_VD,
                               const torch::Tensor& targets_N, cpu::SmoothedTargets targets);

/// The same by LibTorch's products, on any device, without synchronization; each chunk's loss by a
/// kernel where a GPU's are on. Rows with a negative target have neither loss nor gradient.
LossSums libtorch_smoothed_loss(const torch::Tensor& x_ND, const torch::Tensor& weight_VD,
                                const torch::Tensor& targets_N, cpu::SmoothedTargets targets);

}  // namespace attn
