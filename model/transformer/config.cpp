#include "model/transformer/config.h"

#include "base/check.h"
#include "model/limits.h"

namespace attn {
namespace {

void require_size(const char* name, int64_t value, int64_t min = 1) {
  require_between(name, value, min, kMaxWidth);
}

// Whether the encoding is added to the embeddings.
bool is_added(Position position) {
  return position == Position::sinusoidal || position == Position::sinusoidal_halves ||
         position == Position::learned;
}

constexpr int64_t kMaxDepth = 1000;  // the depth for which DeepNorm was published

// Whether the encoding acts inside self-attention.
bool is_in_scores(Position position) {
  return !is_added(position) && position != Position::none;
}

}  // namespace

void TransformerConfig::validate() const {
  require_between("layers", layers, 1, kMaxDepth);
  require_between("decoder_layers", decoder_depth(), 1, kMaxDepth);
  require_size("d_model", d_model);
  require_size("d_ff", d_ff);
  require_size("heads", heads);
  require((d_k && d_v) || d_model % heads == 0, "heads", heads,
          "must divide model.d_model, " + std::to_string(d_model) +
              ", unless model.d_k and model.d_v are numbers");
  for (const auto& [name, width] : {std::pair("d_k", key_width()), {"d_v", value_width()}}) {
    require_size(name, width);
    // Also bounds the number of parameters below 2^63.
    require(heads * width <= kMaxWidth, name, width, "times model.heads must be at most 2^20");
  }
  encoder_mixer.validate("encoder_mixer", layers, d_model);
  decoder_mixer.validate("decoder_mixer", decoder_depth());
  require_size("max_positions", max_positions);
  require_dropout("dropout", dropout);
  require_dropout("attention_dropout", attention_dropout);
  require_dropout("activation_dropout", activation_dropout);
  const bool sinusoids =
      position == Position::sinusoidal || position == Position::sinusoidal_halves;
  require(!sinusoids || d_model % 2 == 0, "d_model", d_model,
          "must be even with sinusoidal positions");
  require(position != Position::rotary || key_width() % 2 == 0, "d_k", key_width(),
          "must be even with rotary positions");
  require(!is_in_scores(position) || encoder_mixer.is_attention() || decoder_mixer.is_attention(),
          "position", enum_name(position),
          "requires self-attention in encoder_mixer or decoder_mixer");
  require(key_heads() >= 1 && heads % key_heads() == 0, "kv_heads", key_heads(),
          "must divide model.heads");
  require_between("qk_norm_length", qk_norm_length, 3, kMaxWidth);
  require_between("mup_base", mup_base, 0, kMaxWidth);
  require(norm != Norm::deep || norm_kind != NormKind::scale, "norm_kind", enum_name(norm_kind),
          "has no DeepNorm (model.norm=deep): use layer or rms");
  require(norm != Norm::deep || initialization == Initialization::xavier, "initialization",
          enum_name(initialization), "must be xavier with model.norm=deep, which scales it itself");
  const bool attends = encoder_mixer.is_attention() && decoder_mixer.is_attention();
  require(attends || norm != Norm::deep, "norm", "deep",
          "requires attention in encoder_mixer and decoder_mixer, for which DeepNorm is defined");
  require(attends || initialization != Initialization::depth, "initialization", "depth",
          "requires attention in encoder_mixer and decoder_mixer, whose sub-layers it counts");
  for (const int64_t width : {d_ff, key_width(), value_width()}) {
    require(width * mup_base % d_model == 0, "mup_base", mup_base,
            "no such base model: d_ff, d_k and d_v times mup_base must be divisible by d_model");
  }
  require(mup_base == 0 || norm != Norm::deep, "mup_base", mup_base,
          "must be 0 with model.norm=deep: both scale the initial weights");
  require(!word_positions || is_added(position), "word_positions", "true",
          "requires a position encoding that is added to the embeddings (model.position)");
  require(!word_positions || d_model % 2 == 0, "d_model", d_model,
          "must be even with word_positions");
}

std::optional<int64_t> TransformerConfig::max_length() const {
  return position == Position::learned ? std::optional(max_positions) : std::nullopt;
}

}  // namespace attn
