// Properties that every implementation of model/seq2seq.h must satisfy. New architectures add their
// variants to the list in tests/support/model_variants.h.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "model/seq2seq.h"
#include "model/size.h"
#include "model/step_inference.h"
#include "tests/support/catch.h"
#include "tests/support/model_variants.h"
#include "tests/support/tensors.h"

namespace attn::testing {

inline const VocabularySizes kPropertySizes{23, 23, 0, {5, 9, 11, 20}};

inline std::shared_ptr<Seq2SeqModel> seeded_model(const ModelConfig& config) {
  torch::manual_seed(1);
  auto model = make_model(config, kPropertySizes);
  {  // biases and norms that are not their first values
    const torch::NoGradGuard no_grad;
    for (auto& parameter : model->parameters()) {
      if (parameter.dim() == 1) parameter.add_(torch::randn_like(parameter) * 0.1);
    }
  }
  model->eval();
  return model;
}

inline TokenSequences sequences(const std::vector<std::vector<int64_t>>& sentences,
                                torch::Device device = torch::kCPU) {
  std::vector<int64_t> all, lengths;
  for (const auto& sentence : sentences) {
    all.insert(all.end(), sentence.begin(), sentence.end());
    lengths.push_back(static_cast<int64_t>(sentence.size()));
  }
  return token_sequences(all, lengths, device);
}

inline void check_parameter_count(const ModelVariant& variant,
                                  const VocabularySizes& sizes = kPropertySizes) {
  int64_t count = 0;
  for (const auto& parameter : make_model(variant.config, sizes)->parameters()) {
    count += parameter.numel();
  }
  CHECK(count == parameter_count(variant.config, sizes));
}

inline void check_causality(const ModelVariant& variant) {
  const auto model = seeded_model(variant.config);
  const torch::NoGradGuard no_grad;
  const TokenSequences source = sequences({{4, 5, 6, 7}});
  const auto rows = [&](std::vector<int64_t> target) {
    return model->forward(source, sequences({std::move(target)}));
  };
  const torch::Tensor a = rows({1, 9, 10, 11, 12}), b = rows({1, 9, 10, 13, 12});
  CHECK(max_difference(a.narrow(0, 0, 3), b.narrow(0, 0, 3)) == 0.0);
  CHECK(max_difference(a.narrow(0, 3, 1), b.narrow(0, 3, 1)) > 1e-5);
  CHECK((max_difference(a.narrow(0, 4, 1), b.narrow(0, 4, 1)) > 1e-6) == variant.sees_earlier);
  const torch::Tensor c =
      model->forward(sequences({{4, 5, 6, 8}}), sequences({{1, 9, 10, 11, 12}}));
  CHECK(max_difference(a.narrow(0, 0, 1), c.narrow(0, 0, 1)) > 1e-6);
}

inline void check_batch_independence(const ModelVariant& variant) {
  const auto model = seeded_model(variant.config);
  const torch::NoGradGuard no_grad;
  const torch::Tensor alone = model->forward(sequences({{4, 5}}), sequences({{1, 9, 10}}));
  const torch::Tensor batch = model->forward(sequences({{6, 7, 8, 9, 10, 11}, {4, 5}, {3}}),
                                             sequences({{1, 2}, {1, 9, 10}, {1, 5, 6, 7, 8}}));
  CHECK(max_difference(alone, batch.narrow(0, 2, 3)) < 1e-5);
}

/// A session's logits equal those of teacher forcing, with reordered and finished rows, past the
/// distance at which relative positions are clipped. `by_prefix`: that of prefix_inference.
inline void check_session(const ModelVariant& variant, double tolerance = 2e-5,
                          torch::Device device = torch::kCPU, bool by_prefix = false) {
  const auto model = seeded_model(variant.config);
  model->to(device);
  const torch::NoGradGuard no_grad;
  const std::vector<std::vector<int64_t>> sources = {{4, 5, 6}, {7, 8, 9, 10, 11}};
  const auto inference = by_prefix ? prefix_inference(model) : model->inference();
  const auto session = inference->start(sequences(sources, device));
  struct Step {
    std::vector<int64_t> parents;
    std::vector<int32_t> tokens;
    std::vector<int64_t> sentences;
  };
  std::vector<Step> steps = {{{0, 1}, {1, 1}, {0, 1}},
                             {{0, 0, 1, 1}, {9, 10, 11, 12}, {0, 0, 1, 1}},
                             {{1, 0, 3, 3}, {5, 6, 7, 8}, {0, 0, 1, 1}}};
  steps.emplace_back();  // as many rows as kernels take at a time, and more
  for (int64_t r = 0; r < 34; ++r) {
    steps.back().parents.push_back(r % 2 + r / 17 * 2);
    steps.back().tokens.push_back(static_cast<int32_t>(r % 23));
    steps.back().sentences.push_back(r / 17);
  }
  steps.push_back({{30, 19}, {4, 4}, {1, 1}});
  while (steps.size() < 20) steps.push_back({{1, 0}, {20, 21}, {1, 1}});
  std::vector<std::vector<int64_t>> histories(2), forced_sources, forced_targets;
  std::vector<torch::Tensor> stepped;
  for (const Step& step : steps) {
    std::vector<std::vector<int64_t>> grown;
    for (size_t r = 0; r < step.parents.size(); ++r) {
      grown.push_back(histories[static_cast<size_t>(step.parents[r])]);
      grown.back().push_back(step.tokens[r]);
    }
    histories = grown;
    stepped.push_back(session->step({step.parents, step.tokens, step.sentences}).clone());
    for (size_t r = 0; r < histories.size(); ++r) {
      forced_sources.push_back(sources[static_cast<size_t>(step.sentences[r])]);
      forced_targets.push_back(histories[r]);
    }
  }
  // Every history of every step, in one batch.
  const TokenSequences targets = sequences(forced_targets, device);
  const torch::Tensor rows = model->forward(sequences(forced_sources, device), targets);
  std::vector<int64_t> last(targets.segments.offsets().begin() + 1,
                            targets.segments.offsets().end());
  for (int64_t& row : last) --row;
  const torch::Tensor expected =
      model->project(rows).index_select(0, torch::tensor(last).to(device));
  CHECK(max_difference(torch::cat(stepped), expected) < tolerance);
}

/// Source features add the sum of their embeddings to every row: two features of one row are worth
/// one feature with the sum of both embeddings, and rows without features stay as they are.
inline void check_features(const ModelVariant& variant) {
  VocabularySizes sizes = kPropertySizes;
  sizes.source_features = 4;
  torch::manual_seed(1);
  const auto model = make_model(variant.config, sizes);
  model->eval();
  check_parameter_count(variant, sizes);
  const torch::NoGradGuard no_grad;
  torch::Tensor table = model->named_parameters()["feature_weight"];
  table[3] = table[0] + table[2];
  const auto encoded = [&](const std::vector<int64_t>& ids, const std::vector<int64_t>& ends) {
    TokenSequences source = sequences({{4, 5, 6}});
    source.features = row_features(ids, ends);
    return model->encode(source).rows_MD;
  };
  const torch::Tensor both = encoded({0, 2, 1}, {2, 2, 3}), sum = encoded({3, 1}, {1, 1, 2});
  CHECK(max_difference(both, sum) < 1e-5);
  CHECK(max_difference(both, encoded({0, 1}, {1, 1, 2})) > 1e-4);
  CHECK_THROWS(model->encode(sequences({{4, 5, 6}})));
  table.zero_();
  const torch::Tensor without = encoded({}, {0, 0, 0});
  CHECK(max_difference(encoded({0, 2, 1}, {2, 2, 3}), without) == 0.0);
}

/// A replica has parameters of the same names and shapes, and the same output given the same
/// values.
inline void check_replica(const ModelVariant& variant) {
  const auto model = seeded_model(variant.config);
  const auto replica = model->replica();
  replica->eval();
  const torch::NoGradGuard no_grad;
  const auto from = model->named_parameters();
  auto to = replica->named_parameters();
  REQUIRE(from.size() == to.size());
  for (const auto& parameter : from) to[parameter.key()].copy_(parameter.value());
  const TokenSequences source = sequences({{4, 5, 6}}), target = sequences({{1, 9, 10}});
  CHECK(torch::equal(model->forward(source, target), replica->forward(source, target)));
}

/// Every parameter gets a gradient that is not all zeros.
inline void check_all_gradients(const ModelVariant& variant) {
  const auto model = seeded_model(variant.config);
  model->train();
  const torch::Tensor rows =
      model->forward(sequences({{4, 5, 6}, {7, 8}}), sequences({{1, 9, 10}, {1, 5}}));
  model->project(rows).log_softmax(-1).select(1, 3).sum().backward();
  for (const auto& parameter : model->named_parameters()) {
    CAPTURE(parameter.key());
    REQUIRE(parameter.value().grad().defined());
    CHECK(parameter.value().grad().abs().max().item<double>() > 0.0);
  }
}

/// Logits and gradients on `device`, a GPU, equal the CPU's. LibTorch's recurrences use TF32.
inline void check_device(ModelVariant variant, torch::Device device) {
  std::visit([](auto& config) { config.dropout = 0.0; }, variant.config.options);
  const auto results = [&](torch::Device own) {
    const auto model = seeded_model(variant.config);
    model->to(own);
    model->train();
    const torch::Tensor logits = model->project(
        model->forward(sequences({{4, 5, 6, 3, 9}, {7, 8}}, own),
                       sequences({{1, 9, 10}, {1, 5, 6, 7, 20, 21, 22, 8, 9}}, own)));
    logits.log_softmax(-1).select(1, 3).sum().backward();
    std::vector<std::pair<std::string, torch::Tensor>> list{{"logits", logits.detach().cpu()}};
    for (const auto& parameter : model->named_parameters()) {
      list.emplace_back("gradient of " + parameter.key(), parameter.value().grad().cpu());
    }
    return list;
  };
  const auto expected = results(torch::kCPU), got = results(device);
  for (size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(expected[i].first);
    const double scale = 0.1 + expected[i].second.abs().max().item<double>();
    CHECK(max_difference(expected[i].second, got[i].second) < 5e-3 * scale);
  }
}

}  // namespace attn::testing
