#include "model/transformer/mixer_cost.h"

#include <algorithm>

namespace attn {
namespace {

// 1 + 2 + … + reach, then `reach` for every further one of `count`.
double ramp(int64_t reach, int64_t count) {
  const auto n = static_cast<double>(std::min(reach, count));
  return n * (n + 1) / 2 + (static_cast<double>(count) - n) * n;
}

// Pairs of a query and a key that it may see.
double visible_pairs(const SideMixer& mixer, int64_t length) {
  const auto n = static_cast<double>(length);
  const int64_t window = mixer.config.window;
  const bool restricted = mixer.config.kind == Mixer::restricted_attention;
  if (mixer.causal) return ramp(restricted ? window : length, length);
  if (!restricted) return n * n;
  return n + 2 * ramp(window / 2, length - 1);
}

int64_t outputs(const TransformerConfig& c, const SideMixer& mixer) {
  return (mixer.config.gated ? 2 : 1) * c.d_model;
}

int64_t qk_norm_parameters(const TransformerConfig& c) {
  if (c.qk_norm == QkNorm::none) return 0;
  return c.qk_norm == QkNorm::l2 ? 1 : 2 * c.key_width();
}

// Of self-attention's vectors of relative positions at so many distances, all heads. They enter a
// product for each position.
int64_t relative_weights(const TransformerConfig& c, int64_t distances) {
  return c.position == Position::relative ? c.heads * distances * (c.key_width() + c.value_width())
                                          : 0;
}

}  // namespace

int64_t attention_parameters(const TransformerConfig& c) {
  return linear_parameters(c.d_model, c.heads * c.key_width(), c.bias) +
         linear_parameters(c.d_model, c.key_heads() * c.key_width(), c.bias) +
         linear_parameters(c.d_model, c.key_heads() * c.value_width(), c.bias) +
         linear_parameters(c.heads * c.value_width(), c.d_model, c.bias) + qk_norm_parameters(c);
}

int64_t mixer_parameters(const TransformerConfig& c, const SideMixer& mixer) {
  const int64_t d = c.d_model;
  switch (mixer.config.kind) {
    case Mixer::attention:
    case Mixer::restricted_attention:
      return attention_parameters(c) + relative_weights(c, kRelativeDistances);
    case Mixer::convolution:
      return linear_parameters(mixer.config.kernel * d, outputs(c, mixer), true);
    case Mixer::recurrence:
      return mixer.bidirectional ? 2 * cell_parameters(mixer.config.cell, d, d / 2)
                                 : cell_parameters(mixer.config.cell, d, d);
    case Mixer::none:
      break;
  }
  return 0;
}

double mixer_products(const TransformerConfig& c, const SideMixer& mixer, int64_t length) {
  const auto number = [](int64_t n) { return static_cast<double>(n); };
  const int64_t d = c.d_model, heads = c.heads * (c.key_width() + c.value_width()),
                kv_heads = c.key_heads() * (c.key_width() + c.value_width());
  switch (mixer.config.kind) {
    case Mixer::attention:
    case Mixer::restricted_attention:
      return number(length) * number(d * (heads + kv_heads) +
                                     relative_weights(c, mixer.causal ? kRelativeClip + 1
                                                                      : kRelativeDistances)) +
             visible_pairs(mixer, length) * number(heads);
    case Mixer::convolution:
      return number(length) * number(mixer.config.kernel * d * outputs(c, mixer));
    case Mixer::recurrence:
      return number(length) * number(mixer.bidirectional
                                         ? 2 * cell_weights(mixer.config.cell, d, d / 2)
                                         : cell_weights(mixer.config.cell, d, d));
    case Mixer::none:
      break;
  }
  return 0.0;
}

}  // namespace attn
