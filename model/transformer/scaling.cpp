#include "model/transformer/scaling.h"

#include <cmath>

#include "model/transformer/attention.h"
#include "model/transformer/feed_forward.h"
#include "model/transformer/sublayer.h"

namespace attn {
namespace {

// `last`: gain of the last layer of each sub-layer.
void set_scales_of(const TransformerConfig& config, torch::nn::Module& stack, DeepScale deep,
                   double last) {
  for (const auto& module : stack.modules(/*include_self=*/false)) {
    if (auto* linear = dynamic_cast<LinearImpl*>(module.get())) {
      linear->unit_fan_in = config.mup_base > 0;
    } else if (auto* sublayer = dynamic_cast<SublayerImpl*>(module.get())) {
      sublayer->residual_scale = deep.alpha;
    } else if (auto* attention = dynamic_cast<MultiHeadAttentionImpl*>(module.get())) {
      attention->value->gain = deep.beta;
      attention->output->gain = deep.beta * last;
    } else if (auto* network = dynamic_cast<PositionwiseFeedForwardImpl*>(module.get())) {
      // DeepNorm is derived for two matrices. A gated network has a third, which is not scaled, as
      // in the authors' code: all three would make the initial branch proportional to β³.
      (network->gate ? network->gate : network->inner)->gain = deep.beta;
      network->outer->gain = deep.beta * last;
    }
  }
}

double last_gain(const TransformerConfig& config, int64_t sublayers) {
  if (config.initialization != Initialization::depth) return 1.0;
  return 1 / std::sqrt(static_cast<double>(sublayers));
}

}  // namespace

DeepScale encoder_scale(const TransformerConfig& config) {
  if (config.norm != Norm::deep) return {};
  const double n = static_cast<double>(config.layers);
  const double root =
      std::pow(std::pow(n, 4) * static_cast<double>(config.decoder_depth()), 1.0 / 16);
  return {0.81 * root, 0.87 / root};
}

DeepScale decoder_scale(const TransformerConfig& config) {
  if (config.norm != Norm::deep) return {};
  const double m = static_cast<double>(config.decoder_depth());
  return {std::pow(3 * m, 0.25), std::pow(12 * m, -0.25)};
}

void set_scales(const TransformerConfig& config, torch::nn::Module& encoder,
                torch::nn::Module& decoder) {
  set_scales_of(config, encoder, encoder_scale(config), last_gain(config, 2 * config.layers));
  set_scales_of(config, decoder, decoder_scale(config),
                last_gain(config, 3 * config.decoder_depth()));
}

}  // namespace attn
