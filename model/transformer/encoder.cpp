#include "model/transformer/encoder.h"

namespace attn {

EncoderLayerImpl::EncoderLayerImpl(const TransformerConfig& config, int64_t layer)
    : mixer(TokenMixer::of_encoder(*this, config, layer)) {
  feed_forward = register_module("feed_forward", PositionwiseFeedForward(config));
  feed_forward_sublayer = register_module("feed_forward_sublayer", Sublayer(config));
}

torch::Tensor EncoderLayerImpl::forward(torch::Tensor x_ND, const AttentionSpec& self) {
  x_ND = mixer.forward(x_ND, self);
  return feed_forward_sublayer->forward(x_ND,
                                        [&](const torch::Tensor& x) { return feed_forward(x); });
}

EncoderImpl::EncoderImpl(const TransformerConfig& config) {
  register_module("layers", layers);
  for (int64_t i = 0; i < config.layers; ++i) layers->push_back(EncoderLayer(config, i));
  if (has_final_norm(config.norm)) final_norm = register_module("final_norm", make_norm(config));
}

torch::Tensor EncoderImpl::forward(torch::Tensor x_ND, const AttentionSpec& self) {
  for (const auto& layer : *layers) x_ND = layer->as<EncoderLayer>()->forward(x_ND, self);
  return final_norm ? final_norm(x_ND) : x_ND;
}

}  // namespace attn
