// Normalization, alone and fused with residual connection and dropout.
#pragma once

#include "kernels/cpu/table.h"
#include "kernels/libtorch.h"

namespace attn {

/// Weight and bias [D] of a norm over the last dimension: LayerNorm, or RMSNorm without a bias.
struct NormParameters {
  torch::Tensor weight, bias;
  double epsilon = 1e-5;
};

/// The norm of x by LibTorch's operations: the reference.
torch::Tensor normalized(const torch::Tensor& x, const NormParameters& parameters);

/// The norm of x [N, D], on a CPU by the kernel of residual_norm, elsewhere as normalized.
torch::Tensor lone_norm(const torch::Tensor& x, const NormParameters& parameters);

/// normalized(x + Dropout(update)). On a CPU one fused float32 kernel each for forward and
/// backward; elsewhere separate operations. Equal to them up to 1e-6 for p = 0; dropout masks are
/// drawn as in fast_dropout.
torch::Tensor residual_norm(const torch::Tensor& x, const torch::Tensor& update,
                            const NormParameters& parameters, double p);

/// Kernel arguments without rows; the float32 CPU parameters must outlive them.
cpu::NormRows norm_rows(const NormParameters& parameters, cpu::DropoutKey dropout = {});

}  // namespace attn
