#include "model/segments.h"

namespace attn {

Segments::Segments(std::span<const int64_t> lengths, torch::Device device) : offsets_(1, 0) {
  for (const int64_t length : lengths) {
    TORCH_CHECK(length >= 0, "Segments: negative length ", length);
    offsets_.push_back(offsets_.back() + length);
    padded_.longest = std::max(padded_.longest, length);
  }
  padded_.sentences = count();
  std::vector<int64_t> positions, lengths_of_rows, slots;
  for (int64_t b = 0; b < count(); ++b) {
    for (int64_t i = 0; i < length(b); ++i) {
      positions.push_back(i);
      lengths_of_rows.push_back(length(b));
      slots.push_back(b * longest() + i);
    }
  }
  positions_ = int64_tensor(positions, device);
  lengths_of_rows_ = int64_tensor(lengths_of_rows, device);
  padded_.slots = int64_tensor(slots, device);
  starts_ = to_device<int32_t>(offsets(), device);
}

torch::Tensor Segments::pad(const torch::Tensor& rows) const {
  TORCH_CHECK(rows.size(0) == this->rows(), "pad: ", rows.size(0), " rows, expected ",
              this->rows());
  return padded_.pad(rows);
}

torch::Tensor Segments::unpad(const torch::Tensor& padded) const {
  TORCH_CHECK(padded.size(0) == count() && padded.size(1) == longest(), "unpad: got ",
              padded.sizes(), ", expected [", count(), ", ", longest(), ", …]");
  return padded_.unpad(padded);
}

TokenSequences token_sequences(std::span<const int64_t> tokens, std::span<const int64_t> lengths,
                               torch::Device device) {
  Segments segments(lengths, device);
  TORCH_CHECK(segments.rows() == static_cast<int64_t>(tokens.size()), "the lengths sum to ",
              segments.rows(), ", got ", tokens.size(), " tokens");
  return {int64_tensor(tokens, device), std::move(segments)};
}

RowFeatures row_features(std::span<const int64_t> ids, std::span<const int64_t> ends,
                         torch::Device device) {
  std::vector<int64_t> offsets = {0};
  offsets.insert(offsets.end(), ends.begin(), ends.end());
  TORCH_CHECK(std::is_sorted(offsets.begin(), offsets.end()) &&
                  offsets.back() == static_cast<int64_t>(ids.size()),
              "features: the ends of the rows do not rise to ", ids.size());
  return {int64_tensor(ids, device), int64_tensor(offsets, device)};
}

}  // namespace attn
