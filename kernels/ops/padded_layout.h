// Ragged rows in a layout with padding.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/libtorch.h"

namespace attn {

/// Where each of N ragged rows lies in a padded layout [B, longest, …].
struct PaddedLayout {
  int64_t sentences = 0, longest = 0;
  torch::Tensor slots;  ///< [N] int64: each row's index in the flattened layout, B · longest

  /// [B, longest] bool: true at rows, false in padding.
  torch::Tensor mask() const;
  /// [N, …] to [B, longest, …]; padding is zero. Differentiable.
  torch::Tensor pad(const torch::Tensor& rows) const;
  /// [B, longest, …] back to [N, …]. Differentiable.
  torch::Tensor unpad(const torch::Tensor& padded) const;
};

}  // namespace attn
