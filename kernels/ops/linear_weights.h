// The weights of linear layers, as parameters and packed.
#pragma once

#include "kernels/libtorch.h"

namespace attn {

/// W [outputs, inputs] and b [outputs], or undefined for none.
struct LinearWeights {
  torch::Tensor weight, bias;
};

/// A weight [outputs, inputs] packed as the operand of x Wᵀ and of dy W.
struct PackedWeight {
  torch::Tensor forward, backward;  ///< tiles or panels; `backward` may be undefined
};

}  // namespace attn
