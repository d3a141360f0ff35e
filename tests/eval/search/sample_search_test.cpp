// Sampling over hand-made distributions.
#include "eval/search/sample_search.h"

#include <cmath>
#include <map>
#include <set>

#include "tests/eval/search_models.h"

using namespace attn;
using attn::testing::eos;
using attn::testing::Model;
using attn::testing::RandomModel;
using attn::testing::Tokens;

namespace {

/// Draws from a model of whole prefixes.
class PrefixSampler : public StepSampler {
 public:
  PrefixSampler(const Model& model, const SearchConfig& config) : model_(model), config_(config) {}
  void step(const StepRows& rows, std::span<const Draw> draws,
            std::vector<DrawnToken>& out) override {
    std::vector<Tokens> prefixes;
    for (size_t i = 0; i < rows.parents.size(); ++i) {
      prefixes.push_back(steps == 0 ? Tokens() : prefixes_.at(rows.parents[i]));
      if (steps > 0) prefixes.back().push_back(rows.tokens[i]);
    }
    prefixes_ = std::move(prefixes);
    CHECK(std::set(prefixes_.begin(), prefixes_.end()).size() * streams >= prefixes_.size());
    CHECK(std::is_sorted(rows.sentences.begin(), rows.sentences.end()));
    ++steps;
    out.clear();
    int64_t row = 0;
    for (const Draw& draw : draws) {
      CHECK(draw.row >= row);
      row = draw.row;
      const auto log_probs = model_.log_probs(rows.sentences[row], prefixes_[row]);
      std::vector<float> probabilities;
      for (const float value : log_probs) probabilities.push_back(std::exp(value));
      const int32_t token =
          SamplingSet(probabilities, config_.top_k, config_.top_p).draw(draw.uniform);
      out.push_back({token, token < 0 ? 0.0F : log_probs[static_cast<size_t>(token)]});
    }
  }
  int64_t steps = 0;
  size_t streams = 1;

 private:
  const Model& model_;
  const SearchConfig& config_;
  std::vector<Tokens> prefixes_;
};

SearchConfig sampling(int64_t samples) {
  SearchConfig config;
  config.method = SearchMethod::sample;
  config.samples = config.nbest = samples;
  config.penalty = LengthPenalty::none;
  config.extra_length = 2;
  return config;
}

std::vector<std::vector<Hypothesis>> sampled(const Model& model,
                                             const std::vector<int64_t>& lengths,
                                             const std::vector<uint64_t>& streams,
                                             const SearchConfig& config) {
  PrefixSampler sampler(model, config);
  sampler.streams = streams.size();
  return sample_search(sampler, lengths, streams, config, testing::bos, eos);
}

}  // namespace

TEST_CASE("samples occur as often as the model's probabilities say") {
  const RandomModel model({7});
  SearchConfig config = sampling(5000);
  config.extra_length = 0;
  const auto found = sampled(model, {2}, {0}, config);
  REQUIRE(found[0].size() == 5000);
  std::map<Tokens, double> share;
  for (const Hypothesis& one : found[0]) {
    share[one.tokens] += 1.0 / 5000;
  }
  for (const Hypothesis& possible : testing::all_outputs(model, config, 0, 2)) {
    const double p = std::exp(possible.log_prob);
    CAPTURE(possible.tokens, p);
    CHECK(std::abs(share[possible.tokens] - p) < 5 * std::sqrt(p / 5000));
  }
}

TEST_CASE("samples carry the model's log-probability, best first, and end at the limit") {
  const RandomModel model({3, 4});
  const auto found = sampled(model, {3, 1}, {10, 11}, sampling(50));
  for (size_t s = 0; s < 2; ++s) {
    REQUIRE(found[s].size() == 50);
    const int64_t limit = s == 0 ? 5 : 3;
    for (size_t i = 0; i < 50; ++i) {
      const Hypothesis& one = found[s][i];
      if (i > 0) CHECK(one.score <= found[s][i - 1].score);
      double expected = 0.0;
      Tokens prefix;
      for (const int32_t token : one.tokens) {
        expected += model.log_probs(static_cast<int64_t>(s), prefix)[token];
        prefix.push_back(token);
      }
      if (one.finished) expected += model.log_probs(static_cast<int64_t>(s), prefix)[eos];
      CHECK(one.log_prob == Approx(expected).margin(1e-5));
      CHECK(static_cast<int64_t>(one.tokens.size()) + one.finished <= limit);
      CHECK((one.finished || static_cast<int64_t>(one.tokens.size()) == limit));
    }
  }
}

TEST_CASE("samples depend on seed and sentence number, not on the batch") {
  const RandomModel both({3, 3});
  const RandomModel alone({3});
  const SearchConfig config = sampling(20);
  const auto tokens = [](const std::vector<Hypothesis>& list) {
    std::vector<Tokens> out;
    for (const Hypothesis& one : list) out.push_back(one.tokens);
    return out;
  };
  const auto together = sampled(both, {4, 4}, {5, 6}, config);
  CHECK(tokens(together[1]) == tokens(sampled(alone, {4}, {6}, config)[0]));
  CHECK(tokens(together[0]) != tokens(together[1]));  // the same sentence, at two places
  SearchConfig other = config;
  other.seed = 2;
  CHECK(tokens(sampled(alone, {4}, {6}, other)[0]) != tokens(together[1]));
  // More samples are the same ones and others.
  const auto more = tokens(sampled(alone, {4}, {6}, sampling(40))[0]);
  for (const Tokens& one : tokens(together[1])) CHECK(std::ranges::count(more, one) > 0);
}

TEST_CASE("top-k and top-p keep the likeliest tokens") {
  const std::vector<float> p = {0.1F, 0.4F, 0.0F, 0.3F, 0.2F};
  const auto tokens = [&](int64_t top_k, double top_p) {
    const SamplingSet set(p, top_k, top_p);
    std::set<int32_t> drawn;
    for (int i = 0; i < 1000; ++i) drawn.insert(set.draw((i + 0.5) / 1000));
    CHECK(set.size() == drawn.size());
    return drawn;
  };
  CHECK(tokens(0, 1.0) == std::set<int32_t>{0, 1, 3, 4});
  CHECK(tokens(2, 1.0) == std::set<int32_t>{1, 3});
  CHECK(tokens(0, 0.65) == std::set<int32_t>{1, 3});
  CHECK(tokens(0, 0.75) == std::set<int32_t>{1, 3, 4});
  CHECK(tokens(3, 0.5) == std::set<int32_t>{1, 3});  // of the three: 0.44 and 0.33
  CHECK(tokens(1, 0.01) == std::set<int32_t>{1});
  CHECK(SamplingSet(std::vector<float>{0, 0}, 0, 1.0).draw(0.5) == -1);
  CHECK(SamplingSet(p, 0, 1.0).draw(0.0999) == 0);
  CHECK(SamplingSet(p, 0, 1.0).draw(0.1001) == 1);
}
