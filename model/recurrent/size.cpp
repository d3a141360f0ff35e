#include "model/recurrent/size.h"

namespace attn {
namespace {

int64_t gates(const RecurrentConfig& c) {
  return c.cell == RecurrentCell::lstm ? 4 : 3;
}

// Weights of one direction of a layer, without the two biases.
int64_t cell_weights(const RecurrentConfig& c, int64_t inputs) {
  return gates(c) * c.hidden * (inputs + c.hidden);
}

int64_t cell_parameters(const RecurrentConfig& c, int64_t inputs) {
  return cell_weights(c, inputs) + 2 * gates(c) * c.hidden;
}

int64_t context(const RecurrentConfig& c) {
  return 2 * c.hidden;  // both directions of the encoder
}

// Input width of an encoder or decoder layer.
int64_t encoder_inputs(const RecurrentConfig& c, int64_t layer) {
  return layer == 0 ? c.d_model : context(c);
}
int64_t decoder_inputs(const RecurrentConfig& c, int64_t layer) {
  return layer == 0 ? c.d_model : c.hidden + context(c);
}

// Input width of the output layer: top state, context, embedding.
int64_t output_inputs(const RecurrentConfig& c) {
  return c.hidden + context(c) + c.d_model;
}

}  // namespace

int64_t parameter_count(const RecurrentConfig& c, const VocabularySizes& sizes) {
  int64_t sum = embedding_rows(c.embedding_sharing, sizes) * c.d_model;
  for (int64_t i = 0; i < c.encoder_layers; ++i)
    sum += 2 * cell_parameters(c, encoder_inputs(c, i));
  for (int64_t i = 0; i < c.decoder_layers; ++i) sum += cell_parameters(c, decoder_inputs(c, i));
  sum += c.decoder_layers * (context(c) + 1) * c.hidden;         // initial states
  sum += c.hidden * c.d_attention + context(c) * c.d_attention;  // query and key
  if (c.attention == RecurrentAttention::additive) sum += c.d_attention;
  return sum + (output_inputs(c) + 1) * c.d_model;
}

double forward_flops(const RecurrentConfig& c, const VocabularySizes& sizes,
                     const PairLengths& lengths) {
  const auto s = static_cast<double>(lengths.source), t = static_cast<double>(lengths.target);
  const auto number = [](int64_t n) { return static_cast<double>(n); };
  double source = number(context(c) * c.d_attention);  // keys, for each source position
  double target =
      number(c.hidden * c.d_attention + output_inputs(c) * c.d_model + c.d_model * sizes.target);
  for (int64_t i = 0; i < c.encoder_layers; ++i) {
    source += number(2 * cell_weights(c, encoder_inputs(c, i)));
  }
  for (int64_t i = 0; i < c.decoder_layers; ++i) {
    target += number(cell_weights(c, decoder_inputs(c, i)));
  }
  const double pair = number(c.d_attention + context(c));  // a score and a weighted value
  return 2 * (s * source + t * target + s * t * pair +
              number(c.decoder_layers * context(c) * c.hidden));
}

}  // namespace attn
