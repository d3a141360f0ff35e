#include "model/size.h"

namespace attn {
namespace {

// Weights and outputs of some weight-normalized linear layers; an output also has a length and a
// bias.
struct Products {
  int64_t weights = 0, outputs = 0;
  void add(int64_t in, int64_t out) {
    weights += in * out;
    outputs += out;
  }
  int64_t parameters() const { return weights + 2 * outputs; }
};

// One side: into the convolutions' width, the layers, back to d_model.
Products side_of(const std::vector<ConvolutionStack>& stacks, int64_t d_model, bool attention) {
  Products sum;
  const auto layers = layers_of(stacks);
  sum.add(d_model, layers.front().inputs);
  for (const ConvolutionLayerShape& layer : layers) {
    if (layer.inputs != layer.width) sum.add(layer.inputs, layer.width);  // the projected residual
    sum.add(layer.kernel * layer.inputs, 2 * layer.width);
    if (!attention) continue;
    sum.add(layer.width, d_model);
    sum.add(d_model, layer.width);
  }
  sum.add(layers.back().width, d_model);
  return sum;
}

}  // namespace

int64_t parameter_count(const ConvolutionalConfig& c, const VocabularySizes& sizes) {
  return (embedding_rows(c.embedding_sharing, sizes) + 2 * c.max_positions) * c.d_model +
         side_of(c.encoder, c.d_model, false).parameters() +
         side_of(c.decoder, c.d_model, true).parameters();
}

double forward_flops(const ConvolutionalConfig& c, const VocabularySizes& sizes,
                     const PairLengths& lengths) {
  const auto s = static_cast<double>(lengths.source), t = static_cast<double>(lengths.target);
  const auto number = [](int64_t n) { return static_cast<double>(n); };
  const auto attentions = static_cast<int64_t>(layers_of(c.decoder).size());
  const int64_t projection = c.d_model * sizes.target;
  return 2 * (s * number(side_of(c.encoder, c.d_model, false).weights) +
              t * number(side_of(c.decoder, c.d_model, true).weights + projection) +
              s * t * number(attentions * 2 * c.d_model));  // a score and a weighted value
}

}  // namespace attn
