// The parameters of a norm.
#pragma once

#include "kernels/libtorch.h"

namespace attn {

/// Weight and bias [D] of a norm over the last dimension: LayerNorm, or RMSNorm without a bias.
struct NormParameters {
  torch::Tensor weight, bias = {};
  double epsilon = 1e-5;
};

}  // namespace attn
