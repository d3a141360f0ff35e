// How the sentences of a batch lie in memory: end to end, as the rows of one matrix, without
// padding. Everything in the Transformer but attention is position-wise and need not know;
// attention asks here which rows belong together.
//
// Tensor names end in their shape throughout model/:
//   B sentences, L target or query length, M source or key length, N rows (all positions of a
//   batch), D d_model, H heads, K d_k or d_v of one head, F d_ff, V vocabulary, R rows of a
//   decoding step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/libtorch.h"

namespace attn {

/// Sentence b owns rows [offset(b), offset(b + 1)) of an [N, …] tensor. Immutable and cheap to
/// copy.
class Segments {
 public:
  /// Lengths must not be negative. The index tensors are made on `device`.
  explicit Segments(std::span<const int64_t> lengths, torch::Device device = torch::kCPU);

  int64_t count() const { return static_cast<int64_t>(lengths_.size()); }
  int64_t rows() const { return offsets_.back(); }
  int64_t longest() const { return longest_; }
  int64_t length(int64_t sentence) const { return lengths_[sentence]; }
  int64_t offset(int64_t sentence) const { return offsets_[sentence]; }
  std::span<const int64_t> offsets() const { return offsets_; }
  /// The same as [count() + 1] int32 on a GPU, for its kernels; undefined on a CPU.
  const torch::Tensor& device_offsets() const { return device_offsets_; }

  /// [N] int64: each row's position in its sentence, from 0.
  const torch::Tensor& positions() const { return positions_; }
  /// [B, longest] bool: true where the padded layout holds a row.
  torch::Tensor mask() const;
  /// [N, …] to the padded [B, longest, …]; padding is zero.
  torch::Tensor pad(const torch::Tensor& rows) const;
  /// [B, longest, …] back to [N, …].
  torch::Tensor unpad(const torch::Tensor& padded) const;

 private:
  std::vector<int64_t> lengths_;
  std::vector<int64_t> offsets_;  // count() + 1 values
  int64_t longest_ = 0;
  torch::Tensor positions_;  // [N]
  torch::Tensor slots_;      // [N]: index of each row in the flattened padded layout
  torch::Tensor device_offsets_;
};

/// Copies numbers to `device` as To. A GPU is not waited for: the copy leaves from pinned memory,
/// which LibTorch keeps until it is done.
template <class To, class From>
torch::Tensor sent_tensor(std::span<const From> values, torch::Device device) {
  const torch::Tensor host = torch::empty(
      {static_cast<int64_t>(values.size())},
      torch::TensorOptions(c10::CppTypeToScalarType<To>::value).pinned_memory(device.is_cuda()));
  std::transform(values.begin(), values.end(), host.data_ptr<To>(),
                 [](From value) { return static_cast<To>(value); });
  return host.to(torch::TensorOptions(device), /*non_blocking=*/true);
}

template <class T>
torch::Tensor int64_tensor(std::span<const T> values, torch::Device device) {
  return sent_tensor<int64_t>(values, device);
}

/// Tokens of several sentences as rows.
struct TokenSequences {
  torch::Tensor tokens_N;  ///< int64
  Segments segments;
  /// [N] int64, a second index of each row with an encoding of its own, less than the longest
  /// sentence; undefined where the model takes none.
  torch::Tensor second_N = {};
};

/// Copies tokens that lie end to end, and their second index if there is one, to `device`. Throws
/// (TORCH_CHECK) when the lengths do not add up.
TokenSequences token_sequences(std::span<const int64_t> tokens, std::span<const int64_t> lengths,
                               torch::Device device = torch::kCPU,
                               std::span<const int64_t> second = {});

}  // namespace attn
