// Softmax over the keys that a query may attend to.
#pragma once

#include <limits>

#include "kernels/libtorch.h"

namespace attn {

/// softmax(scores) over the last dimension where `allowed`, which broadcasts to the scores; 0
/// elsewhere, and in rows without an allowed key, where a softmax of -∞ alone would be NaN.
inline torch::Tensor masked_softmax(const torch::Tensor& scores, const torch::Tensor& allowed) {
  // Formula masked_softmax: fast paths attention, dot_attention, packed_search.
  const torch::Tensor none = ~allowed.any(-1, /*keepdim=*/true);
  return scores.masked_fill(~allowed, -std::numeric_limits<double>::infinity())
      .masked_fill(none, 0.0)
      .softmax(-1)
      .masked_fill(none, 0.0);
  // End of formula.
}

}  // namespace attn
