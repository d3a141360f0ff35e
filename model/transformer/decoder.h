// Section 3.1, right half of Figure 1: teacher forcing in training, incremental decoding in search.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/libtorch.h"
#include "model/layers/norm.h"
#include "model/transformer/attention.h"
#include "model/transformer/config.h"
#include "model/transformer/feed_forward.h"
#include "model/transformer/mixer.h"
#include "model/transformer/sublayer.h"
#include "model/transformer/word_index.h"

namespace attn {

/// The state of incremental decoding: what each layer keeps of earlier positions, and back-pointers
/// into it.
struct DecoderState {
  Segments memory;                   ///< sentences of the encoder output
  std::vector<KeysValues> cross_kv;  ///< cross-attention, per layer: [M, H'·K]
  std::vector<MixerState> mixers;    ///< per layer
  WordState words;
  StepAncestors ancestors;
};

class DecoderLayerImpl : public torch::nn::Module {
 public:
  /// `layer` is its number, from 0.
  DecoderLayerImpl(const TransformerConfig& config, int64_t layer);
  /// [N, D] to [N, D]; `self` is causal, `cross` is from target rows to memory rows.
  torch::Tensor forward(torch::Tensor x_ND, const torch::Tensor& memory_MD,
                        const AttentionSpec& self, const AttentionSpec& cross);
  /// One decoding step: [R, D] to [R, D]; appends to `state.mixers[layer]`. `self` is from each row
  /// to its own prefix.
  torch::Tensor step(torch::Tensor x_RD, DecoderState& state, size_t layer,
                     const AttentionSpec& self, const AttentionSpec& cross);

  TokenMixer mixer;
  MultiHeadAttention cross_attention = nullptr;
  PositionwiseFeedForward feed_forward = nullptr;
  Sublayer cross_attention_sublayer = nullptr, feed_forward_sublayer = nullptr;
};
TORCH_MODULE(DecoderLayer);

class DecoderImpl : public torch::nn::Module {
 public:
  explicit DecoderImpl(const TransformerConfig& config);
  torch::Tensor forward(torch::Tensor x_ND, const torch::Tensor& memory_MD,
                        const AttentionSpec& self, const AttentionSpec& cross);
  /// Projects the memory for cross-attention; the states of the mixers are empty.
  DecoderState start(const torch::Tensor& memory_MD, const Segments& memory);
  /// x_RD: the new position's embedded rows, which `state.ancestors` already describes and `rows`
  /// divides into sentences.
  torch::Tensor step(torch::Tensor x_RD, DecoderState& state, const Segments& rows,
                     const PositionInScores& position);

  torch::nn::ModuleList layers;
  NormLayer final_norm = nullptr;  ///< only with norm = pre
};
TORCH_MODULE(Decoder);

}  // namespace attn
