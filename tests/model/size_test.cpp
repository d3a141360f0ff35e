#include "model/size.h"

#include <cmath>

#include "base/json_config.h"
#include "tests/support/catch.h"
#include "tests/support/golden_json.h"
#include "tests/support/table3.h"

using namespace attn;
using attn::testing::contains;

namespace {

ModelConfig config_of(const Json& options) {
  ModelConfig config;
  read_config(config, options);
  config.validate();
  return config;
}

}  // namespace

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
  REQUIRE(cases.size() == 28);
  for (const Json& one : cases) {
    INFO(one["model"].dump());
    const auto number = [&](const char* key) { return one[key].get<int64_t>(); };
    const ModelConfig config = config_of(one["model"]);
    const VocabularySizes sizes{number("vocabulary"), number("vocabulary")};
    const int64_t forward = number("forward"), masked = one.value("masked", int64_t{0});
    CHECK(forward_flops(config, sizes, {number("source"), number("target")}) ==
          Approx(forward - masked).epsilon(1e-12));
    CHECK(one.value("training", 3 * forward) == 3 * forward);
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
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {R"("d_model": 0)", "d_model: 0"},
      {R"("heads": -1)", "heads: -1"},
      {R"("d_model": 511, "d_k": 64, "d_v": 64)", "must be even"},
      {R"("position": "rotary", "d_k": 63)", "d_k: 63: must be even with rotary"},
      {R"("kv_heads": 3)", "kv_heads: 3: must divide model.heads"},
      {R"("kv_heads": 16)", "kv_heads: 16"},
      {R"("kv_heads": 0)", "kv_heads: 0"},
      {R"("norm": "deep", "norm_kind": "scale")", "norm_kind: scale: has no DeepNorm"},
      {R"("norm": "deep", "initialization": "depth")", "initialization: depth: must be xavier"},
      {R"("norm": "deep", "mup_base": 64)", "mup_base: 64: must be 0"},
      {R"("mup_base": 300)", "mup_base: 300: no such base model"},
      {R"("mup_base": 64, "d_ff": 2047)", "mup_base: 64: no such base model"},
      {R"("qk_norm_length": 1)", "qk_norm_length: 1"},
      {R"("heads": 2048, "d_k": 1024, "d_v": 1)",
       "d_k: 1024: times model.heads must be at most 2^20"},
      {R"("heads": 2048, "d_k": 1, "d_v": 1024)",
       "d_v: 1024: times model.heads must be at most 2^20"},
      {R"("norm": "deep", "decoder_mixer": {"kind": "none"})", "norm: deep: requires attention"},
      {R"("initialization": "depth", "encoder_mixer": {"kind": "recurrence"})",
       "initialization: depth: requires attention"},
      {R"("encoder_mixer": {"kind": "restricted_attention", "window": 0})",
       "encoder_mixer.window: 0: must be positive"},
      {R"("decoder_mixer": {"kind": "restricted_attention", "window": -3})",
       "decoder_mixer.window: -3: must be positive"},
      {R"("encoder_mixer": {"kind": "convolution", "kernel": 4})",
       "encoder_mixer.kernel: 4: must be odd"},
      {R"("decoder_mixer": {"kind": "convolution", "kernel": 0})",
       "decoder_mixer.kernel: 0: must be from 1 to 1000"},
      {R"("layers": 1, "encoder_mixer": {"kind": "convolution", "dilation": 2})",
       "encoder_mixer.dilation: 2: has no effect"},
      {R"("layers": 9, "encoder_mixer": {"kind": "convolution", "dilation": 10})",
       "encoder_mixer.dilation: 10: the positions of the last layer"},
      {R"("encoder_mixer": {"kind": "recurrence"}, "d_model": 15, "heads": 1, "position": "none")",
       "d_model: 15: must be even with a bidirectional encoder"},
      {R"("position": "rotary", "encoder_mixer": {"kind": "none"},
          "decoder_mixer": {"kind": "convolution"})",
       "position: rotary: requires self-attention"},
      {R"("architecture": "convolutional", "encoder": [{"kernel": 4}])",
       "encoder[0].kernel: 4: must be odd in the encoder"},
      {R"("architecture": "convolutional", "decoder": [])",
       "decoder: 0: must have 1 to 100 stacks"},
      {R"("architecture": "convolutional", "encoder": [{"width": 0}])", "encoder[0].width: 0"},
      {R"("architecture": "bytenet", "kernel": 2)", "kernel: 2: must be odd"},
      {R"("architecture": "bytenet", "dilations": [1, 0])", "dilations[1]: 0"},
      {R"("architecture": "bytenet", "length_factor": 0.5)", "length_factor: 0.5"},
      {R"("architecture": "recurrent", "residual": true)",
       "residual: true: begins with the third layer"},
  };
  const auto read = [](const std::string& text) {
    return config_of(parse_json("{" + text + "}", "test"));
  };
  for (const auto& [text, message] : mistakes) CHECK_THROWS_WITH(read(text), contains(message));
  CHECK_NOTHROW(read(R"("decoder_mixer": {"kind": "convolution", "kernel": 4})"));
  CHECK_NOTHROW(read(R"("architecture": "convolutional", "decoder": [{"kernel": 4}])"));
  for (const char* position : {"rotary", "alibi", "t5_bias", "relative"}) {
    const std::string text = R"("position": ")" + std::string(position) + '"';
    CHECK_NOTHROW(read(text));
    CHECK_THROWS_WITH(read(text + R"(, "word_positions": true)"),
                      contains("word_positions: true: requires"));
  }
}
