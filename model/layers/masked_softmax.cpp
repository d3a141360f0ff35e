#include "model/layers/masked_softmax.h"

#include <limits>

namespace attn {

torch::Tensor masked_softmax(const torch::Tensor& scores, const torch::Tensor& allowed) {
  // Formula masked_softmax: fast path kernels/ops/cpu_attention.cpp.
  const torch::Tensor none = ~allowed.any(-1, /*keepdim=*/true);
  return scores.masked_fill(~allowed, -std::numeric_limits<double>::infinity())
      .masked_fill(none, 0.0)
      .softmax(-1)
      .masked_fill(none, 0.0);
  // End of formula.
}

}  // namespace attn
