#include "kernels/ops/padded_layout.h"

#include <vector>

namespace attn {

torch::Tensor PaddedLayout::mask() const {
  return torch::zeros({sentences * longest},
                      torch::TensorOptions(slots.device()).dtype(torch::kBool))
      .index_fill_(0, slots, true)
      .view({sentences, longest});
}

torch::Tensor PaddedLayout::pad(const torch::Tensor& rows) const {
  std::vector<int64_t> shape = rows.sizes().vec();
  shape[0] = sentences * longest;
  const torch::Tensor padded = torch::zeros(shape, rows.options()).index_copy(0, slots, rows);
  shape[0] = longest;
  shape.insert(shape.begin(), sentences);
  return padded.view(shape);
}

torch::Tensor PaddedLayout::unpad(const torch::Tensor& padded) const {
  return padded.flatten(0, 1).index_select(0, slots);
}

}  // namespace attn
