// Variants of every architecture, for tests of what holds for all models.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/json_config.h"
#include "model/config.h"
#include "tests/support/models.h"

namespace attn::testing {

struct ModelVariant {
  std::string name;
  ModelConfig config;
  bool sees_earlier = true;  ///< a target position depends on those before it
  bool packed = false;       ///< search has a fast path
};

/// A variant by the options in which it differs.
struct VariantOptions {
  std::string name, options;
  bool packed = true;
};
inline constexpr bool kModules = false;  // search uses the modules

/// Of one architecture; `base` has no fast path unless it is a Transformer.
inline void add_variants(std::vector<ModelVariant>& list, const std::string& architecture,
                         const ModelConfig& base, const std::vector<VariantOptions>& variants) {
  for (const VariantOptions& one : variants) {
    ModelVariant variant{architecture + ", " + one.name, base};
    read_config(variant.config, parse_json("{" + one.options + "}", variant.name));
    if (const auto* config = std::get_if<TransformerConfig>(&variant.config.options)) {
      variant.sees_earlier = config->decoder_mixer.kind != Mixer::none;
      variant.packed = one.packed;
    }
    list.push_back(variant);
  }
}

inline std::vector<VariantOptions> transformer_variants() {
  return {{"paper", ""},
          {"pre-norm", R"("norm": "pre")"},
          {"learned positions", R"("position": "learned")"},
          {"halved sinusoids", R"("position": "sinusoidal_halves")"},
          {"no positions", R"("position": "none")"},
          {"word positions", R"("word_positions": true)"},
          {"learned word positions", R"("word_positions": true, "position": "learned")"},
          {"halved word positions", R"("word_positions": true, "position": "sinusoidal_halves")"},
          {"deterministic attention", R"("deterministic_attention": true)"},
          {"deterministic attention, word positions, pre-norm",
           R"("deterministic_attention": true, "word_positions": true, "norm": "pre")"},
          {"rms norm", R"("norm_kind": "rms")"},
          {"rms pre-norm", R"("norm_kind": "rms", "norm": "pre")"},
          {"rotary positions", R"("position": "rotary")"},
          {"alibi", R"("position": "alibi")"},
          {"t5 bias", R"("position": "t5_bias")"},
          {"relative positions", R"("position": "relative")"},
          {"scale norm", R"("norm_kind": "scale", "norm": "pre")"},
          {"deep norm", R"("norm": "deep", "layers": 3)"},
          {"shallow decoder, deep norm", R"("norm": "deep", "layers": 3, "decoder_layers": 1)"},
          {"deep decoder", R"("layers": 1, "decoder_layers": 3, "initialization": "depth")"},
          {"l2 qk norm", R"("qk_norm": "l2")", kModules},
          {"rms qk norm, rotary", R"("qk_norm": "rms", "position": "rotary")", kModules},
          {"multi-query", R"("kv_heads": 1)"},
          {"grouped queries, rotary", R"("heads": 4, "kv_heads": 2, "position": "rotary")"},
          {"grouped queries, wide heads", R"("heads": 4, "kv_heads": 2, "d_k": 16, "d_v": 18)"},
          {"swiglu", R"("activation": "swiglu")"},
          {"geglu", R"("activation": "geglu")", kModules},
          {"no bias in the feed-forward network", R"("feed_forward_bias": false)"},
          {"today's decoder",
           R"("norm": "pre", "norm_kind": "rms", "position": "rotary", "activation": "swiglu",
          "kv_heads": 1, "bias": false, "feed_forward_bias": false)"},
          {"depth-scaled initialization", R"("initialization": "depth")"},
          {"µP", R"("mup_base": 8)", kModules},
          {"no bias", R"("bias": false)"},
          {"gelu", R"("activation": "gelu")", kModules},
          {"silu", R"("activation": "silu")", kModules},
          {"two matrices", R"("embedding_sharing": "decoder")"},
          {"three matrices", R"("embedding_sharing": "none")"}};
}

/// Table 1's layer types in both stacks, and stacks that differ.
inline std::vector<VariantOptions> mixer_variants() {
  const auto encoder = [](const std::string& mixer) {
    return R"("encoder_mixer": {"kind": )" + mixer + "}";
  };
  const auto decoder = [](const std::string& mixer) {
    return R"("decoder_mixer": {"kind": )" + mixer + "}";
  };
  const auto both = [&](const std::string& mixer) { return encoder(mixer) + "," + decoder(mixer); };
  const std::string window = R"("restricted_attention", "window": 2)",
                    windowed = decoder(window) + R"(, "position": )",
                    t5 = R"(, "position": "t5_bias")";
  return {{"restricted attention", both(window)},
          {"wide window", both(R"("restricted_attention", "window": 50)")},
          {"restricted attention of several windows",
           decoder(window) + "," + encoder(R"("restricted_attention", "window": 3)")},
          {"restricted rotary attention", windowed + R"("rotary")"},
          {"restricted attention, alibi", windowed + R"("alibi")"},
          {"restricted attention, relative positions", windowed + R"("relative")"},
          {"alibi, multi-query, wide heads",
           R"("position": "alibi", "heads": 4, "kv_heads": 1, "d_k": 16, "d_v": 18)"},
          {"convolution", both(R"("convolution")"), kModules},
          {"gated convolution", both(R"("convolution", "gated": true)"), kModules},
          {"dilated convolution", both(R"("convolution", "dilation": 2)"), kModules},
          {"even kernel in the decoder", decoder(R"("convolution", "kernel": 2)"), kModules},
          {"lstm", both(R"("recurrence")"), kModules},
          {"gru", both(R"("recurrence", "cell": "gru")"), kModules},
          {"unidirectional encoder", encoder(R"("recurrence", "bidirectional": false)")},
          {"recurrent encoder, t5 bias", encoder(R"("recurrence")") + t5},
          {"recurrent decoder, t5 bias", decoder(R"("recurrence")") + t5, kModules},
          {"none", both(R"("none")"), kModules},
          {"none in the encoder", encoder(R"("none")")},
          {"pre-norm convolution",
           encoder(R"("convolution")") + "," + decoder(R"("recurrence")") + R"(, "norm": "pre")",
           kModules}};
}

inline std::vector<VariantOptions> recurrent_variants() {
  return {
      {"lstm", ""},
      {"gru", R"("cell": "gru")"},
      {"dot", R"("attention": "dot")"},
      {"deep", R"("encoder_layers": 2, "decoder_layers": 3)"},
      {"one layer", R"("decoder_layers": 1)"},
      {"gnmt", R"("encoder_layers": 4, "decoder_layers": 4, "residual": true,
                  "encoder_directions": "bottom")"},
      {"all bidirectional with residuals",
       R"("encoder_layers": 3, "cell": "gru", "residual": true)"},
      {"forward encoder", R"("encoder_directions": "forward")"},
      {"gnmt with the context fed", R"("input_feeding": true)"},
      {"luong", R"("decoder": "luong")"},
      {"luong with input feeding", R"("decoder": "luong", "input_feeding": true, "attention": "dot",
                                      "encoder_directions": "forward")"},
      {"luong, deep gru with input feeding",
       R"("decoder": "luong", "input_feeding": true, "residual": true, "cell": "gru",
          "decoder_layers": 3)"},
      {"two matrices", R"("embedding_sharing": "decoder")"},
      {"three matrices", R"("embedding_sharing": "none")"}};
}

inline std::vector<ModelVariant> variants() {
  TransformerConfig transformer = small_model();
  transformer.d_k = 6;
  transformer.d_v = 10;
  transformer.max_positions = 64;
  std::vector<ModelVariant> list;
  add_variants(list, "transformer", transformer, transformer_variants());
  add_variants(list, "mixer", small_model(), mixer_variants());
  add_variants(list, "recurrent", RecurrentConfig{.d_model = 12, .hidden = 10, .d_attention = 14},
               recurrent_variants());
  add_variants(list, "convolutional",
               ConvolutionalConfig{.d_model = 12,
                                   .encoder = {{.layers = 2, .width = 10, .kernel = 3}},
                                   .decoder = {{.layers = 2, .width = 14, .kernel = 3}},
                                   .max_positions = 32},
               {{"equal widths", ""},
                {"stacks of several widths and kernels",
                 R"("encoder": [{"layers": 2, "width": 10, "kernel": 3},
                                {"layers": 1, "width": 16, "kernel": 5},
                                {"layers": 1, "width": 8, "kernel": 1}],
                    "decoder": [{"layers": 1, "width": 10, "kernel": 4},
                                {"layers": 2, "width": 6, "kernel": 2},
                                {"layers": 1, "width": 12, "kernel": 1}])"},
                {"two matrices", R"("embedding_sharing": "decoder")"},
                {"three matrices", R"("embedding_sharing": "none")"}});
  add_variants(list, "bytenet",
               ByteNetConfig{.d_model = 12, .hidden = 6, .repeats = 2, .dilations = {1, 2}},
               {{"usual", ""},
                {"wide kernel, not unfolded", R"("kernel": 5, "length_factor": 1.0)"},
                {"three matrices", R"("embedding_sharing": "none")"}});
  return list;
}

}  // namespace attn::testing
