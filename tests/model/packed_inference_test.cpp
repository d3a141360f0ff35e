// Packed inference against the modules. Its steps: tests/model/seq2seq_test.cpp.
#include "model/transformer/packed_inference.h"
#include "base/random.h"
#include "kernels/compute_scope.h"
#include "model/step_inference.h"
#include "model/transformer/fast_options.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/skip.h"
#include "tests/support/tensors.h"

using namespace attn;
using testing::max_difference;

namespace {

constexpr int64_t kSource = 23, kTarget = 37;
const VocabularySizes kSizes{kSource, kTarget, 0, {3, 5, 8}};

TransformerConfig variant(const std::string& name) {
  TransformerConfig config = testing::small_model();
  config.d_model = 24;
  config.d_ff = 50;
  config.heads = 3;
  config.embedding_sharing = EmbeddingSharing::decoder;
  if (name == "pre") config.norm = Norm::pre;
  if (name == "no bias") config.bias = false;
  if (name == "other widths") config.d_k = 5, config.d_v = 11;
  if (name == "word positions") config.word_positions = true;
  if (name == "deterministic attention") config.deterministic_attention = true;
  return config;
}

TokenSequences random_source(Random& random) {
  const std::vector<int64_t> lengths = {7, 1, 18};
  std::vector<int64_t> tokens;
  for (int64_t i = 0; i < 26; ++i) tokens.push_back(static_cast<int64_t>(random.below(kSource)));
  return token_sequences(tokens, lengths);
}

// Log-probabilities of all classes over a few steps of three rows.
torch::Tensor log_probs_of(DecodeSession& session) {
  const std::vector<int64_t> rows = {0, 1, 2};
  const std::vector<int32_t> tokens = {1, 1, 1};
  std::vector<torch::Tensor> all;
  for (int step = 0; step < 5; ++step) {
    all.push_back(session.step({rows, tokens, rows}).to(torch::kFloat64).log_softmax(-1));
  }
  return torch::cat(all);
}

double mean_difference(const torch::Tensor& a, const torch::Tensor& b) {
  return (a - b).abs().mean().item<double>();
}

}  // namespace

TEST_CASE("a fast path names the first option that it does not compute") {
  TransformerConfig config = variant("base");
  const VocabularySizes sizes{kSource, kTarget};
  CHECK(option_as_read(FastPath::packed_search, config).empty());
  CHECK(PackedInference::serves(*Transformer(config, sizes)));
  config.activation = Activation::gelu;
  CHECK(!PackedInference::serves(*Transformer(config, sizes)));
  CHECK(option_as_read(FastPath::packed_search, config) == "activation");
  CHECK(option_as_read(FastPath::attention, config).empty());
}

TEST_CASE("search in bf16 is the model in bf16, its encoder and its decoder") {
  if (!testing::machine_has(has_bf16_tiles(), "tiles of bf16")) return;
  const std::string name = GENERATE("base", "pre", "no bias", "other widths", "word positions",
                                    "deterministic attention");
  CAPTURE(name);
  torch::manual_seed(3);
  Transformer model(variant(name), kSizes);
  model->eval();
  Random random(5);
  const TokenSequences source = random_source(random);
  const PackedInference exact(model.ptr(), WeightType::fp32), small(model.ptr(), WeightType::bf16);
  const auto of_exact = log_probs_of(*exact.start(source)),
             of_small = log_probs_of(*small.start(source));
  PackedWeights weights(Precision::bf16);
  const ComputeScope scope({.precision = Precision::bf16, .packed_weights = &weights});
  const auto of_plain = log_probs_of(*StepInference<TransformerImpl>(model.ptr()).start(source));
  // Sums in another order may round an operand the other way now and then. Half of the model in
  // float32 would be half as far off as all of it.
  CHECK(mean_difference(of_small, of_plain) < 0.2 * mean_difference(of_exact, of_plain));
}

TEST_CASE("smaller weights change log-probabilities a little, and only where they are asked for") {
  const WeightType type = GENERATE(WeightType::bf16, WeightType::int8);
  const std::string name(enum_name(type));
  CAPTURE(name);
  const VocabularySizes sizes = kSizes;
  if (type == WeightType::bf16 && !has_bf16_tiles()) {
    CHECK_THROWS_WITH(Transformer(variant("base"), sizes)->inference(type),
                      testing::contains("search.weights: bf16: this processor"));
    return;
  }
  torch::manual_seed(3);
  Transformer model(variant("base"), kSizes);
  model->eval();
  Random random(5);
  const TokenSequences source = random_source(random);
  const PackedInference exact(model.ptr(), WeightType::fp32), small(model.ptr(), type);
  const double difference =
      max_difference(log_probs_of(*exact.start(source)), log_probs_of(*small.start(source)));
  CHECK(difference > 1e-5);
  CHECK(difference < 0.05);
  if (type == WeightType::int8 && has_bf16_tiles()) {
    const PackedInference bf16(model.ptr(), WeightType::bf16);  // the encoder of both
    CHECK(max_difference(log_probs_of(*bf16.start(source)), log_probs_of(*small.start(source))) >
          1e-5);
  }

  TransformerConfig gelu = variant("base");
  gelu.activation = Activation::gelu;
  CHECK_THROWS_WITH(Transformer(gelu, sizes)->inference(type),
                    testing::contains("search.weights: " + name));
  const ComputeScope modules({.kernels = false});
  CHECK_THROWS_WITH(Transformer(variant("base"), sizes)->inference(type),
                    testing::contains("search.weights: " + name));
}
