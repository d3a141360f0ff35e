// Section 3.1, right half of Figure 1; whole sentences in training, one position at a time in
// search.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/libtorch.h"
#include "model/layers/norm.h"
#include "model/transformer/attention.h"
#include "model/transformer/config.h"
#include "model/transformer/feed_forward.h"
#include "model/transformer/sublayer.h"

namespace attn {

/// What search keeps between positions. A position's keys and values stay where they were written:
/// rows that live on remember in `ancestors` which row of each earlier step is theirs, so that
/// nothing is copied when beams reorder.
struct DecoderState {
  Segments memory;                           ///< of the encoder's output
  std::vector<KeysValues> memory_projected;  ///< per layer, [N, H·K], once for the whole batch
  std::vector<std::vector<KeysValues>>
      steps;  ///< per layer and earlier position, [R of that step, H·K]
  std::vector<std::vector<int32_t>>
      ancestors;  ///< per earlier position: for each present row, its row there
  std::vector<int64_t> rows_of_sentence;  ///< present rows of each sentence; 0 when it has ended

  int64_t position() const { return static_cast<int64_t>(ancestors.size()); }
};

class DecoderLayerImpl : public torch::nn::Module {
 public:
  explicit DecoderLayerImpl(const TransformerConfig& config);
  /// [N, D] to [N, D]; `self` is causal, `cross` reaches from target rows to memory rows.
  torch::Tensor forward(torch::Tensor x_ND, const torch::Tensor& memory_MD,
                        const AttentionScope& self, const AttentionScope& cross);
  /// One position: [R, D] to [R, D]; appends this layer's keys and values to `state.steps[layer]`.
  torch::Tensor step(torch::Tensor x_RD, DecoderState& state, size_t layer,
                     const AttentionScope& cross, const PositionInScores& position);

  MultiHeadAttention self_attention = nullptr, memory_attention = nullptr;
  PositionwiseFeedForward feed_forward = nullptr;
  Sublayer self_attention_sublayer = nullptr, memory_attention_sublayer = nullptr,
           feed_forward_sublayer = nullptr;
};
TORCH_MODULE(DecoderLayer);

class DecoderImpl : public torch::nn::Module {
 public:
  explicit DecoderImpl(const TransformerConfig& config);
  torch::Tensor forward(torch::Tensor x_ND, const torch::Tensor& memory_MD,
                        const AttentionScope& self, const AttentionScope& cross);
  /// Projects the memory once; no position is decoded yet.
  DecoderState start(const torch::Tensor& memory_MD, const Segments& memory);
  /// Rows of the new position, embedded, in x_RD; `state.ancestors` and `rows_of_sentence` already
  /// describe them.
  torch::Tensor step(torch::Tensor x_RD, DecoderState& state,
                     const PositionInScores& position = {});

  torch::nn::ModuleList layers;
  NormLayer final_norm = nullptr;  ///< only with norm = pre
};
TORCH_MODULE(Decoder);

}  // namespace attn
