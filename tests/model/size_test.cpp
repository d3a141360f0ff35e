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

TEST_CASE("errors of the model config name the option") {
  const auto rejects = [](auto change, const char* message) {
    TransformerConfig config;
    change(config);
    CHECK_THROWS_WITH(config.validate(), testing::contains(message));
  };
  using Config = TransformerConfig;
  rejects([](Config& c) { c.d_model = 0; }, "d_model: 0");
  rejects([](Config& c) { c.heads = -1; }, "heads: -1");
  rejects([](Config& c) { c.d_model = 511, c.d_k = c.d_v = 64; }, "must be even");
  rejects([](Config& c) { c.position = Position::rotary, c.d_k = 63; },
          "d_k: 63: must be even with rotary");
  rejects([](Config& c) { c.kv_heads = 3; }, "kv_heads: 3: must divide model.heads");
  rejects([](Config& c) { c.kv_heads = 16; }, "kv_heads: 16");
  rejects([](Config& c) { c.kv_heads = 0; }, "kv_heads: 0");
  rejects([](Config& c) { c.norm = Norm::deep, c.norm_kind = NormKind::scale; },
          "norm_kind: scale: has no DeepNorm");
  rejects([](Config& c) { c.norm = Norm::deep, c.initialization = Initialization::depth; },
          "initialization: depth: must be xavier");
  rejects([](Config& c) { c.norm = Norm::deep, c.mup_base = 64; }, "mup_base: 64: must be 0");
  rejects([](Config& c) { c.mup_base = 300; }, "mup_base: 300: no such base model");
  rejects([](Config& c) { c.mup_base = 64, c.d_ff = 2047; }, "mup_base: 64: no such base model");
  rejects([](Config& c) { c.qk_norm_length = 1; }, "qk_norm_length: 1");
  rejects([](Config& c) { c.heads = 3; }, "heads: 3: must divide model.d_model, 512, unless");
  rejects([](Config& c) { c.heads = 1 << 11, c.d_k = 1 << 10, c.d_v = 1; },
          "d_k: 1024: times model.heads must be at most 2^20");
  rejects([](Config& c) { c.heads = 1 << 11, c.d_v = 1 << 10, c.d_k = 1; },
          "d_v: 1024: times model.heads must be at most 2^20");
  rejects([](Config& c) { c.norm = Norm::deep, c.decoder_mixer.kind = Mixer::none; },
          "norm: deep: requires attention");
  rejects(
      [](Config& c) {
        c.initialization = Initialization::depth, c.encoder_mixer.kind = Mixer::recurrence;
      },
      "initialization: depth: requires attention");
  for (const Position position :
       {Position::rotary, Position::alibi, Position::t5_bias, Position::relative}) {
    CAPTURE(enum_name(position));
    TransformerConfig config;
    config.position = position;
    CHECK_NOTHROW(config.validate());
    config.word_positions = true;
    CHECK_THROWS_WITH(config.validate(), testing::contains("word_positions: true: requires"));
  }
}
