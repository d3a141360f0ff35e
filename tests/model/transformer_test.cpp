#include "model/transformer.h"

#include <numeric>

#include "base/error.h"
#include "model/size.h"
#include "tests/support/catch.h"
#include "tests/support/models.h"
#include "tests/support/table3.h"
#include "tests/support/tensors.h"

using namespace attn;
using testing::max_difference;

namespace {

const ModelVocabulary kVocabulary{23, 23, {5, 9, 11, 20}};

ModelConfig small() {
  ModelConfig config = testing::small_model();
  config.d_k = 6;
  config.d_v = 10;
  config.max_positions = 64;
  return config;
}

Transformer make(const ModelConfig& config, const ModelVocabulary& vocabulary = kVocabulary) {
  torch::manual_seed(1);
  Transformer model(config, vocabulary);
  model->eval();
  return model;
}

TokenSequences tokens(std::vector<std::vector<int64_t>> sentences) {
  std::vector<int64_t> all, lengths;
  for (const auto& sentence : sentences) {
    all.insert(all.end(), sentence.begin(), sentence.end());
    lengths.push_back(static_cast<int64_t>(sentence.size()));
  }
  return token_sequences(all, lengths);
}

std::vector<ModelConfig> variants() {
  std::vector<ModelConfig> list(1, small());
  const auto add = [&](auto change) { change(list.emplace_back(small())); };
  add([](ModelConfig& c) { c.norm = Norm::pre; });
  add([](ModelConfig& c) { c.position = Position::learned; });
  add([](ModelConfig& c) { c.position = Position::sinusoidal_halves; });
  add([](ModelConfig& c) { c.position = Position::none; });
  add([](ModelConfig& c) { c.word_positions = true; });
  add([](ModelConfig& c) { c.word_positions = true, c.position = Position::learned; });
  add([](ModelConfig& c) { c.word_positions = true, c.position = Position::sinusoidal_halves; });
  add([](ModelConfig& c) { c.bias = false; });
  add([](ModelConfig& c) { c.activation = Activation::gelu; });
  add([](ModelConfig& c) { c.activation = Activation::silu; });
  add([](ModelConfig& c) { c.embedding_sharing = EmbeddingSharing::decoder; });
  add([](ModelConfig& c) { c.embedding_sharing = EmbeddingSharing::none; });
  add([](ModelConfig& c) { c.attention = AttentionPath::readable; });
  return list;
}

}  // namespace

TEST_CASE("the module has exactly the parameters that the closed form counts, in every variant") {
  for (const ModelConfig& config : variants()) {
    Transformer model = make(config);
    int64_t count = 0;
    for (const auto& parameter : model->parameters()) count += parameter.numel();
    CHECK(count == parameter_count(config, kVocabulary));
  }
}

TEST_CASE("the module has the parameter column of Table 3, every row", "[slow]") {
  for (auto row : testing::table3()) {
    INFO(row.name);
    // The embedding's share is exact; a small vocabulary keeps the test small in memory.
    const ModelVocabulary few{100, 100};
    Transformer model(row.config, few);
    int64_t count = 0;
    for (const auto& parameter : model->parameters()) count += parameter.numel();
    count += (testing::kTable3Vocabulary.target - 100) * row.config.d_model;
    CHECK(static_cast<double>(count) / 1e6 == Approx(row.expected_millions).margin(0.06));
  }
}

TEST_CASE("target positions do not see later ones, and see the whole source") {
  for (const ModelConfig& config : variants()) {
    Transformer model = make(config);
    const TokenSequences source = tokens({{4, 5, 6, 7}}), changed_source = tokens({{4, 5, 6, 8}});
    const torch::Tensor a = model->forward(source, tokens({{1, 9, 10, 11, 12}}));
    const torch::Tensor b = model->forward(source, tokens({{1, 9, 10, 13, 12}}));
    CHECK(max_difference(a.narrow(0, 0, 3), b.narrow(0, 0, 3)) == 0.0);
    CHECK(max_difference(a.narrow(0, 3, 1), b.narrow(0, 3, 1)) > 1e-4);
    const torch::Tensor c = model->forward(changed_source, tokens({{1, 9, 10, 11, 12}}));
    CHECK(max_difference(a.narrow(0, 0, 1), c.narrow(0, 0, 1)) > 1e-5);
  }
}

TEST_CASE("a sentence's result does not depend on the batch around it") {
  for (const ModelConfig& config : variants()) {
    Transformer model = make(config);
    const torch::Tensor alone = model->forward(tokens({{4, 5}}), tokens({{1, 9, 10}}));
    const torch::Tensor batch = model->forward(tokens({{6, 7, 8, 9, 10, 11}, {4, 5}, {3}}),
                                               tokens({{1, 2}, {1, 9, 10}, {1, 5, 6, 7, 8}}));
    CHECK(max_difference(alone, batch.narrow(0, 2, 3)) < 1e-5);
  }
}

TEST_CASE("the order of words matters unless there are no positions") {
  const auto encoded = [](ModelConfig config, std::vector<int64_t> sentence) {
    return make(config)->encode(tokens({sentence})).sum(0);
  };
  ModelConfig config = small();
  CHECK(max_difference(encoded(config, {4, 5, 6}), encoded(config, {6, 5, 4})) > 1e-3);
  config.position = Position::none;
  CHECK(max_difference(encoded(config, {4, 5, 6}), encoded(config, {6, 5, 4})) < 1e-5);
}

TEST_CASE("cached decoding equals full decoding, through reorderings and endings") {
  for (const ModelConfig& config : variants()) {
    Transformer model = make(config);
    const torch::NoGradGuard no_grad;
    const TokenSequences source = tokens({{4, 5, 6}, {7, 8, 9, 10, 11}});
    const torch::Tensor memory = model->encode(source);
    DecoderState state = model->start(memory, source.segments);
    // Rows: histories of tokens, sentence of each.
    std::vector<std::vector<int64_t>> histories = {{1}, {1}};
    std::vector<int64_t> sentences = {0, 1};
    torch::Tensor x =
        model->step(state, std::vector<int64_t>{0, 1}, std::vector<int32_t>{1, 1}, sentences);
    struct Step {
      std::vector<int64_t> parents;
      std::vector<int32_t> tokens;
      std::vector<int64_t> sentences;
    };
    const std::vector<Step> steps = {{{0, 0, 1, 1}, {9, 10, 11, 12}, {0, 0, 1, 1}},
                                     {{1, 0, 3, 3}, {5, 6, 7, 8}, {0, 0, 1, 1}},
                                     {{2, 3}, {4, 4}, {1, 1}},
                                     {{1, 0}, {20, 21}, {1, 1}}};
    for (const Step& step : steps) {
      std::vector<std::vector<int64_t>> grown;
      for (size_t r = 0; r < step.parents.size(); ++r) {
        grown.push_back(histories[static_cast<size_t>(step.parents[r])]);
        grown.back().push_back(step.tokens[r]);
      }
      histories = grown;
      x = model->step(state, step.parents, step.tokens, step.sentences);
      for (size_t r = 0; r < histories.size(); ++r) {
        const bool first = step.sentences[r] == 0;
        const TokenSequences one = first ? tokens({{4, 5, 6}}) : tokens({{7, 8, 9, 10, 11}});
        const torch::Tensor full = model->forward(one, tokens({histories[r]}));
        CHECK(max_difference(full[-1], x[static_cast<int64_t>(r)]) < 1e-5);
      }
    }
  }
}

TEST_CASE("embedding sharing is one matrix where the config says so") {
  ModelConfig config = small();
  CHECK(make(config)->named_parameters().contains("shared_weight"));
  Transformer shared = make(config);
  CHECK(shared->output_weight().is_same(shared->shared_weight));
  config.embedding_sharing = EmbeddingSharing::decoder;
  Transformer two = make(config, {23, 31});
  CHECK(two->output_weight().is_same(two->target_weight));
  CHECK(two->source_weight.size(0) == 23);
  config.embedding_sharing = EmbeddingSharing::none;
  Transformer three = make(config, {23, 31});
  CHECK(three->output_weight().is_same(three->projection_weight));
  config.embedding_sharing = EmbeddingSharing::all;
  CHECK_THROWS_AS(make(config, {23, 31}), ConfigError);
}

TEST_CASE("one shared matrix receives the gradients of all its three uses") {
  Transformer model = make(small());
  model->train();
  const torch::Tensor x = model->forward(tokens({{4, 5}}), tokens({{1, 9}}));
  model->project(x).log_softmax(-1).select(1, 3).sum().backward();
  const torch::Tensor norms = model->shared_weight.grad().norm(2, 1);
  for (const int64_t used : {4, 5, 1, 9}) CHECK(norms[used].item<float>() > 0);
  CHECK(norms[22].item<float>() > 0);  // by the softmax alone
}

TEST_CASE("initial weights: embeddings start at unit variance once scaled, norms at one") {
  ModelConfig config = small();
  config.d_model = 256;
  Transformer model = make(config, {400, 400});
  const double deviation = model->shared_weight.std().item<double>() * 16;
  CHECK(deviation == Approx(1.0).margin(0.02));
  for (const auto& parameter : model->named_parameters()) {
    if (parameter.key().ends_with("norm.weight")) {
      CHECK(parameter.value().min().item<float>() == 1.0f);
    }
    if (parameter.key().ends_with("bias")) {
      CHECK(parameter.value().abs().max().item<float>() == 0.0f);
    }
  }
}

TEST_CASE("sinusoids: the paper's values, interleaved or in halves") {
  const torch::Tensor table = sinusoid_table(50, 8);
  CHECK(table[0][0].item<float>() == 0.0f);
  CHECK(table[0][1].item<float>() == 1.0f);
  CHECK(table[7][2].item<double>() ==
        Approx(std::sin(7 / std::pow(10000.0, 2.0 / 8))).epsilon(1e-6));
  CHECK(table[7][3].item<double>() ==
        Approx(std::cos(7 / std::pow(10000.0, 2.0 / 8))).epsilon(1e-6));
  const torch::Tensor halves = sinusoid_table(50, 8, true);
  CHECK(halves[7][0].item<double>() == Approx(std::sin(7.0)).epsilon(1e-6));
  CHECK(halves[7][3].item<double>() == Approx(std::sin(7.0 / 10000)).epsilon(1e-6));
  CHECK(halves[7][4].item<double>() == Approx(std::cos(7.0)).epsilon(1e-6));
}

TEST_CASE("word positions tell how many words came before, whatever stood between") {
  ModelConfig config = small();
  config.word_positions = true;
  Transformer model = make(config);
  const torch::NoGradGuard no_grad;
  const auto input = [&](std::vector<int32_t> prefix) {
    std::vector<int64_t> words;
    torch::Tensor x;
    const std::vector<int64_t> parents = {0};
    for (size_t i = 0; i < prefix.size(); ++i) {
      const std::span<const int32_t> token(&prefix[i], 1);
      words = model->count_words(words, parents, token);
      x = model->embed_step(token, static_cast<int64_t>(i), words);
    }
    return x;
  };
  // The last token's input: 5 and 9 stand for words, 6 and 7 do not.
  CHECK(max_difference(input({1, 5, 6, 7}), input({1, 6, 9, 7})) == 0.0);
  CHECK(max_difference(input({1, 5, 6, 7}), input({1, 5, 9, 7})) > 1e-2);
  config.word_positions = false;
  model = make(config);
  CHECK(max_difference(input({1, 5, 6, 7}), input({1, 5, 9, 7})) == 0.0);
}

TEST_CASE("learned positions end where their table ends, sinusoids go on") {
  ModelConfig config = small();
  std::vector<int64_t> longer(70, 4);
  CHECK_NOTHROW(make(config)->encode(tokens({longer})));
  config.position = Position::learned;
  CHECK_THROWS_WITH(make(config)->encode(tokens({longer})), testing::contains("max_positions"));
}

TEST_CASE("segments count flags from the first row of each sentence") {
  const Segments segments(std::vector<int64_t>{2, 0, 3, 1});
  const auto ints = [](std::vector<int64_t> values) { return torch::tensor(values); };
  CHECK(torch::equal(segments.running_count(ints({1, 0, 0, 1, 1, 1})), ints({1, 1, 0, 1, 2, 1})));
}

TEST_CASE("segments pad and unpad without loss, with empty sentences too") {
  const Segments segments(std::vector<int64_t>{2, 0, 3});
  const torch::Tensor rows = torch::randn({5, 4});
  const torch::Tensor padded = segments.pad(rows);
  REQUIRE(padded.sizes() == torch::IntArrayRef({3, 3, 4}));
  CHECK(max_difference(segments.unpad(padded), rows) == 0.0);
  CHECK(segments.mask().sum().item<int64_t>() == 5);
  CHECK(padded.masked_select((~segments.mask()).unsqueeze(-1)).abs().sum().item<float>() == 0.0f);
  CHECK_THROWS_WITH(segments.pad(torch::randn({4, 4})), testing::contains("4 rows"));
}
