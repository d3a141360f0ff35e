// Variants of every architecture, for tests of what holds for all models.
#pragma once

#include <string>
#include <vector>

#include "model/config.h"
#include "tests/support/models.h"

namespace attn::testing {

struct ModelVariant {
  std::string name;
  ModelConfig config;
  bool sees_earlier = true;  ///< a target position depends on those before it
  bool packed = false;       ///< search has a fast path
};

inline constexpr bool kModules = false;  // search uses the modules

inline void add_transformers(std::vector<ModelVariant>& list) {
  TransformerConfig small = small_model();
  small.d_k = 6;
  small.d_v = 10;
  small.max_positions = 64;
  const auto add = [&](const char* name, auto change, bool packed = true) {
    TransformerConfig config = small;
    change(config);
    list.push_back({std::string("transformer, ") + name, config, /*sees_earlier=*/true, packed});
  };
  const auto by_modules = [&](const char* name, auto change) { add(name, change, kModules); };
  using Config = TransformerConfig;
  add("paper", [](Config&) {});
  add("pre-norm", [](Config& c) { c.norm = Norm::pre; });
  add("learned positions", [](Config& c) { c.position = Position::learned; });
  add("halved sinusoids", [](Config& c) { c.position = Position::sinusoidal_halves; });
  add("no positions", [](Config& c) { c.position = Position::none; });
  add("word positions", [](Config& c) { c.word_positions = true; });
  add("learned word positions",
      [](Config& c) { c.word_positions = true, c.position = Position::learned; });
  add("halved word positions",
      [](Config& c) { c.word_positions = true, c.position = Position::sinusoidal_halves; });
  add("deterministic attention", [](Config& c) { c.deterministic_attention = true; });
  add("deterministic attention, word positions, pre-norm",
      [](Config& c) { c.deterministic_attention = c.word_positions = true, c.norm = Norm::pre; });
  add("rms norm", [](Config& c) { c.norm_kind = NormKind::rms; });
  add("rms pre-norm", [](Config& c) { c.norm_kind = NormKind::rms, c.norm = Norm::pre; });
  add("rotary positions", [](Config& c) { c.position = Position::rotary; });
  add("alibi", [](Config& c) { c.position = Position::alibi; });
  add("t5 bias", [](Config& c) { c.position = Position::t5_bias; });
  add("relative positions", [](Config& c) { c.position = Position::relative; });
  add("scale norm", [](Config& c) { c.norm_kind = NormKind::scale, c.norm = Norm::pre; });
  add("deep norm", [](Config& c) { c.norm = Norm::deep, c.layers = 3; });
  by_modules("l2 qk norm", [](Config& c) { c.qk_norm = QkNorm::l2; });
  by_modules("rms qk norm, rotary",
             [](Config& c) { c.qk_norm = QkNorm::rms, c.position = Position::rotary; });
  add("multi-query", [](Config& c) { c.kv_heads = 1; });
  add("grouped queries, rotary",
      [](Config& c) { c.heads = 4, c.kv_heads = 2, c.position = Position::rotary; });
  add("grouped queries, wide heads",
      [](Config& c) { c.heads = 4, c.kv_heads = 2, c.d_k = 16, c.d_v = 18; });
  add("swiglu", [](Config& c) { c.activation = Activation::swiglu; });
  by_modules("geglu", [](Config& c) { c.activation = Activation::geglu; });
  add("no bias in the feed-forward network", [](Config& c) { c.feed_forward_bias = false; });
  add("today's decoder", [](Config& c) {
    c.norm = Norm::pre, c.norm_kind = NormKind::rms, c.position = Position::rotary;
    c.activation = Activation::swiglu, c.kv_heads = 1, c.bias = c.feed_forward_bias = false;
  });
  add("depth-scaled initialization", [](Config& c) { c.initialization = Initialization::depth; });
  by_modules("µP", [](Config& c) { c.mup_base = 8; });
  add("no bias", [](Config& c) { c.bias = false; });
  by_modules("gelu", [](Config& c) { c.activation = Activation::gelu; });
  by_modules("silu", [](Config& c) { c.activation = Activation::silu; });
  add("two matrices", [](Config& c) { c.embedding_sharing = EmbeddingSharing::decoder; });
  add("three matrices", [](Config& c) { c.embedding_sharing = EmbeddingSharing::none; });
}

// Table 1's layer types in both stacks, and stacks that differ.
inline void add_mixers(std::vector<ModelVariant>& list) {
  const auto add = [&](const char* name, auto change, bool packed = true) {
    TransformerConfig config = small_model();
    change(config);
    const bool mixes = config.decoder_mixer.kind != Mixer::none;
    list.push_back({std::string("mixer, ") + name, config, mixes, packed});
  };
  const auto by_modules = [&](const char* name, auto change) { add(name, change, kModules); };
  const auto both = [&](const char* name, const MixerConfig& mixer, bool packed = true) {
    const auto change = [&](TransformerConfig& c) {
      static_cast<MixerConfig&>(c.encoder_mixer) = mixer;
      c.decoder_mixer = mixer;
    };
    add(name, change, packed);
  };
  using Config = TransformerConfig;
  const MixerConfig window{.kind = Mixer::restricted_attention, .window = 2};
  both("restricted attention", window);
  both("wide window", {.kind = Mixer::restricted_attention, .window = 50});
  add("restricted attention of several windows", [&](Config& c) {
    c.decoder_mixer = window;
    c.encoder_mixer.kind = Mixer::restricted_attention;
    c.encoder_mixer.window = 3;
  });
  add("restricted rotary attention",
      [&](Config& c) { c.decoder_mixer = window, c.position = Position::rotary; });
  add("restricted attention, alibi",
      [&](Config& c) { c.decoder_mixer = window, c.position = Position::alibi; });
  add("restricted attention, relative positions",
      [&](Config& c) { c.decoder_mixer = window, c.position = Position::relative; });
  add("alibi, multi-query, wide heads", [](Config& c) {
    c.position = Position::alibi, c.heads = 4, c.kv_heads = 1, c.d_k = 16, c.d_v = 18;
  });
  both("convolution", {.kind = Mixer::convolution}, kModules);
  both("gated convolution", {.kind = Mixer::convolution, .gated = true}, kModules);
  both("dilated convolution", {.kind = Mixer::convolution, .dilation = 2}, kModules);
  by_modules("even kernel in the decoder",
             [](Config& c) { c.decoder_mixer = {.kind = Mixer::convolution, .kernel = 2}; });
  both("lstm", {.kind = Mixer::recurrence}, kModules);
  both("gru", {.kind = Mixer::recurrence, .cell = RecurrentCell::gru}, kModules);
  add("unidirectional encoder", [](Config& c) {
    c.encoder_mixer.kind = Mixer::recurrence;
    c.encoder_mixer.bidirectional = false;
  });
  add("recurrent encoder, t5 bias",
      [](Config& c) { c.encoder_mixer.kind = Mixer::recurrence, c.position = Position::t5_bias; });
  add(
      "recurrent decoder, t5 bias",
      [](Config& c) { c.decoder_mixer.kind = Mixer::recurrence, c.position = Position::t5_bias; },
      kModules);
  both("none", {.kind = Mixer::none}, kModules);
  add("none in the encoder", [](Config& c) { c.encoder_mixer.kind = Mixer::none; });
  by_modules("pre-norm convolution", [](Config& c) {
    c.norm = Norm::pre;
    c.encoder_mixer.kind = Mixer::convolution;
    c.decoder_mixer.kind = Mixer::recurrence;
  });
}

inline void add_recurrent(std::vector<ModelVariant>& list) {
  using Config = RecurrentConfig;
  const auto add = [&](const char* name, auto change) {
    Config config{.d_model = 12, .hidden = 10, .d_attention = 14};
    change(config);
    list.push_back({std::string("recurrent, ") + name, config});
  };
  add("lstm", [](Config&) {});
  add("gru", [](Config& c) { c.cell = RecurrentCell::gru; });
  add("dot", [](Config& c) { c.attention = RecurrentAttention::dot; });
  add("deep", [](Config& c) { c.encoder_layers = 2, c.decoder_layers = 3; });
  add("one layer", [](Config& c) { c.decoder_layers = 1; });
  add("gnmt", [](Config& c) {
    c.encoder_layers = 4, c.decoder_layers = 4, c.residual = true;
    c.encoder_directions = RecurrentDirections::bottom;
  });
  add("all bidirectional with residuals",
      [](Config& c) { c.encoder_layers = 3, c.cell = RecurrentCell::gru, c.residual = true; });
  add("forward encoder", [](Config& c) { c.encoder_directions = RecurrentDirections::forward; });
  add("gnmt with the context fed", [](Config& c) { c.input_feeding = true; });
  add("luong", [](Config& c) { c.decoder = RecurrentDecoder::luong; });
  add("luong with input feeding", [](Config& c) {
    c.decoder = RecurrentDecoder::luong, c.input_feeding = true;
    c.attention = RecurrentAttention::dot, c.encoder_directions = RecurrentDirections::forward;
  });
  add("luong, deep gru with input feeding", [](Config& c) {
    c.decoder = RecurrentDecoder::luong, c.input_feeding = true, c.residual = true;
    c.cell = RecurrentCell::gru, c.decoder_layers = 3;
  });
  add("two matrices", [](Config& c) { c.embedding_sharing = EmbeddingSharing::decoder; });
  add("three matrices", [](Config& c) { c.embedding_sharing = EmbeddingSharing::none; });
}

inline void add_convolutional(std::vector<ModelVariant>& list) {
  using Config = ConvolutionalConfig;
  const auto add = [&](const char* name, auto change) {
    Config config{.d_model = 12,
                  .encoder = {{.layers = 2, .width = 10, .kernel = 3}},
                  .decoder = {{.layers = 2, .width = 14, .kernel = 3}},
                  .max_positions = 32};
    change(config);
    list.push_back({std::string("convolutional, ") + name, config});
  };
  add("equal widths", [](Config&) {});
  add("stacks of several widths and kernels", [](Config& c) {
    c.encoder = {{2, 10, 3}, {1, 16, 5}, {1, 8, 1}};
    c.decoder = {{1, 10, 4}, {2, 6, 2}, {1, 12, 1}};
  });
  add("two matrices", [](Config& c) { c.embedding_sharing = EmbeddingSharing::decoder; });
  add("three matrices", [](Config& c) { c.embedding_sharing = EmbeddingSharing::none; });
}

inline void add_bytenets(std::vector<ModelVariant>& list) {
  using Config = ByteNetConfig;
  const auto add = [&](const char* name, auto change) {
    Config config{.d_model = 12, .hidden = 6, .repeats = 2, .dilations = {1, 2}};
    change(config);
    list.push_back({std::string("bytenet, ") + name, config});
  };
  add("usual", [](Config&) {});
  add("wide kernel, not unfolded", [](Config& c) { c.kernel = 5, c.length_factor = 1.0; });
  add("three matrices", [](Config& c) { c.embedding_sharing = EmbeddingSharing::none; });
}

inline std::vector<ModelVariant> variants() {
  std::vector<ModelVariant> list;
  add_transformers(list);
  add_mixers(list);
  add_recurrent(list);
  add_convolutional(list);
  add_bytenets(list);
  return list;
}

}  // namespace attn::testing
