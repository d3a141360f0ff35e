// What the loss of some rows comes to.
#pragma once

#include "kernels/libtorch.h"

namespace attn {

/// Scalars where the rows are: reading one waits for a GPU.
struct LossSums {
  torch::Tensor loss;  ///< float32: sum over rows of the smoothed loss; carries the gradient
  torch::Tensor nll;   ///< float64: sum over rows of -log p(target), without smoothing
};

}  // namespace attn
