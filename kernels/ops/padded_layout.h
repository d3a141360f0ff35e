// Ragged rows in a layout with padding.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/libtorch.h"

namespace attn {

/// Where each of N ragged rows lies in a padded layout [B, longest, …].
struct PaddedLayout {
  int64_t sentences = 0, longest = 0;
  torch::Tensor slots;  ///< [N] int64: each row's index in the flattened layout, B · longest

  /// [B, longest] bool: true at rows, false in padding.
  torch::Tensor mask() const {
    const auto options = torch::TensorOptions(slots.device()).dtype(torch::kBool);
    return torch::zeros({sentences * longest}, options)
        .index_fill_(0, slots, true)
        .view({sentences, longest});
  }
  /// [N, …] to [B, longest, …]; padding is zero. Differentiable.
  torch::Tensor pad(const torch::Tensor& rows) const {
    std::vector<int64_t> shape = rows.sizes().vec();
    shape[0] = sentences * longest;
    const torch::Tensor padded = torch::zeros(shape, rows.options()).index_copy(0, slots, rows);
    shape[0] = longest;
    shape.insert(shape.begin(), sentences);
    return padded.view(shape);
  }
  /// [B, longest, …] back to [N, …]. Differentiable.
  torch::Tensor unpad(const torch::Tensor& padded) const {
    return padded.flatten(0, 1).index_select(0, slots);
  }
};

}  // namespace attn
