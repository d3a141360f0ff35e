// Sampling and diverse beam search over hand-made distributions.
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
  void step(StepRows rows, std::span<const Draw> draws, std::vector<DrawnToken>& out) override {
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

namespace {

SearchConfig diverse(int64_t beam, int64_t groups, double diversity) {
  SearchConfig config;
  config.beam = config.nbest = beam;
  config.groups = groups;
  config.diversity = diversity;
  config.extra_length = 3;
  return config;
}

std::vector<uint64_t> seeds(uint64_t count) {
  std::vector<uint64_t> out;
  for (uint64_t i = 0; i < count; ++i) out.push_back(100 + i);
  return out;
}

}  // namespace

TEST_CASE("the first group of diverse search is a beam search of its size") {
  RandomModel model(seeds(20));
  model.vocabulary = 6;
  const std::vector<int64_t> lengths(20, 4);
  const auto found = testing::search(model, lengths, diverse(6, 3, 2.0));
  SearchConfig plain = diverse(2, 1, 0.5);
  plain.nbest = 1;
  const auto expected = testing::search(model, lengths, plain);
  for (size_t s = 0; s < 20; ++s) {
    CHECK(std::ranges::count(found[s], expected[s][0].tokens, &Hypothesis::tokens) == 1);
  }
}

TEST_CASE("groups without a penalty find the same, and n-best lists have no duplicates") {
  const RandomModel model(seeds(10));
  const std::vector<int64_t> lengths(10, 4);
  const auto same = testing::search(model, lengths, diverse(6, 3, 0.0));
  const auto plain = testing::search(model, lengths, diverse(2, 1, 0.5));
  const auto varied = testing::search(model, lengths, diverse(6, 3, 1.0));
  size_t more = 0;
  for (size_t s = 0; s < 10; ++s) {
    REQUIRE(same[s].size() == plain[s].size());
    for (size_t i = 0; i < same[s].size(); ++i) CHECK(same[s][i].tokens == plain[s][i].tokens);
    std::set<Tokens> different;
    for (size_t i = 0; i < varied[s].size(); ++i) {
      different.insert(varied[s][i].tokens);
      if (i > 0) CHECK(varied[s][i].score <= varied[s][i - 1].score);
    }
    CHECK(different.size() == varied[s].size());
    more += varied[s].size() - same[s].size();
  }
  CHECK(more > 0);
}

TEST_CASE("a high penalty makes the groups begin with different tokens") {
  RandomModel model(seeds(10));
  model.vocabulary = 8;
  model.eos_bonus = -3;
  SearchConfig config = diverse(4, 4, 1000.0);
  for (const auto& nbest : testing::search(model, std::vector<int64_t>(10, 4), config)) {
    std::set<int32_t> first;
    for (const Hypothesis& one : nbest) first.insert(one.tokens.empty() ? -1 : one.tokens[0]);
    CHECK(nbest.size() == 4);
    CHECK(first.size() == 4);
  }
}

TEST_CASE("fewer hypotheses than groups are the best of those of the groups") {
  const RandomModel model(seeds(40));
  const std::vector<int64_t> lengths(40, 4);
  SearchConfig config = diverse(8, 4, 2.0);
  config.nbest = 4;  // the best of each group
  const auto all = testing::search(model, lengths, config);
  config.nbest = 1;
  const auto best = testing::search(model, lengths, config);
  config.groups = 1, config.beam = 2, config.diversity = SearchConfig{}.diversity;
  const auto first_group = testing::search(model, lengths, config);
  size_t other_group = 0;
  for (size_t s = 0; s < 40; ++s) {
    REQUIRE(best[s].size() == 1);
    CHECK(best[s][0].tokens == all[s][0].tokens);
    other_group += best[s][0].tokens != first_group[s][0].tokens;
  }
  CHECK(other_group > 0);
}

TEST_CASE("scores of diverse search are the model's, without the penalty") {
  const RandomModel model(seeds(5));
  const SearchConfig config = diverse(4, 2, 3.0);
  const auto found = testing::search(model, std::vector<int64_t>(5, 3), config);
  for (int64_t s = 0; s < 5; ++s) {
    for (const Hypothesis& one : found[static_cast<size_t>(s)]) {
      if (!one.finished) continue;
      const auto all = testing::all_outputs(model, config, s, 6);
      const auto same = std::ranges::find(all, one.tokens, &Hypothesis::tokens);
      REQUIRE(same != all.end());
      CHECK(one.score == Approx(same->score).margin(1e-5));
    }
  }
}
