// Normalization, alone and fused with residual connection and dropout, on a CPU.
#pragma once

#include "kernels/cpu/table.h"
#include "kernels/libtorch.h"

namespace attn {

/// Weight and bias [D] of a norm over the last dimension: LayerNorm, or RMSNorm without a bias.
struct NormParameters {
  torch::Tensor weight, bias = {};
  double epsilon = 1e-5;
};

/// The norm of x + Dropout(update), [N, D], by one float32 kernel each for forward and backward;
/// `update` may be undefined. On a CPU, differentiable; dropout masks are drawn as in fast_dropout.
/// Tolerance against the formulas (model/layers/norm.cpp): 1e-6.
torch::Tensor residual_norm(const torch::Tensor& x, const torch::Tensor& update,
                            const NormParameters& parameters, double p);

/// Kernel arguments without rows; the float32 CPU parameters must outlive them.
cpu::NormRows norm_rows(const NormParameters& parameters, cpu::DropoutKey dropout = {});

}  // namespace attn
