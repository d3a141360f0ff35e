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
  EncoderLayerImpl(const TransformerConfig& config, int64_t layer)
      : mixer(*this, config, encoder_mixer(config), layer) {
    feed_forward = register_module("feed_forward", PositionwiseFeedForward(config));
    feed_forward_sublayer = register_module("feed_forward_sublayer", Sublayer(config));
  }

  /// [N, D] to [N, D].
  torch::Tensor forward(torch::Tensor x_ND, const AttentionSpec& self) {
    x_ND = mixer.forward(x_ND, self);
    return feed_forward_sublayer->forward(x_ND,
                                          [&](const torch::Tensor& x) { return feed_forward(x); });
  }

  TokenMixer mixer;
  PositionwiseFeedForward feed_forward = nullptr;
  Sublayer feed_forward_sublayer = nullptr;
};
TORCH_MODULE(EncoderLayer);

class EncoderImpl : public torch::nn::Module {
 public:
  explicit EncoderImpl(const TransformerConfig& config) {
    register_module("layers", layers);
    for (int64_t i = 0; i < config.layers; ++i) layers->push_back(EncoderLayer(config, i));
    if (has_final_norm(config.norm)) final_norm = register_module("final_norm", make_norm(config));
  }

  torch::Tensor forward(torch::Tensor x_ND, const AttentionSpec& self) {
    for (const auto& layer : *layers) x_ND = layer->as<EncoderLayer>()->forward(x_ND, self);
    return final_norm ? final_norm(x_ND) : x_ND;
  }

  torch::nn::ModuleList layers;
  NormLayer final_norm = nullptr;  ///< only with norm = pre
};
TORCH_MODULE(Encoder);

}  // namespace attn
