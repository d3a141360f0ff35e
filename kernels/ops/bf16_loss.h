// Sums of losses over rows, and the smoothed loss on bf16 tiles.
#pragma once

#include "kernels/cpu/table.h"
#include "kernels/libtorch.h"

namespace attn {

/// Scalars on the device of the rows: reading one synchronizes with a GPU.
struct LossSums {
  torch::Tensor loss;  ///< float32: sum over rows of the smoothed loss; carries the gradient
  torch::Tensor nll;   ///< float64: sum over rows of -log p(target), without smoothing
};

namespace bf16 {

/// chunked_smoothed_loss inside a ComputeScope of bf16 tiles: x float32, all contiguous.
LossSums smoothed_loss(const torch::Tensor& x_ND, const torch::Tensor& weight_VD,
                       const torch::Tensor& targets_N, cpu::SmoothedTargets targets);

}  // namespace bf16
}  // namespace attn
