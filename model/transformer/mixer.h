// The first sub-layer of a layer, which mixes the positions of a sentence: self-attention, or one
// of Table 1's other layer types.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/libtorch.h"
#include "model/layers/recurrence.h"
#include "model/transformer/attention.h"
#include "model/transformer/config.h"
#include "model/transformer/convolution.h"
#include "model/transformer/sublayer.h"

namespace attn {

/// The state of a mixer in search: what it keeps of earlier positions. Rows are found by
/// StepAncestors; only a recurrence reorders its state.
struct MixerState {
  std::vector<KeysValues> kv_cache;  ///< attention, per position: [R of that step, H'·K]
  StepInputs inputs;                 ///< convolution
  RecurrentState recurrence;         ///< [R, D]
};

/// Modules of `owner`; which of them are defined depends on the kind of mixer.
class TokenMixer {
 public:
  /// That of encoder or decoder layer `layer`, counted from 0.
  TokenMixer(torch::nn::Module& owner, const TransformerConfig& config, const SideMixer& side,
             int64_t layer);

  /// The sub-layer with its residual connection and norm, [N, D] to [N, D]; x_ND itself if there is
  /// none.
  torch::Tensor forward(const torch::Tensor& x_ND, const AttentionSpec& self);
  /// The mixer alone.
  torch::Tensor mix(const torch::Tensor& x_ND, AttentionSpec self);
  /// One decoding step of the sub-layer, [R, D] to [R, D]. Appends to `state`, and drops what no
  /// later position reads. `self` is from each row to the last visible() positions of its prefix.
  torch::Tensor step(const torch::Tensor& x_RD, MixerState& state, const StepAncestors& ancestors,
                     const AttentionSpec& self);
  /// Of so many positions those that attention sees from the last one.
  int64_t visible(int64_t positions) const {
    return window_ == 0 ? positions : std::min(window_, positions);
  }

  MultiHeadAttention self_attention = nullptr;  ///< "self_attention", also restricted
  Convolution convolution = nullptr;            ///< "convolution"
  RecurrentLayer recurrence = nullptr;          ///< "recurrence"
  /// "self_attention_sublayer", "convolution_sublayer" or "recurrence_sublayer"; none: undefined.
  Sublayer sublayer = nullptr;

 private:
  torch::Tensor mix_step(const torch::Tensor& x_RD, MixerState& state,
                         const StepAncestors& ancestors, const AttentionSpec& self);

  Mixer kind_;
  int64_t window_;  // 0: all positions
};

}  // namespace attn
