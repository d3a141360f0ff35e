#include "model/transformer/fast_options.h"

#include "base/json_config.h"

namespace attn {
namespace {

// The name of the first option that differs.
std::string first_difference(const TransformerConfig& config, const TransformerConfig& known) {
  const Json values = write_config(config), of_known = write_config(known);
  for (const auto& [name, value] : values.items()) {
    if (value != of_known.at(name)) return name;
  }
  return "";
}

// Whether packed search knows the position encoding: added to the embedding, rotary, a bias by
// distance, or relative.
bool is_known(Position position) {
  switch (position) {
    case Position::sinusoidal:
    case Position::sinusoidal_halves:
    case Position::learned:
    case Position::rotary:
    case Position::alibi:
    case Position::t5_bias:
    case Position::relative:
    case Position::none:
      return true;
  }
  return false;
}

// PackedSession applies ReLU, or SiLU's gate to networks with a third matrix.
bool is_known(Activation activation) {
  switch (activation) {
    case Activation::relu:
    case Activation::swiglu:
      return true;
    case Activation::gelu:
    case Activation::silu:
    case Activation::geglu:
      return false;
  }
  return false;
}

bool is_known(Norm norm) {
  switch (norm) {
    case Norm::post:
    case Norm::pre:
    case Norm::deep:
      return true;
  }
  return false;
}

// The defaults with the options that both fast paths compute, or that make no difference to them.
TransformerConfig known_to_both(const TransformerConfig& config) {
  TransformerConfig known;
  known.layers = config.layers;
  known.d_model = config.d_model;
  known.d_ff = config.d_ff;
  known.heads = config.heads;
  known.kv_heads = config.kv_heads;
  known.d_k = config.d_k;
  known.d_v = config.d_v;
  known.encoder_mixer = config.encoder_mixer;  // packed search computes the decoder alone
  known.dropout = config.dropout;
  known.attention_dropout = config.attention_dropout;
  known.activation_dropout = config.activation_dropout;
  if (is_known(config.position)) known.position = config.position;
  known.max_positions = config.max_positions;
  known.word_positions = config.word_positions;
  known.deterministic_attention = config.deterministic_attention;
  if (is_known(config.norm)) known.norm = config.norm;
  known.norm_kind = config.norm_kind;
  known.qk_norm_length = config.qk_norm_length;
  known.bias = config.bias;
  known.feed_forward_bias = config.feed_forward_bias;
  known.initialization = config.initialization;
  known.embedding_sharing = config.embedding_sharing;
  return known;
}

TransformerConfig known_to_attention(const TransformerConfig& config) {
  TransformerConfig known = known_to_both(config);
  known.decoder_mixer = config.decoder_mixer;
  known.qk_norm = config.qk_norm;
  known.activation = config.activation;
  known.mup_base = config.mup_base;
  return known;
}

TransformerConfig known_to_packed_search(const TransformerConfig& config) {
  TransformerConfig known = known_to_both(config);
  if (config.decoder_mixer.is_attention()) known.decoder_mixer = config.decoder_mixer;
  if (is_known(config.activation)) known.activation = config.activation;
  return known;
}

}  // namespace

std::string option_as_read(FastPath path, const TransformerConfig& config) {
  return first_difference(config, path == FastPath::attention ? known_to_attention(config)
                                                              : known_to_packed_search(config));
}

}  // namespace attn
