// Table 1 in closed form: parameters, FLOPs, sequential operations and path lengths of a layer's
// token mixer.
#pragma once

#include <cstdint>
#include <optional>

#include "model/transformer/config.h"

namespace attn {

/// The mixer of a side and the side: what the encoder's sees on both sides, the decoder's does not.
struct SideMixer {
  MixerConfig config;
  bool causal;         ///< the decoder
  bool bidirectional;  ///< recurrence only
};
SideMixer encoder_mixer(const TransformerConfig& config);
SideMixer decoder_mixer(const TransformerConfig& config);

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

/// Operations of a layer that have to follow one another, as Table 1 counts them.
int64_t sequential_operations(const SideMixer& mixer, int64_t length);

/// Layers, or steps of a recurrence, between the first and the last position of a sentence, by the
/// distance that they span; nothing if no number of layers connects them.
std::optional<int64_t> path_length(const SideMixer& mixer, int64_t length);

}  // namespace attn
