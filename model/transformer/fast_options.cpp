#include "model/transformer/fast_options.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "base/json_config.h"

namespace attn {
namespace {

using std::string_view;

// Options that both fast paths compute at any value, or that make no difference to them. Of the
// encoder's mixer packed search sees the results alone.
constexpr string_view kKnown[] = {"layers",
                                  "decoder_layers",
                                  "d_model",
                                  "d_ff",
                                  "heads",
                                  "kv_heads",
                                  "d_k",
                                  "d_v",
                                  "encoder_mixer",
                                  "dropout",
                                  "bias",
                                  "attention_dropout",
                                  "activation_dropout",
                                  "max_positions",
                                  "word_positions",
                                  "deterministic_attention",
                                  "qk_norm_length",
                                  "feed_forward_bias",
                                  "initialization",
                                  "embedding_sharing"};
constexpr string_view kKnownToAttention[] = {"decoder_mixer", "norm_kind", "qk_norm", "activation",
                                             "mup_base"};

// Others are computed at their default and at these values: a new one is as it is read.
struct Value {
  string_view option, value;
};
constexpr Value kKnownValues[] = {{"position", "sinusoidal"},
                                  {"position", "sinusoidal_halves"},
                                  {"position", "learned"},
                                  {"position", "rotary"},
                                  {"position", "alibi"},
                                  {"position", "t5_bias"},
                                  {"position", "relative"},
                                  {"position", "none"},
                                  {"norm", "post"},
                                  {"norm", "pre"},
                                  {"norm", "deep"}};
constexpr Value kKnownToSearch[] = {
    {"activation", "relu"}, {"activation", "swiglu"}, {"norm_kind", "rms"}, {"norm_kind", "scale"}};

bool lists(std::span<const string_view> options, string_view option) {
  return std::ranges::find(options, option) != options.end();
}

bool lists(std::span<const Value> values, string_view option, const Json& value) {
  return value.is_string() && std::ranges::any_of(values, [&](const Value& known) {
           return known.option == option && known.value == value.get_ref<const std::string&>();
         });
}

}  // namespace

std::string option_as_read(FastPath path, const TransformerConfig& config) {
  static const Json defaults = write_config(TransformerConfig());
  const bool attention = path == FastPath::attention;
  const Json values = write_config(config);
  for (const auto& [option, value] : values.items()) {
    if (value == defaults.at(option) || lists(kKnown, option)) continue;
    if (lists(kKnownValues, option, value)) continue;
    if (attention ? lists(kKnownToAttention, option) : lists(kKnownToSearch, option, value)) {
      continue;
    }
    if (option == "decoder_mixer" && config.decoder_mixer.is_attention()) continue;
    return option;
  }
  return "";
}

}  // namespace attn
