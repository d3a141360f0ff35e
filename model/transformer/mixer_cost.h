// Parameters and products of a layer's token mixer in closed form (Table 1).
#pragma once

#include <cstdint>

#include "model/transformer/config.h"

namespace attn {

/// Parameters of a linear layer.
constexpr int64_t linear_parameters(int64_t in, int64_t out, bool bias) {
  return in * out + (bias ? out : 0);
}
/// Parameters of multi-head attention, self or cross.
int64_t attention_parameters(const TransformerConfig& config);
/// Parameters of one layer's mixer, without the norm of its sub-layer.
int64_t mixer_parameters(const TransformerConfig& config, const SideMixer& mixer);

/// Multiply-adds of the matrix products in one layer's mixer, projections included, for a sentence
/// of `length` positions. Attention counts unmasked positions only.
double mixer_products(const TransformerConfig& config, const SideMixer& mixer, int64_t length);

}  // namespace attn
