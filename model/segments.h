// Ragged batches: the sentences lie end to end as the rows of one matrix, without padding, with
// their cumulative lengths (cu_seqlens). Only attention needs to know which rows form a sentence;
// all other layers are position-wise.
//
// Tensor names end in their shape:
//   B sentences, L target or query length, M source or key length or rows of the memory, N rows
//   (all positions of a batch), D d_model, E heads · d_k, H heads, K d_k or d_v of one head, F
//   d_ff, V vocabulary, R rows of a decoding step, P positions (2 P - 1 distances), T taps of a
//   convolution or steps of a cache.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cuda/graph.h"
#include "kernels/libtorch.h"
#include "kernels/ops/attention_options.h"
#include "kernels/ops/padded_layout.h"

namespace attn {

/// Ragged rows (cu_seqlens): sentence b has the rows [offset(b), offset(b + 1)) of an [N, …]
/// tensor. Immutable and cheap to copy.
class Segments {
 public:
  /// `device` is the device of the index tensors.
  explicit Segments(std::span<const int64_t> lengths, torch::Device device = torch::kCPU);

  int64_t count() const { return std::ssize(offsets_) - 1; }
  int64_t rows() const { return offsets_.back(); }
  int64_t longest() const { return padded_.longest; }
  int64_t length(int64_t sentence) const { return offset(sentence + 1) - offset(sentence); }
  int64_t offset(int64_t sentence) const { return offsets_[sentence]; }
  std::span<const int64_t> offsets() const { return offsets_; }
  /// For GPU kernels.
  DeviceRows device_rows() const { return {starts_, padded_.slots}; }

  /// [N] int64: each row's position in its sentence, from 0.
  const torch::Tensor& positions() const { return positions_; }
  /// [N] int64: the length of each row's sentence.
  const torch::Tensor& lengths_of_rows() const { return lengths_of_rows_; }
  /// All that kernels read of the lengths: positions(), lengths_of_rows(), device_rows().
  std::array<torch::Tensor*, 4> index_tensors() {
    return {&positions_, &lengths_of_rows_, &padded_.slots, &starts_};
  }
  /// [B, longest] bool: true at real positions of the padded layout.
  torch::Tensor mask() const { return padded_.mask(); }
  /// [N, …] to the padded [B, longest, …]; padding is zero.
  torch::Tensor pad(const torch::Tensor& rows) const;
  /// [B, longest, …] back to [N, …].
  torch::Tensor unpad(const torch::Tensor& padded) const;

 private:
  std::vector<int64_t> offsets_;   // count() + 1 values
  torch::Tensor positions_;        // [N]
  torch::Tensor lengths_of_rows_;  // [N]
  PaddedLayout padded_;
  torch::Tensor starts_;  // [B + 1] int32: the offsets
};

/// Copies a range of numbers to `device` as To; asynchronous for a GPU, from pinned memory.
template <class To, class Range>
torch::Tensor to_device(const Range& values, torch::Device device) {
  TORCH_CHECK(!Capturing::active(), "values that depend on a batch are sent outside its block");
  const torch::Tensor host = torch::empty(
      {std::ssize(values)},
      torch::TensorOptions(c10::CppTypeToScalarType<To>::value).pinned_memory(device.is_cuda()));
  std::transform(values.begin(), values.end(), host.data_ptr<To>(),
                 [](auto value) { return static_cast<To>(value); });
  return host.to(torch::TensorOptions(device), /*non_blocking=*/true);
}

template <class Range>
torch::Tensor int64_tensor(const Range& values, torch::Device device) {
  return to_device<int64_t>(values, device);
}

/// Further indices of the rows: row n has ids_F[offsets_N1[n]] to ids_F[offsets_N1[n + 1] - 1].
/// Undefined tensors: none.
struct RowFeatures {
  torch::Tensor ids_F;       ///< int64
  torch::Tensor offsets_N1;  ///< [N + 1] int64
};

/// Tokens of several sentences as ragged rows.
struct TokenSequences {
  torch::Tensor tokens_N;  ///< int64
  Segments segments;
  /// Features of the source rows; only for models with VocabularySizes::source_features.
  RowFeatures features = {};
};

/// Copies concatenated tokens to `device`. TORCH_CHECKs that the lengths sum to their number.
TokenSequences token_sequences(std::span<const int64_t> tokens, std::span<const int64_t> lengths,
                               torch::Device device = torch::kCPU);

/// The features of consecutive rows on `device`; those of row n end at ends[n]. TORCH_CHECKs that
/// the ends rise to the number of ids.
RowFeatures row_features(std::span<const int64_t> ids, std::span<const int64_t> ends,
                         torch::Device device = torch::kCPU);

/// token_sequences() and row_features() of batch rows such as TokenRows (data/batch.h).
template <class Rows>
requires requires(const Rows& rows) {
  rows.feature_ends;
}
TokenSequences token_sequences(const Rows& rows, torch::Device device) {
  TokenSequences out = token_sequences(rows.tokens, rows.lengths, device);
  if (!rows.feature_ends.empty()) {
    out.features = row_features(rows.features, rows.feature_ends, device);
  }
  return out;
}

}  // namespace attn
