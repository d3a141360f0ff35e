// The smoothed loss on bf16 tiles. Internal to kernels/.
#pragma once

#include "kernels/cpu/table.h"
#include "kernels/libtorch.h"
#include "kernels/ops/loss_sums.h"

namespace attn::bf16 {

/// chunked_smoothed_loss inside a ComputeScope of bf16 tiles: x float32, all contiguous.
LossSums smoothed_loss(const torch::Tensor& x_ND, const torch::Tensor& weight_VD,
                       const torch::Tensor& targets_N, cpu::SmoothedTargets targets);

}  // namespace attn::bf16
