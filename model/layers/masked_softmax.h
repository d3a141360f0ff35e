// Softmax over the keys that a query may attend to.
#pragma once

#include "kernels/libtorch.h"

namespace attn {

/// softmax(scores) over the last dimension where `allowed`, which broadcasts to the scores; 0
/// elsewhere, and in rows without an allowed key, where a softmax of -∞ alone would be NaN.
torch::Tensor masked_softmax(const torch::Tensor& scores, const torch::Tensor& allowed);

}  // namespace attn
