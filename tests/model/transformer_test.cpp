#include "model/transformer/transformer.h"
#include "base/error.h"
#include "tests/model/seq2seq_properties.h"

using namespace attn;
using testing::max_difference;
using testing::sequences;

namespace {

const VocabularySizes kVocabulary{23, 23, 0, {7, 8}};

TransformerConfig small() {
  TransformerConfig config = testing::small_model();
  config.d_k = 6;
  config.d_v = 10;
  config.max_positions = 64;
  return config;
}

Transformer make(const TransformerConfig& config, const VocabularySizes& vocabulary = kVocabulary) {
  torch::manual_seed(1);
  Transformer model(config, vocabulary);
  model->eval();
  return model;
}

}  // namespace

TEST_CASE("the order of words matters unless there are no positions") {
  const auto encoded = [](TransformerConfig config, std::vector<int64_t> sentence) {
    return make(config)->encode(sequences({sentence})).rows_MD.sum(0);
  };
  TransformerConfig config = small();
  CHECK(max_difference(encoded(config, {4, 5, 6}), encoded(config, {6, 5, 4})) > 1e-3);
  config.position = Position::none;
  CHECK(max_difference(encoded(config, {4, 5, 6}), encoded(config, {6, 5, 4})) < 1e-5);
}

TEST_CASE("one matrix for both vocabularies requires that they are of one size") {
  TransformerConfig config = small();
  CHECK_THROWS_AS(make(config, {23, 31}), ConfigError);
  config.embedding_sharing = EmbeddingSharing::decoder;
  CHECK(make(config, {23, 31})->embeddings.source.size(0) == 23);
}

TEST_CASE("one shared matrix receives the gradients of all its three uses") {
  Transformer model = make(small());
  model->train();
  const torch::Tensor x = model->forward(sequences({{4, 5}}), sequences({{1, 9}}));
  const torch::Tensor& shared = model->embeddings.shared;
  const auto norms = [&](const torch::Tensor& sum) {
    return torch::autograd::grad({sum}, {shared}, {}, true).front().norm(2, 1);
  };
  const torch::Tensor embedded = norms(x.select(1, 0).sum());
  for (const int64_t token : {4, 5, 1, 9}) CHECK(embedded[token].item<float>() > 0);
  CHECK(embedded[22].item<float>() == 0.0f);
  CHECK(norms(model->project(x.detach()).select(1, 22).sum())[22].item<float>() > 0);
}

TEST_CASE("initial weights: embeddings start at unit variance once scaled, norms at one") {
  TransformerConfig config = small();
  config.d_model = 256;
  Transformer model = make(config, {400, 400});
  const double deviation = model->embeddings.shared.std().item<double>() * 16;
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

TEST_CASE("learned positions are limited by their table, sinusoids are not") {
  TransformerConfig config = small();
  std::vector<int64_t> longer(70, 4);
  CHECK_NOTHROW(make(config)->encode(sequences({longer})));
  config.position = Position::learned;
  CHECK_THROWS_WITH(make(config)->encode(sequences({longer})), testing::contains("max_positions"));
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
TEST_CASE("the next word reaches the decoder without cross-attention") {
  torch::manual_seed(2);
  TransformerConfig config = testing::small_model();
  config.deterministic_attention = true;
  Transformer model(config, VocabularySizes{23, 23, 0, {8, 9}});
  model->eval();
  const torch::NoGradGuard no_grad;
  for (const auto& layer : *model->decoder->layers) {
    for (auto& parameter : layer->as<DecoderLayer>()->cross_attention->output->parameters()) {
      parameter.zero_();
    }
  }
  Memory memory{torch::randn({5, config.d_model}), Segments(std::vector<int64_t>{2, 3})};
  const std::vector<int64_t> tokens = {1, 7, 8, 1, 9}, lengths = {3, 2};
  const auto decode = [&] {
    return model->decode(token_sequences(tokens, lengths), memory).clone();
  };
  const torch::Tensor before = decode();
  memory.rows_MD[1] += 1.0;  // the second word of the first sentence
  const torch::Tensor after = decode();
  CHECK(max_difference(before.narrow(0, 0, 2), after.narrow(0, 0, 2)) == 0.0);
  CHECK(max_difference(before[2], after[2]) > 1e-3);
  CHECK(max_difference(before.narrow(0, 3, 2), after.narrow(0, 3, 2)) == 0.0);
}
