// Normalisation, alone and with what surrounds a post-norm sub-layer in one pass over memory.
#pragma once

#include "kernels/cpu/table.h"
#include "kernels/libtorch.h"

namespace attn {

/// Weight and bias [D] of a norm over the last dimension: LayerNorm, or RMSNorm where there is no
/// bias.
struct NormParameters {
  torch::Tensor weight, bias;
  double epsilon = 1e-5;
};

/// The norm of x by LibTorch's operations, which define it.
torch::Tensor normalised(const torch::Tensor& x, const NormParameters& parameters);

/// normalised(x + Dropout(update)). On a CPU one kernel forward and one backward, computing in
/// float32; elsewhere the three operations one after the other. With p = 0 it agrees with them to
/// 1e-6; with dropout the mask is drawn as in fast_dropout.
torch::Tensor residual_norm(const torch::Tensor& x, const torch::Tensor& update,
                            const NormParameters& parameters, double p);

/// The kernel's arguments, without rows; float32 parameters on a CPU, which must outlive them.
cpu::NormRows norm_rows(const NormParameters& parameters, cpu::DropoutKey dropout = {});

}  // namespace attn
