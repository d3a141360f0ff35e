// The pre-softmax projection and the label-smoothed loss together, in chunks of rows, so that a
// batch's logits never exist whole; train/loss.h holds the plain counterpart that defines it.
#pragma once

#include <cstdint>

#include "kernels/cpu/table.h"
#include "kernels/libtorch.h"
#include "kernels/ops/loss_sums.h"

namespace attn {

/// x_ND rows [N, D] times weight_VD (float32) transposed against targets_N (int64). Products run in
/// the type of x_ND (bf16 x: bf16 products, float32 sums), or in bf16 tiles within their
/// ComputeScope. Differentiable in x and weight when gradients are enabled. On a CPU kernels of
/// ours; elsewhere libtorch_smoothed_loss.
LossSums chunked_smoothed_loss(const torch::Tensor& x_ND, const torch::Tensor& weight_VD,
                               const torch::Tensor& targets_N, cpu::SmoothedTargets targets);

/// The same, in chunks too, by LibTorch's operations, on any device and without waiting for it.
LossSums libtorch_smoothed_loss(const torch::Tensor& x_ND, const torch::Tensor& weight_VD,
                                const torch::Tensor& targets_N, cpu::SmoothedTargets targets);

}  // namespace attn
