#include "model/size.h"

#include "model/transformer/mixer_cost.h"

namespace attn {
namespace {

int64_t feed_forward_matrices(const TransformerConfig& c) {
  return is_gated(c.activation) ? 2 : 1;
}

int64_t feed_forward_parameters(const TransformerConfig& c) {
  const int64_t inner = linear_parameters(c.d_model, c.d_ff, c.feed_forward_bias);
  return feed_forward_matrices(c) * inner +
         linear_parameters(c.d_ff, c.d_model, c.feed_forward_bias);
}

// With the norm of its sub-layer.
int64_t mixer_sublayer_parameters(const TransformerConfig& c, const SideMixer& mixer) {
  if (mixer.config.kind == Mixer::none) return 0;
  return mixer_parameters(c, mixer) + norm_parameters(c.norm_kind, c.d_model);
}

int64_t position_parameters(const TransformerConfig& c) {
  if (c.position == Position::t5_bias) {
    const int64_t stacks = (c.self_attends(false) ? 1 : 0) + (c.self_attends(true) ? 1 : 0);
    return stacks * kT5Buckets * c.heads;
  }
  if (c.position != Position::learned) return 0;
  return (2 + (c.word_positions ? 1 : 0)) * c.max_positions * c.d_model;
}

}  // namespace

int64_t parameter_count(const TransformerConfig& c, const VocabularySizes& vocabulary) {
  const int64_t norm = norm_parameters(c.norm_kind, c.d_model);
  const int64_t encoder_layer =
      mixer_sublayer_parameters(c, encoder_mixer(c)) + feed_forward_parameters(c) + norm;
  const int64_t decoder_layer = mixer_sublayer_parameters(c, decoder_mixer(c)) +
                                attention_parameters(c) + feed_forward_parameters(c) + 2 * norm;
  const int64_t final_norms = has_final_norm(c.norm) ? 2 * norm : 0;
  const int64_t next_word =
      c.deterministic_attention ? linear_parameters(c.d_model, c.d_model, false) : 0;
  return embedding_rows(c.embedding_sharing, vocabulary) * c.d_model + position_parameters(c) +
         next_word + final_norms + c.layers * encoder_layer + c.decoder_depth() * decoder_layer;
}

double forward_flops(const TransformerConfig& c, const VocabularySizes& vocabulary,
                     const PairLengths& lengths) {
  const double s = static_cast<double>(lengths.source), t = static_cast<double>(lengths.target);
  const double d = static_cast<double>(c.d_model), heads = static_cast<double>(c.heads);
  const double keys = heads * static_cast<double>(c.key_width()),
               values = heads * static_cast<double>(c.value_width());
  const double queries_and_output = d * keys + values * d;  // per query position
  const double keys_and_values =
      d * static_cast<double>(c.key_heads() *
                              (c.key_width() + c.value_width()));  // per memory position
  const double feed_forward =
      static_cast<double>(feed_forward_matrices(c) + 1) * d * static_cast<double>(c.d_ff);
  const double per_score = keys + values;  // Q Kᵀ and the weighted sum, all heads
  const double encoder = mixer_products(c, encoder_mixer(c), lengths.source) + s * feed_forward;
  const double decoder = mixer_products(c, decoder_mixer(c), lengths.target) + t * feed_forward +
                         t * queries_and_output + s * keys_and_values + t * s * per_score;
  const double output = t * d * static_cast<double>(vocabulary.target);
  const double next_word = c.deterministic_attention ? s * d * d : 0.0;
  const double n = static_cast<double>(c.layers), m = static_cast<double>(c.decoder_depth());
  return 2 * (n * encoder + m * decoder + next_word + output);
}

}  // namespace attn
