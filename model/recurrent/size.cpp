#include "model/size.h"

namespace attn {
namespace {

int64_t cell_weights(const RecurrentConfig& c, int64_t inputs) {
  return cell_weights(c.cell, inputs, c.hidden);
}

// Weights of an encoder layer, in its one or two directions.
int64_t encoder_weights(const RecurrentConfig& c, int64_t layer) {
  return (c.bidirectional(layer) ? 2 : 1) * cell_weights(c, c.encoder_inputs(layer));
}

int64_t with_biases(const RecurrentConfig& c, int64_t inputs) {
  return cell_parameters(c.cell, inputs, c.hidden);
}

}  // namespace

int64_t parameter_count(const RecurrentConfig& c, const VocabularySizes& sizes) {
  int64_t sum = embedding_rows(c.embedding_sharing, sizes) * c.d_model;
  for (int64_t i = 0; i < c.encoder_layers; ++i) {
    sum += (c.bidirectional(i) ? 2 : 1) * with_biases(c, c.encoder_inputs(i));
  }
  for (int64_t i = 0; i < c.decoder_layers; ++i) {
    sum += with_biases(c, c.decoder_inputs(i));
  }
  const int64_t memory = c.memory_width();
  sum += c.decoder_layers * (memory + 1) * c.hidden;  // initial states
  sum += (c.hidden + memory) * c.d_attention;         // query and key
  if (c.attention == RecurrentAttention::additive) sum += c.d_attention;
  return sum + (c.output_inputs() + 1) * c.d_model;
}

double forward_flops(const RecurrentConfig& c, const VocabularySizes& sizes,
                     const PairLengths& lengths) {
  const auto s = static_cast<double>(lengths.source), t = static_cast<double>(lengths.target);
  const auto number = [](int64_t n) { return static_cast<double>(n); };
  const int64_t memory = c.memory_width();
  double source = number(memory * c.d_attention);  // keys, for each source position
  double target =
      number(c.hidden * c.d_attention + c.output_inputs() * c.d_model + c.d_model * sizes.target);
  for (int64_t i = 0; i < c.encoder_layers; ++i) source += number(encoder_weights(c, i));
  for (int64_t i = 0; i < c.decoder_layers; ++i) {
    target += number(cell_weights(c, c.decoder_inputs(i)));
  }
  const double pair = number(c.d_attention + memory);  // a score and a weighted value
  return 2 *
         (s * source + t * target + s * t * pair + number(c.decoder_layers * memory * c.hidden));
}

}  // namespace attn
