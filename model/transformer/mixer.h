// The first sub-layer of a layer, which mixes the positions of a sentence: self-attention, or one
// of Table 1's other layer types.
#pragma once

#include <span>
#include <vector>

#include "kernels/libtorch.h"
#include "model/layers/recurrence.h"
#include "model/transformer/attention.h"
#include "model/transformer/config.h"
#include "model/transformer/convolution.h"
#include "model/transformer/sublayer.h"

namespace attn {

/// The state of a mixer in search: what it keeps of earlier positions. Rows are found by
/// back-pointers (DecoderState), so that nothing is copied when beams reorder; only a recurrence
/// reorders its state.
struct MixerState {
  std::vector<KeysValues> kv_cache;   ///< attention, per position: [R of that step, H·K]
  std::vector<torch::Tensor> inputs;  ///< convolution, per position: [R of that step, D]
  RecurrentState recurrence;          ///< [R, D]
};

/// Modules of `owner`; which of them are defined depends on the kind of mixer.
class TokenMixer {
 public:
  /// The mixer of encoder or decoder layer `layer`, counted from 0.
  static TokenMixer of_encoder(torch::nn::Module& owner, const TransformerConfig& config,
                               int64_t layer);
  static TokenMixer of_decoder(torch::nn::Module& owner, const TransformerConfig& config,
                               int64_t layer);

  /// The sub-layer with its residual connection and norm, [N, D] to [N, D]; x_ND itself if there is
  /// none.
  torch::Tensor forward(const torch::Tensor& x_ND, const AttentionSpec& self);
  /// The mixer alone.
  torch::Tensor mix(const torch::Tensor& x_ND, AttentionSpec self);
  /// One decoding step of the sub-layer, [R, D] to [R, D]. Appends to `state`, and drops what no
  /// later position reads. `backpointers` as in DecoderState.
  torch::Tensor step(const torch::Tensor& x_RD, MixerState& state,
                     std::span<const std::vector<int32_t>> backpointers,
                     const PositionInScores& position);

  MultiHeadAttention self_attention = nullptr;  ///< "self_attention", also restricted
  Convolution convolution = nullptr;            ///< "convolution"
  RecurrentLayer recurrence = nullptr;          ///< "recurrence"
  /// "self_attention_sublayer", "convolution_sublayer" or "recurrence_sublayer"; none: undefined.
  Sublayer sublayer = nullptr;

 private:
  TokenMixer(torch::nn::Module& owner, const TransformerConfig& config, const MixerConfig& mixer,
             bool causal, bool bidirectional, int64_t layer);
  torch::Tensor mix_step(const torch::Tensor& x_RD, MixerState& state,
                         std::span<const std::vector<int32_t>> backpointers,
                         const PositionInScores& position);
  torch::Tensor attend(const torch::Tensor& x_RD, MixerState& state,
                       std::span<const std::vector<int32_t>> backpointers,
                       const PositionInScores& position);

  Mixer kind_;
  int64_t window_;  // 0: all positions
};

}  // namespace attn
