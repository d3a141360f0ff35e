// Diverse beam search over hand-made distributions.
#include <set>

#include "tests/eval/search_models.h"

using namespace attn;
using attn::testing::RandomModel;
using attn::testing::Tokens;

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

TEST_CASE("diverse search does not depend on the batch") {
  const RandomModel both({1, 2, 3});
  const auto together = testing::search(both, {3, 5, 2}, diverse(6, 2, 0.7));
  for (size_t s = 0; s < 3; ++s) {
    const RandomModel one({s + 1});
    const auto alone = testing::search(one, {std::vector<int64_t>{3, 5, 2}[s]}, diverse(6, 2, 0.7));
    REQUIRE(alone[0].size() == together[s].size());
    for (size_t i = 0; i < alone[0].size(); ++i) {
      CHECK(alone[0][i].tokens == together[s][i].tokens);
    }
  }
}
