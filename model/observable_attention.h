// Base of attention layers whose weights and outputs can be observed.
#pragma once

#include <functional>

#include "base/enum_names.h"
#include "kernels/libtorch.h"

namespace attn {

/// The three uses of attention, section 3.2.3.
enum class AttentionKind { encoder, decoder, cross };

template <>
struct EnumNames<AttentionKind> {
  static constexpr auto values =
      std::to_array<EnumName<AttentionKind>>({{AttentionKind::encoder, "encoder"},
                                              {AttentionKind::decoder, "decoder"},
                                              {AttentionKind::cross, "cross"}});
};

/// What an attention layer computed over a padded batch. Both are part of the autograd graph.
struct ObservedAttention {
  torch::Tensor weights_BHLM;   ///< before dropout; rows sum to 1, or to 0 without keys
  torch::Tensor contexts_BHLK;  ///< weights times values, before the output projection
};

/// A base of attention layers besides torch::nn::Module. While there is an observer, a layer
/// computes the formula as it is read, which has the weights as a tensor.
class ObservableAttention {
 public:
  explicit ObservableAttention(AttentionKind kind) : kind_(kind) {}
  virtual ~ObservableAttention() = default;

  AttentionKind kind() const { return kind_; }

  std::function<void(const ObservedAttention&)> observer;  ///< empty: not observed

 private:
  AttentionKind kind_;
};

}  // namespace attn
