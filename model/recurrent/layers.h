// Attention of the recurrent encoder-decoder.
#pragma once

#include "kernels/libtorch.h"
#include "model/layers/linear.h"
#include "model/observable_attention.h"
#include "model/recurrent/config.h"
#include "model/segments.h"

namespace attn {

/// Attention of every query over the source positions of its sentence.
class RecurrentAttentionLayerImpl : public torch::nn::Module, public ObservableAttention {
 public:
  explicit RecurrentAttentionLayerImpl(const RecurrentConfig& config);

  /// Computed once per batch: keys [B, M, A], values [B, M, C] and their padding mask.
  struct Memory {
    torch::Tensor keys_BMA, values_BMC, padding_BM;
  };
  Memory project(const torch::Tensor& memory_NC, const Segments& memory);
  /// Queries [B, L, hidden] to contexts [B, L, C]. Calls the observer.
  torch::Tensor forward(const torch::Tensor& queries_BLH, const Memory& memory);
  struct Attended {
    torch::Tensor weights_BLM, contexts_BLC;
  };
  /// The same without calling the observer, for a caller that has a part of the queries.
  Attended attend(const torch::Tensor& queries_BLH, const Memory& memory);
  void observe(const Attended& all) const;

  Linear query = nullptr, key = nullptr;
  torch::Tensor score_weight;  ///< [A], v of additive attention

 private:
  RecurrentAttention form_;
};
TORCH_MODULE(RecurrentAttentionLayer);

}  // namespace attn
