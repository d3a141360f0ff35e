#include "model/size.h"

#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/json_config.h"
#include "tests/support/catch.h"
#include "tests/support/golden_json.h"
#include "tests/support/table3.h"

using namespace attn;
using attn::testing::contains;

TEST_CASE("the closed form gives the parameter column of Table 3 for every row") {
  for (const auto& row : testing::table3()) {
    INFO(row.name);
    const double millions =
        static_cast<double>(parameter_count(row.config, testing::kTable3Vocabulary)) / 1e6;
    CHECK(millions == Approx(row.expected_millions).margin(0.06));
    if (row.paper_millions > 0) CHECK(std::abs(millions - row.paper_millions) < 0.6);
  }
}

TEST_CASE("forward FLOPs of a dense layer are two per parameter and position") {
  TransformerConfig config;
  config.layers = 1;
  // One position on each side: scores cost 2 (d_k + d_v) heads for each of the three attentions.
  const double scores = 3 * 2.0 * 8 * (64 + 64);
  const double matrices = 4 * 512 * 512 * 3 + 2 * 2 * 512 * 2048 + 512 * 1000;
  CHECK(forward_flops(config, {1000, 1000}, {1, 1}) == Approx(2 * matrices + scores));
}

TEST_CASE("FLOPs are those that PyTorch's counter sees, less the masked positions") {
  const Json cases = testing::golden_json("model/data/flops.json");
  REQUIRE(cases.size() == 18);
  for (const Json& one : cases) {
    INFO(one.dump());
    const auto number = [&](const char* key) { return one[key].get<int64_t>(); };
    TransformerConfig config;
    config.layers = number("layers");
    config.d_model = number("d_model");
    config.d_ff = number("d_ff");
    config.heads = number("heads");
    config.d_k = number("d_k");
    config.d_v = number("d_v");
    for (const char* option : {"encoder_mixer", "decoder_mixer", "kv_heads", "activation",
                               "position", "norm", "norm_kind", "qk_norm"}) {
      if (one.contains(option)) read_config(config, Json{{option, one[option]}});
    }
    const int64_t vocabulary = number("vocabulary");
    const double ours =
        forward_flops(config, {vocabulary, vocabulary}, {number("source"), number("target")});
    CHECK(ours + static_cast<double>(number("masked")) == Approx(number("forward")).epsilon(1e-12));
    CHECK(number("training") == 3 * number("forward"));
  }
}

TEST_CASE("FLOPs of the other architectures are those that PyTorch's counter sees") {
  const Json cases = testing::golden_json("model/data/flops_architectures.json");
  REQUIRE(cases.size() == 10);
  for (const Json& one : cases) {
    INFO(one["model"].dump());
    const auto number = [&](const char* key) { return one[key].get<int64_t>(); };
    ModelConfig config;
    read_config(config, one["model"]);
    config.validate();
    const VocabularySizes sizes{number("vocabulary"), number("vocabulary")};
    CHECK(forward_flops(config, sizes, {number("source"), number("target")}) ==
          Approx(number("forward")).epsilon(1e-12));
  }
}

TEST_CASE("errors of the model config name the option") {
  TransformerConfig config;
  config.d_model = 0;
  CHECK_THROWS_WITH(config.validate(), testing::contains("d_model: 0"));
  config = {};
  config.heads = -1;
  CHECK_THROWS_WITH(config.validate(), testing::contains("heads: -1"));
  config = {};
  config.d_model = 511;
  CHECK_THROWS_WITH(config.validate(), testing::contains("must be even"));
  config = {};
  config.position = Position::rotary;
  config.d_k = 63;
  CHECK_THROWS_WITH(config.validate(), testing::contains("d_k: 63: must be even with rotary"));
  config.d_k = 64;
  CHECK_NOTHROW(config.validate());
  config.word_positions = true;
  CHECK_THROWS_WITH(config.validate(),
                    testing::contains("word_positions: true: requires a position"));
}

TEST_CASE("two thirds of d_ff give a gated network the parameters and FLOPs of the plain one") {
  TransformerConfig plain, gated;
  plain.d_ff = 1536;
  plain.feed_forward_bias = gated.feed_forward_bias = false;
  gated.d_ff = 1024;
  gated.activation = Activation::swiglu;
  CHECK(parameter_count(plain, {1000, 1000}) == parameter_count(gated, {1000, 1000}));
  CHECK(forward_flops(plain, {1000, 1000}, {20, 25}) ==
        Approx(forward_flops(gated, {1000, 1000}, {20, 25})));
}

TEST_CASE("fewer heads of keys and values save their projections alone") {
  TransformerConfig all, one;
  one.kv_heads = 1;
  // 7 of 8 heads, keys and values, with biases, in 18 attentions.
  CHECK(parameter_count(all, {1000, 1000}) - parameter_count(one, {1000, 1000}) ==
        18 * 2 * 7 * 64 * (512 + 1));
  const double saved = 6 * 2.0 * (2 * 20 + 25) * 2 * 7 * 64 * 512;  // 2 of 3 project the source
  CHECK(forward_flops(all, {1000, 1000}, {20, 25}) - forward_flops(one, {1000, 1000}, {20, 25}) ==
        Approx(saved));
}

TEST_CASE("the number of parameters of the largest valid models does not overflow") {
  constexpr int64_t width = 1 << 20, depth = 100;
  const VocabularySizes sizes{1 << 30, 1 << 30};
  ByteNetConfig bytenet;
  bytenet.d_model = bytenet.hidden = width;
  bytenet.kernel = 999;
  bytenet.dilations = std::vector<int64_t>(depth, 1);
  bytenet.repeats = 1;
  CHECK_NOTHROW(bytenet.validate());
  CHECK(static_cast<double>(parameter_count(bytenet, sizes)) > 2e17);
  bytenet.repeats = depth;
  CHECK_THROWS_WITH(bytenet.validate(), contains("repeats: 100: times the number of dilations"));
  ConvolutionalConfig convolutional;
  convolutional.d_model = width;
  convolutional.encoder =
      convolutional.decoder = {{.layers = depth, .width = width, .kernel = 999}};
  CHECK_NOTHROW(convolutional.validate());
  CHECK(static_cast<double>(parameter_count(convolutional, sizes)) > 4e17);
  convolutional.encoder.push_back({.layers = 1, .width = 1, .kernel = 1});
  CHECK_THROWS_WITH(convolutional.validate(), contains("encoder[1].layers: 1: the stacks"));
}

TEST_CASE("deterministic attention adds one product of the source rows") {
  TransformerConfig without, with;
  with.deterministic_attention = true;
  CHECK(parameter_count(with, {1000, 1000}) - parameter_count(without, {1000, 1000}) == 512 * 512);
  CHECK(forward_flops(with, {1000, 1000}, {20, 25}) -
            forward_flops(without, {1000, 1000}, {20, 25}) ==
        Approx(2.0 * 20 * 512 * 512));
}

TEST_CASE("relative positions cost a product per visible distance, in the decoder half of them") {
  TransformerConfig config;
  const double without = forward_flops(config, {1000, 1000}, {20, 25});
  config.position = Position::relative;
  // Six layers, eight heads, 64 + 64 columns; distances -16 to 16, and -16 to 0 with a causal mask.
  CHECK(forward_flops(config, {1000, 1000}, {20, 25}) - without ==
        Approx(2.0 * 6 * 8 * (64 + 64) * (20 * 33 + 25 * 17)));
}

TEST_CASE("combinations that make no sense are errors that name the option") {
  const auto rejects = [](auto change, const char* message) {
    TransformerConfig config;
    change(config);
    CHECK_THROWS_WITH(config.validate(), testing::contains(message));
  };
  using Config = TransformerConfig;
  rejects([](Config& c) { c.kv_heads = 3; }, "kv_heads: 3: must divide model.heads");
  rejects([](Config& c) { c.kv_heads = 16; }, "kv_heads: 16");
  rejects([](Config& c) { c.norm = Norm::deep, c.norm_kind = NormKind::scale; },
          "norm_kind: scale: has no DeepNorm");
  rejects([](Config& c) { c.norm = Norm::deep, c.initialization = Initialization::depth; },
          "initialization: depth: must be xavier");
  rejects([](Config& c) { c.norm = Norm::deep, c.mup_base = 64; }, "mup_base: 64: must be 0");
  rejects([](Config& c) { c.mup_base = 300; }, "mup_base: 300: no such base model");
  rejects([](Config& c) { c.mup_base = 64, c.d_ff = 2047; }, "mup_base: 64: no such base model");
  rejects([](Config& c) { c.qk_norm_length = 1; }, "qk_norm_length: 1");
  rejects([](Config& c) { c.heads = 1 << 11, c.d_k = 1 << 10; },
          "d_k: 1024: times model.heads must be at most 2^20");
  rejects([](Config& c) { c.heads = 1 << 11, c.d_v = 1 << 10; },
          "d_v: 1024: times model.heads must be at most 2^20");
  rejects([](Config& c) { c.norm = Norm::deep, c.decoder_mixer.kind = Mixer::none; },
          "norm: deep: requires attention");
  rejects(
      [](Config& c) {
        c.initialization = Initialization::depth, c.encoder_mixer.kind = Mixer::recurrence;
      },
      "initialization: depth: requires attention");
  for (const Position position : {Position::alibi, Position::t5_bias, Position::relative}) {
    CAPTURE(enum_name(position));
    TransformerConfig config;
    config.position = position;
    CHECK_NOTHROW(config.validate());
    config.word_positions = true;
    CHECK_THROWS_WITH(config.validate(), testing::contains("word_positions: true: requires"));
  }
}
