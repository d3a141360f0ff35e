// Section 3.1, left half of Figure 1.
#pragma once

#include "kernels/libtorch.h"
#include "model/layers/norm.h"
#include "model/transformer/attention.h"
#include "model/transformer/config.h"
#include "model/transformer/feed_forward.h"
#include "model/transformer/mixer.h"
#include "model/transformer/sublayer.h"

namespace attn {

class EncoderLayerImpl : public torch::nn::Module {
 public:
  /// `layer` is its number, from 0.
  EncoderLayerImpl(const TransformerConfig& config, int64_t layer);
  /// [N, D] to [N, D].
  torch::Tensor forward(torch::Tensor x_ND, const AttentionSpec& self);

  TokenMixer mixer;
  PositionwiseFeedForward feed_forward = nullptr;
  Sublayer feed_forward_sublayer = nullptr;
};
TORCH_MODULE(EncoderLayer);

class EncoderImpl : public torch::nn::Module {
 public:
  explicit EncoderImpl(const TransformerConfig& config);
  torch::Tensor forward(torch::Tensor x_ND, const AttentionSpec& self);

  torch::nn::ModuleList layers;
  NormLayer final_norm = nullptr;  ///< only with norm = pre
};
TORCH_MODULE(Encoder);

}  // namespace attn
