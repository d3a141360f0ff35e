#include "model/transformer/config.h"

#include "base/check.h"

namespace attn {
namespace {

constexpr int64_t kWidest = 1 << 20;  // larger sizes are probably typos

void require_size(const char* name, int64_t value, int64_t least = 1) {
  require(value >= least && value <= kWidest, name, value,
          least == 0 ? "must be 0 or more" : "must be positive");
}

void require_probability(const char* name, double value) {
  require(value >= 0.0 && value < 1.0, name, value, "must be at least 0 and below 1");
}

}  // namespace

void TransformerConfig::validate() const {
  require(layers >= 1 && layers <= 1000, "layers", layers, "must be 1 to 1000");
  require_size("d_model", d_model);
  require_size("d_ff", d_ff);
  require_size("heads", heads);
  require_size("d_k", d_k);
  require_size("d_v", d_v);
  encoder_mixer.validate("encoder_mixer", layers, d_model);
  decoder_mixer.validate("decoder_mixer", layers);
  require_size("max_positions", max_positions);
  require_probability("dropout", dropout);
  require_probability("attention_dropout", attention_dropout);
  require_probability("activation_dropout", activation_dropout);
  const bool sinusoids =
      position == Position::sinusoidal || position == Position::sinusoidal_halves;
  require(!sinusoids || d_model % 2 == 0, "d_model", d_model,
          "must be even with sinusoidal positions");
  require(position != Position::rotary || d_k % 2 == 0, "d_k", d_k,
          "must be even with rotary positions");
  require(
      position != Position::rotary || encoder_mixer.is_attention() || decoder_mixer.is_attention(),
      "position", "rotary", "requires self-attention in encoder_mixer or decoder_mixer");
  require(!word_positions || (position != Position::none && position != Position::rotary),
          "word_positions", "true",
          "requires a position encoding that is added to the embeddings (model.position)");
  require(!word_positions || d_model % 2 == 0, "d_model", d_model,
          "must be even with word_positions");
}

std::optional<int64_t> TransformerConfig::max_length() const {
  switch (position) {
    case Position::learned:
      return max_positions;
    case Position::sinusoidal:
    case Position::sinusoidal_halves:
    case Position::rotary:
    case Position::none:
      break;
  }
  return {};
}

}  // namespace attn
