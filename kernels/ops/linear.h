// Linear layers for training. In a ComputeScope with packed weights they run on this
// project's products: bf16 on tiles (kernels/cpu/tiles.h; bf16 operands, float32 sums), fp32 on
// panels (kernels/cpu/table.h). Weights, gradients and everything else stay float32.
// By LibTorch's products the base of Table 3 has 0.79 of the training speed in bf16
// (results/measurements.md).
#pragma once

#include <span>
#include <vector>

#include "kernels/libtorch.h"
#include "kernels/ops/linear_weights.h"
#include "kernels/ops/packed_weights.h"

namespace attn {

/// x_NI Wᵀ + b, [N, outputs] (float32; bf16 under autocast): torch::linear, or the product of
/// packed weights in a ComputeScope that has them (then x may be bf16 if its precision is). The
/// latter, and joint_linear on a GPU, accumulate into W.grad and b.grad in backward(), so
/// torch::autograd::grad does not return them.
torch::Tensor linear(const torch::Tensor& x_NI, const LinearWeights& layer);
/// Up to three linear layers of the same rows, which are packed once if they need to be. Training
/// on a GPU uses joint_linear.
std::vector<torch::Tensor> linear_all(const torch::Tensor& x_NI,
                                      std::span<const LinearWeights> layers);

}  // namespace attn
