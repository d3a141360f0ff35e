#include "model/transformer/decoder.h"

namespace attn {

DecoderLayerImpl::DecoderLayerImpl(const TransformerConfig& config, int64_t layer)
    : mixer(*this, config, decoder_mixer(config), layer) {
  cross_attention =
      register_module("cross_attention", MultiHeadAttention(config, AttentionKind::cross));
  cross_attention_sublayer = register_module("cross_attention_sublayer", Sublayer(config));
  feed_forward = register_module("feed_forward", PositionwiseFeedForward(config));
  feed_forward_sublayer = register_module("feed_forward_sublayer", Sublayer(config));
}

torch::Tensor DecoderLayerImpl::forward(torch::Tensor x_ND, const torch::Tensor& memory_MD,
                                        const AttentionSpec& self, const AttentionSpec& cross) {
  // Formula decoder_layer: fast paths packed_search, transformer_step.
  x_ND = mixer.forward(x_ND, self);
  x_ND = cross_attention_sublayer->forward(
      x_ND, [&](const torch::Tensor& x) { return cross_attention(x, memory_MD, cross); });
  return feed_forward_sublayer->forward(x_ND,
                                        [&](const torch::Tensor& x) { return feed_forward(x); });
  // End of formula.
}

torch::Tensor DecoderLayerImpl::step(torch::Tensor x_RD, DecoderState& state, size_t layer,
                                     const AttentionSpec& self, const AttentionSpec& cross) {
  x_RD = mixer.step(x_RD, state.mixers[layer], state.ancestors, self);
  x_RD = cross_attention_sublayer->forward(x_RD, [&](const torch::Tensor& x) {
    return cross_attention->attend(x, state.cross_kv[layer], cross);
  });
  return feed_forward_sublayer->forward(x_RD,
                                        [&](const torch::Tensor& x) { return feed_forward(x); });
}

DecoderImpl::DecoderImpl(const TransformerConfig& config) {
  register_module("layers", layers);
  for (int64_t i = 0; i < config.decoder_depth(); ++i) layers->push_back(DecoderLayer(config, i));
  if (has_final_norm(config.norm)) final_norm = register_module("final_norm", make_norm(config));
}

torch::Tensor DecoderImpl::forward(torch::Tensor x_ND, const torch::Tensor& memory_MD,
                                   const AttentionSpec& self, const AttentionSpec& cross) {
  // Formula decoder: fast paths packed_search, transformer_step.
  for (const auto& layer : *layers) {
    x_ND = layer->as<DecoderLayer>()->forward(x_ND, memory_MD, self, cross);
  }
  return final_norm ? final_norm(x_ND) : x_ND;
  // End of formula.
}

DecoderState DecoderImpl::start(const torch::Tensor& memory_MD, const Segments& memory) {
  DecoderState state{.memory = memory};
  for (const auto& layer : *layers) {
    state.cross_kv.push_back(layer->as<DecoderLayer>()->cross_attention->project(memory_MD));
  }
  state.mixers.resize(layers->size());
  return state;
}

torch::Tensor DecoderImpl::step(torch::Tensor x_RD, DecoderState& state, const Segments& rows,
                                const PositionInScores& position) {
  const auto each_row = [&](int64_t length) {
    return Segments(std::vector<int64_t>(static_cast<size_t>(rows.rows()), length), x_RD.device());
  };
  const int64_t visible = layers[0]->as<DecoderLayer>()->mixer.visible(state.ancestors.steps());
  const Segments queries = each_row(1), prefixes = each_row(visible);
  const AttentionSpec self{.queries = queries, .keys = prefixes, .position = position},
      cross{.queries = rows, .keys = state.memory};
  for (size_t i = 0; i < layers->size(); ++i) {
    x_RD = layers[i]->as<DecoderLayer>()->step(x_RD, state, i, self, cross);
  }
  return final_norm ? final_norm(x_RD) : x_RD;
}

}  // namespace attn
