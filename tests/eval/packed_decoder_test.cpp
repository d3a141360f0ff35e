// The packed path of search against the modules that define it.
#include "eval/packed_decoder.h"

#include <numeric>

#include "base/random.h"
#include "eval/batched_search.h"
#include "eval/transformer_decoder.h"
#include "tests/support/catch.h"
#include "tests/support/hardware.h"
#include "tests/support/models.h"

using namespace attn;

namespace {

constexpr int64_t kSource = 23, kTarget = 37;

ModelConfig variant(const std::string& name) {
  ModelConfig config = testing::small_model();
  config.d_model = 24;
  config.d_ff = 50;
  config.heads = 3;
  config.embedding_sharing = EmbeddingSharing::decoder;
  if (name == "pre") config.norm = Norm::pre;
  if (name == "no bias") config.bias = false;
  if (name == "other widths") config.d_k = 5, config.d_v = 11;
  if (name == "learned") config.position = Position::learned, config.max_positions = 40;
  if (name == "word positions") config.word_positions = true;
  if (name == "three matrices") config.embedding_sharing = EmbeddingSharing::none;
  return config;
}

TokenSequences random_source(Random& random) {
  const std::vector<int64_t> lengths = {7, 1, 18};
  std::vector<int64_t> tokens;
  for (int64_t i = 0; i < 26; ++i) tokens.push_back(static_cast<int64_t>(random.below(kSource)));
  return token_sequences(tokens, lengths);
}

// The model's log-probabilities of every class, in a few steps of three rows.
std::vector<double> log_probs_of(StepDecoder& decoder) {
  const std::vector<int64_t> rows = {0, 1, 2};
  std::vector<double> all;
  for (int step = 0; step < 5; ++step) {
    Candidates found;
    decoder.step(rows, std::vector<int32_t>{1, 1, 1}, rows, kTarget, found);
    std::vector<double> of_token(3 * kTarget);
    for (int64_t c = 0; c < 3 * kTarget; ++c) {
      of_token[c / kTarget * kTarget + found.tokens[c]] = found.log_probs[c];
    }
    all.insert(all.end(), of_token.begin(), of_token.end());
  }
  return all;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0.0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

double mean_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum / static_cast<double>(a.size());
}

}  // namespace

TEST_CASE("packed steps are the model's steps, however rows reorder and end") {
  const std::string name = GENERATE("base", "pre", "no bias", "other widths", "learned",
                                    "word positions", "three matrices");
  CAPTURE(name);
  torch::manual_seed(3);
  Transformer model(variant(name), ModelVocabulary{kSource, kTarget, {2, 17, 30}});
  model->eval();
  {  // biases and norms that are not their first values
    const torch::NoGradGuard no_grad;
    for (auto& parameter : model->parameters()) {
      if (parameter.dim() == 1) parameter.add_(torch::randn_like(parameter) * 0.1);
    }
  }
  Random random(5);
  const TokenSequences source = random_source(random);
  const auto packed = PackedDecoder::make(model, WeightType::fp32);
  REQUIRE(packed != nullptr);
  TransformerStepDecoder plain(model, source);
  PackedStepDecoder fast(*packed, source, nullptr);

  std::vector<int64_t> parents = {0, 1, 2}, sentences = {0, 1, 2};
  std::vector<int32_t> tokens = {1, 1, 1};
  for (int step = 0; step < 12; ++step) {
    CAPTURE(step);
    Candidates expected, found;
    plain.step(parents, tokens, sentences, 6, expected);
    fast.step(parents, tokens, sentences, 6, found);
    REQUIRE(found.per_row == expected.per_row);
    CHECK(found.tokens == expected.tokens);
    REQUIRE(found.log_probs.size() == expected.log_probs.size());
    for (size_t i = 0; i < found.log_probs.size(); ++i) {
      CHECK(found.log_probs[i] == Approx(expected.log_probs[i]).margin(2e-5));
    }
    // Up to 16 rows a sentence, from any parents of the same sentence; one sentence ends.
    std::vector<int64_t> next_parents, next_sentences;
    for (int64_t s = 0; s < 3; ++s) {
      if (s == 1 && step >= 6) continue;
      const auto first = std::find(sentences.begin(), sentences.end(), s) - sentences.begin();
      const auto rows = std::count(sentences.begin(), sentences.end(), s);
      for (uint64_t r = 0, wanted = 1 + random.below(16); r < wanted; ++r) {
        next_parents.push_back(first +
                               static_cast<int64_t>(random.below(static_cast<uint64_t>(rows))));
        next_sentences.push_back(s);
      }
    }
    parents = next_parents;
    sentences = next_sentences;
    tokens.clear();
    for (size_t r = 0; r < parents.size(); ++r) {
      tokens.push_back(static_cast<int32_t>(random.below(kTarget)));
    }
  }
}

TEST_CASE("what the packed path cannot do is left to the modules") {
  ModelConfig config = variant("base");
  config.activation = Activation::gelu;
  CHECK(PackedDecoder::make(Transformer(config, ModelVocabulary{kSource, kTarget}),
                            WeightType::fp32) == nullptr);
  config = variant("base");
  config.attention = AttentionPath::readable;
  CHECK(PackedDecoder::make(Transformer(config, ModelVocabulary{kSource, kTarget}),
                            WeightType::fp32) == nullptr);
}

TEST_CASE("search in bf16 is the model in bf16, its encoder and its decoder") {
  if (!testing::machine_has(has_bf16_tiles(), "tiles of bf16")) return;
  const std::string name = GENERATE("base", "pre", "no bias", "other widths", "word positions");
  CAPTURE(name);
  torch::manual_seed(3);
  Transformer model(variant(name), ModelVocabulary{kSource, kTarget, {2, 17, 30}});
  model->eval();
  Random random(5);
  const TokenSequences source = random_source(random);
  const auto exact = PackedDecoder::make(model, WeightType::fp32),
             small = PackedDecoder::make(model, WeightType::bf16);
  PackedStepDecoder first(*exact, source, nullptr), second(*small, source, nullptr);
  const auto of_exact = log_probs_of(first), of_small = log_probs_of(second);
  Bf16Weights weights;
  const Bf16Scope scope(weights);
  TransformerStepDecoder plain(model, source);
  const auto of_plain = log_probs_of(plain);
  // Sums in another order may round an operand the other way now and then. Half of the model in
  // float32 would be half as far off as all of it.
  CHECK(mean_difference(of_small, of_plain) < 0.2 * mean_difference(of_exact, of_plain));
}

TEST_CASE("smaller weights change log-probabilities a little, and only where they are asked for") {
  const WeightType type = GENERATE(WeightType::bf16, WeightType::int8);
  const std::string name(enum_name(type));
  CAPTURE(name);
  SearchConfig search{.weights = type};
  if (type == WeightType::bf16 && !has_bf16_tiles()) {
    CHECK_THROWS_WITH(
        packed_decoder_for(Transformer(variant("base"), ModelVocabulary{kSource, kTarget}), search),
        testing::contains("search.weights: bf16: this processor"));
    return;
  }
  torch::manual_seed(3);
  Transformer model(variant("base"), ModelVocabulary{kSource, kTarget});
  model->eval();
  Random random(5);
  const TokenSequences source = random_source(random);
  const auto exact = PackedDecoder::make(model, WeightType::fp32),
             small = PackedDecoder::make(model, type);
  PackedStepDecoder first(*exact, source, nullptr), second(*small, source, nullptr);
  const double difference = largest_difference(log_probs_of(first), log_probs_of(second));
  CHECK(difference > 1e-5);
  CHECK(difference < 0.05);

  ModelConfig gelu = variant("base");
  gelu.activation = Activation::gelu;
  CHECK_THROWS_WITH(
      packed_decoder_for(Transformer(gelu, ModelVocabulary{kSource, kTarget}), search),
      testing::contains("search.weights: " + name));
  search.decoder = StepPath::libtorch;
  CHECK_THROWS_WITH(search.validate(), testing::contains("packed"));
}
