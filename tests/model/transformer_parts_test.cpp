// Today's parts of the Transformer against an independent implementation in Python (golden values:
// tools/goldens/transformer_parts.py, positions.py), and their own properties.
#include <cmath>
#include <string>
#include <vector>

#include "base/json_config.h"
#include "model/layers/layer.h"
#include "model/transformer/scaling.h"
#include "model/transformer/transformer.h"
#include "tests/support/golden.h"
#include "tests/support/golden_json.h"
#include "tests/support/models.h"

using namespace attn;
using testing::Golden;
using testing::max_difference;
using Config = TransformerConfig;

namespace {

constexpr int64_t kClasses = 11, kBos = 1, kEos = 2;
constexpr const char* kPartsFile = "model/data/transformer_parts.safetensors";

TokenSequences sentence(const torch::Tensor& tokens) {
  std::vector<int64_t> list;
  for (int64_t i = 0; i < tokens.numel(); ++i) list.push_back(tokens[i].item<int64_t>());
  return token_sequences(list, std::vector<int64_t>{tokens.numel()});
}

torch::Tensor with(const torch::Tensor& front, const torch::Tensor& back) {
  return torch::cat({front, back});
}

Transformer made(const Config& config) {
  torch::manual_seed(1);
  return Transformer(config, VocabularySizes{kClasses, kClasses});
}

double spread(const torch::Tensor& weight) {
  return weight.std(/*unbiased=*/false).item<double>();
}

Config wide() {
  Config config = testing::small_model();
  config.layers = 3;
  config.d_model = 64;
  config.d_ff = 128;
  config.d_k = config.d_v = 32;
  return config;
}

}  // namespace

TEST_CASE("each of today's parts gives the probabilities of the implementation in Python") {
  const Golden shared(kPartsFile, "");
  const torch::Tensor source = shared("source"), target = shared("target");
  const torch::Tensor bos = torch::full({1}, kBos), eos = torch::full({1}, kEos);
  const Json cases = parse_json(shared.metadata("cases"), kPartsFile);
  REQUIRE(cases.size() >= 15);
  for (const auto& [name, options] : cases.items()) {
    INFO(name);
    const Golden golden(kPartsFile, name + "/");
    Config config{.layers = 1, .d_model = 8, .d_ff = 12, .heads = 4, .d_k = 4, .d_v = 2};
    read_config(config, options);
    Transformer model = made(config);
    model->eval();
    const torch::NoGradGuard no_grad;
    for (auto& parameter : model->named_parameters()) {
      parameter.value().copy_(golden(parameter.key()));
    }
    const torch::Tensor rows =
        model->forward(sentence(with(source, eos)), sentence(with(bos, target)));
    const torch::Tensor log_p = model->project(rows)
                                    .log_softmax(1)
                                    .gather(1, with(target, eos).to(torch::kInt64).unsqueeze(1))
                                    .squeeze(1);
    CHECK(max_difference(log_p, golden("log_probabilities")) < 1e-4);
  }
}

TEST_CASE("T5's buckets and ALiBi's slopes are those of the transformers library") {
  const Json golden = testing::golden_json("model/data/positions.json");
  const auto reach = golden.at("reach").get<int64_t>();
  for (const bool causal : {false, true}) {
    const auto expected = golden.at(causal ? "decoder" : "encoder").get<std::vector<int64_t>>();
    CHECK(torch::equal(t5_buckets(causal, torch::arange(-reach, reach + 1)),
                       torch::tensor(expected, torch::kInt64)));
  }
  for (const auto& [heads, slopes] : golden.at("slopes").items()) {
    CAPTURE(heads);
    const torch::Tensor bias_HP = alibi_bias(std::stoll(heads), torch::arange(-1, 2));
    const torch::Tensor expected = torch::tensor(slopes.get<std::vector<float>>());
    CHECK(max_difference(-bias_HP.select(1, 0), expected) < 1e-7);
    CHECK(max_difference(-bias_HP.select(1, 2), expected) < 1e-7);
  }
}

TEST_CASE("DeepNorm has the published scales, and scales W^V, W^O and the feed-forward network") {
  Config config = wide();
  const bool gated = GENERATE(false, true);
  if (gated) config.activation = Activation::swiglu;
  Transformer post = made(config);
  config.norm = Norm::deep;
  Transformer deep = made(config);
  CHECK(encoder_scale(config).alpha == Approx(0.81 * std::pow(243.0, 1.0 / 16)));
  CHECK(decoder_scale(config).beta == Approx(std::pow(36.0, -0.25)));
  const auto ratio = [&](auto weight_of) {
    const auto layer = [](Transformer& m) { return m->decoder->layers[1]->as<DecoderLayer>(); };
    return spread(weight_of(*layer(deep))) / spread(weight_of(*layer(post)));
  };
  const double beta = std::pow(36.0, -0.25);
  CHECK(ratio([](auto& l) { return l.cross_attention->value->weight; }) == Approx(beta));
  CHECK(ratio([](auto& l) { return l.mixer.self_attention->output->weight; }) == Approx(beta));
  CHECK(ratio([](auto& l) { return l.mixer.self_attention->query->weight; }) == Approx(1.0));
  CHECK(ratio([](auto& l) { return l.feed_forward->outer->weight; }) == Approx(beta));
  // Two of a gated network's three matrices.
  CHECK(ratio([](auto& l) { return l.feed_forward->inner->weight; }) == Approx(gated ? 1.0 : beta));
  if (gated) CHECK(ratio([](auto& l) { return l.feed_forward->gate->weight; }) == Approx(beta));
}

TEST_CASE("depth-scaled initialization divides the last layers of sub-layers alone") {
  Config config = wide();
  Transformer plain = made(config);
  config.initialization = Initialization::depth;
  Transformer scaled = made(config);
  auto to = scaled->named_parameters();
  for (const auto& parameter : plain->named_parameters()) {
    const std::string& name = parameter.key();
    const bool last = name.ends_with("output.weight") || name.ends_with("outer.weight");
    const double sublayers = name.starts_with("encoder") ? 6.0 : 9.0;
    INFO(name);
    CHECK(max_difference(to[name], parameter.value() / (last ? std::sqrt(sublayers) : 1.0)) < 1e-6);
  }
}

TEST_CASE("µP at the base's width is the same function, and takes the base's rates elsewhere") {
  Config config = wide();
  Transformer plain = made(config);
  config.mup_base = 64;
  Transformer base = made(config);
  {
    const torch::NoGradGuard no_grad;
    auto to = base->named_parameters();
    for (const auto& parameter : plain->named_parameters()) {
      to[parameter.key()].copy_(parameter.value());
    }
  }
  plain->eval();
  base->eval();
  const TokenSequences source = sentence(torch::arange(3, 9)),
                       target = sentence(torch::arange(1, 6));
  CHECK(torch::equal(plain->forward(source, target), base->forward(source, target)));
  CHECK(base->hidden_rate() == 1.0);
  config.mup_base = 16;
  Transformer four_times = made(config);
  CHECK(four_times->width() == 16);
  CHECK(four_times->hidden_rate() == 0.25);
  CHECK(spread(four_times->embeddings.shared) == Approx(0.25).epsilon(0.1));
  const auto* layer = four_times->encoder->layers[0]->as<EncoderLayer>();
  CHECK(spread(layer->feed_forward->outer->weight) == Approx(std::pow(128.0, -0.5)).epsilon(0.1));
  config.position = Position::learned;
  CHECK(spread(made(config)->source_embedding->position->weight) == Approx(0.25).epsilon(0.1));
  config.position = Position::relative;
  config.d_k = 64;
  const auto relative = made(config)->encoder->layers[0]->as<EncoderLayer>()->mixer.self_attention;
  CHECK(spread(relative->relative->key_weight) == Approx(0.25).epsilon(0.1));  // base: d_k 16
}
