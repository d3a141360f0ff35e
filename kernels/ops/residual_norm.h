// Normalization, alone and fused with residual connection and dropout. As it is read, to_no_biases
// of experiments/multi30k/today.json has 0.86 of the training speed (results/measurements.md).
#pragma once

#include "kernels/cpu/table.h"
#include "kernels/libtorch.h"
#include "kernels/ops/norm_parameters.h"

namespace attn {

/// Whether residual_norm is taken where x is, for rows of this width.
bool takes_residual_norm(const torch::Tensor& x, int64_t width);

/// The norm of x + Dropout(update), [N, D], by one float32 kernel each for forward and backward;
/// `update` may be undefined. On a CPU or, with its kernels, a GPU; differentiable; dropout masks
/// are drawn as in fast_dropout. Tolerance against the formulas (model/layers/norm.cpp): 1e-6.
torch::Tensor residual_norm(const torch::Tensor& x, const torch::Tensor& update,
                            const NormParameters& parameters, double p);

/// Kernel arguments without rows; the float32 CPU parameters must outlive them.
cpu::NormRows norm_rows(const NormParameters& parameters, cpu::DropoutKey dropout = {});

}  // namespace attn
