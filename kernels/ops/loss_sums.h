// Sums of losses over rows.
#pragma once

#include "kernels/libtorch.h"

namespace attn {

/// Scalars on the device of the rows: reading one synchronizes with a GPU.
struct LossSums {
  torch::Tensor loss;  ///< float32: sum over rows of the smoothed loss; carries the gradient
  torch::Tensor nll;   ///< float64: sum over rows of -log p(target), without smoothing
};

}  // namespace attn
