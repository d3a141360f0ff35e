// Beam search on distributions whose best outputs are known or found by exhaustive search.
#include "eval/search/beam_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/json_config.h"
#include "tests/eval/search_models.h"
#include "tests/support/catch.h"

namespace attn {
namespace {

using namespace testing;

constexpr std::pair<LengthPenalty, double> kPenalties[] = {
    {LengthPenalty::none, 0.6},  {LengthPenalty::gnmt, 0.0},  {LengthPenalty::gnmt, 0.6},
    {LengthPenalty::gnmt, 2.0},  {LengthPenalty::gnmt, -0.7}, {LengthPenalty::power, 0.5},
    {LengthPenalty::power, 1.0}, {LengthPenalty::power, 3.0}, {LengthPenalty::power, -1.0}};

constexpr float never = -std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("a beam that holds everything finds what trying everything finds") {
  for (const auto& [penalty, alpha] : kPenalties) {
    for (uint64_t seed = 0; seed < 12; ++seed) {
      const RandomModel model({seed});
      // 3 words and eos, at most 5 tokens: at most 81 live prefixes with 324 continuations.
      const SearchConfig config{
          .beam = 200, .alpha = alpha, .penalty = penalty, .extra_length = 2, .nbest = 10};
      auto expected = all_outputs(model, config, 0, 5);
      expected.resize(10);
      check_equal(search(model, {3}, config).at(0), expected, 1e-9);
    }
  }
}

TEST_CASE("stopping early changes no result") {
  int64_t steps = 0, possible = 0;
  for (const auto& [penalty, alpha] : kPenalties) {
    for (const int64_t beam : {2, 3, 5}) {
      for (const int64_t nbest : {int64_t{1}, beam}) {
        for (uint64_t seed = 0; seed < 10; ++seed) {
          RandomModel model({seed});
          model.vocabulary = 7;
          model.eos_bonus = 1.0;
          const SearchConfig config{
              .beam = beam, .alpha = alpha, .penalty = penalty, .extra_length = 8, .nbest = nbest};
          PrefixDecoder decoder(model);
          const std::vector<int64_t> lengths = {4};
          const auto found = beam_search(decoder, lengths, config, bos, eos).at(0);
          auto expected = unhurried_search(model, config, 0, 12);
          expected.resize(std::min<size_t>(nbest, expected.size()));
          check_equal(found, expected, 1e-9);
          steps += static_cast<int64_t>(decoder.rows_per_step.size());
          possible += 12;
        }
      }
    }
  }
  CHECK(steps < possible * 3 / 4);  // and it does stop early
}

TEST_CASE("a beam of 1 is greedy, whatever the penalty") {
  for (const auto& [penalty, alpha] : kPenalties) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      RandomModel model({seed});
      model.vocabulary = 6;
      Tokens greedy;
      double log_prob = 0.0;
      bool finished = false;
      while (!finished && greedy.size() < 20) {
        const auto log_probs = model.log_probs(0, greedy);
        const auto best = std::max_element(log_probs.begin(), log_probs.end());
        log_prob += *best;
        const auto token = static_cast<int32_t>(best - log_probs.begin());
        finished = token == eos;
        if (!finished) greedy.push_back(token);
      }
      const auto found =
          search(model, {5}, {.beam = 1, .alpha = alpha, .penalty = penalty, .extra_length = 15});
      REQUIRE(found.at(0).size() == 1);
      CHECK(found[0][0].tokens == greedy);
      CHECK(found[0][0].finished == finished);
      CHECK(found[0][0].log_prob == Approx(log_prob));
    }
  }
}

TEST_CASE("the result of a sentence does not depend on its batch") {
  std::vector<uint64_t> seeds;
  std::vector<int64_t> lengths;
  for (uint64_t i = 0; i < 17; ++i) {
    seeds.push_back(i * 7919);
    lengths.push_back(static_cast<int64_t>(i * 5 % 11));
  }
  for (const SearchConfig& config :
       {SearchConfig{.extra_length = 3, .nbest = 4},
        SearchConfig{.extra_length = 3, .nbest = 4, .stop = StopRule::first_finished}}) {
    RandomModel model(seeds);
    model.vocabulary = 9;
    const auto together = search(model, lengths, config);
    REQUIRE(together.size() == seeds.size());
    for (size_t i = 0; i < seeds.size(); ++i) {
      RandomModel one({seeds[i]});
      one.vocabulary = 9;
      check_equal(together[i], search(one, {lengths[i]}, config).at(0));
    }
  }
}

TEST_CASE("finished sentences leave the batch") {
  const FunctionModel model([](int64_t sentence, const Tokens& prefix) {
    return static_cast<int64_t>(prefix.size()) >= 2 * sentence
               ? std::vector<float>{0.0F, -50.0F, -60.0F}
               : std::vector<float>{-70.0F, -0.5F, -0.9F};
  });
  PrefixDecoder decoder(model);
  const std::vector<int64_t> lengths = {10, 10, 10};
  const auto found = beam_search(decoder, lengths, {.beam = 2, .alpha = 0.0}, bos, eos);
  for (size_t i = 0; i < 3; ++i) CHECK(found[i][0].tokens == Tokens(2 * i, 1));
  CHECK(decoder.rows_per_step == std::vector<int64_t>{3, 4, 4, 2, 2});
  CHECK(search(model, {}, {}).empty());
}

TEST_CASE("equal scores are ordered by row, then by token") {
  const FunctionModel uniform([](int64_t, const Tokens&) { return std::vector<float>(4, -1.0F); });
  const auto found = search(
      uniform, {1}, {.beam = 3, .penalty = LengthPenalty::none, .extra_length = 1, .nbest = 3});
  REQUIRE(found[0].size() == 3);
  CHECK(found[0][0].tokens == Tokens{});
  CHECK(found[0][1].tokens == Tokens{1});
  // Of the second step's 12 equal options row 0's 4 come first, then row 1's first 2, of which one
  // is its eos.
  CHECK(found[0][2].tokens == Tokens{2});
}

TEST_CASE("first_finished stops at beam finished hypotheses, optimal waits for better ones") {
  // "1 1 1" is worth the wait by its average, but two short ends come first.
  const FunctionModel model([](int64_t, const Tokens& prefix) {
    if (prefix.empty()) return std::vector<float>{-0.9F, -1.0F, -5.0F};
    if (prefix == Tokens{1}) return std::vector<float>{-1.1F, -1.2F, -5.0F};
    if (prefix.size() < 3) return std::vector<float>{-9.0F, -0.01F, -9.0F};
    return std::vector<float>{-0.01F, -9.0F, -9.0F};
  });
  SearchConfig config{.beam = 2, .alpha = 1.0, .penalty = LengthPenalty::power, .extra_length = 9};
  CHECK(search(model, {1}, config)[0][0].tokens == Tokens{1, 1, 1});
  config.stop = StopRule::first_finished;
  PrefixDecoder decoder(model);
  const std::vector<int64_t> lengths = {1};
  CHECK(beam_search(decoder, lengths, config, bos, eos)[0][0].tokens == Tokens{});
  CHECK(decoder.rows_per_step.size() == 2);
}

TEST_CASE("NaN neither hangs nor wins") {
  static constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const FunctionModel broken([](int64_t, const Tokens& prefix) {
    return prefix.size() < 2 ? std::vector<float>{-5.0F, -0.1F, nan} : std::vector<float>(3, nan);
  });
  const auto found = search(broken, {4}, {.beam = 2}).at(0);
  REQUIRE(found.size() == 1);
  CHECK(found[0].finished);
  CHECK(std::isfinite(found[0].score));
  const FunctionModel all([](int64_t, const Tokens&) { return std::vector<float>(3, nan); });
  const auto nothing = search(all, {4, 2}, {.beam = 2});
  for (const auto& sentence : nothing) {
    REQUIRE(sentence.size() == 1);
    CHECK_FALSE(sentence[0].finished);
    CHECK(sentence[0].tokens.empty());
    CHECK(sentence[0].score == 0.0);
  }
}

TEST_CASE("a dead end keeps the tokens up to it") {
  const FunctionModel model([](int64_t, const Tokens& prefix) {
    return prefix.size() < 3 ? std::vector<float>{never, -1.0F} : std::vector<float>{never, never};
  });
  const auto found = search(model, {20}, {}).at(0);
  REQUIRE(found.size() == 1);
  CHECK(found[0].tokens == Tokens{1, 1, 1});
  CHECK_FALSE(found[0].finished);
  // It is not better than a finished hypothesis.
  const FunctionModel better([](int64_t, const Tokens& prefix) {
    return prefix.empty() ? std::vector<float>{-5.0F, -0.1F} : std::vector<float>{never, never};
  });
  const auto finished = search(better, {4}, {.nbest = 2}).at(0);
  REQUIRE(finished.size() == 1);
  CHECK(finished[0].finished);
  CHECK(finished[0].tokens.empty());
}

TEST_CASE("pruning drops what is worse than the best of its step by more than the threshold") {
  // 2 is 1.2 worse than 1 at first, but has the better end.
  const FunctionModel model([](int64_t, const Tokens& prefix) {
    constexpr float kNever = -1e30F;
    if (prefix.empty()) return std::vector<float>{kNever, -0.5F, -1.7F};
    if (prefix == Tokens{2}) return std::vector<float>{-0.1F, kNever, kNever};
    return prefix.size() == 1 ? std::vector<float>{kNever, -0.1F, kNever}
                              : std::vector<float>{-2.0F, kNever, kNever};
  });
  const auto pruned = [&](double threshold) {
    const SearchConfig config{
        .beam = 3, .penalty = LengthPenalty::none, .extra_length = 1, .prune = threshold};
    return search(model, {2}, config).at(0).at(0).tokens;
  };
  CHECK(pruned(0.0) == Tokens{2});
  CHECK(pruned(1.3) == Tokens{2});
  CHECK(pruned(1.1) == Tokens{1, 1});
}

TEST_CASE("a threshold above all differences changes nothing, one near 0 is greedy search") {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    RandomModel model({seed});
    model.vocabulary = 9;
    SearchConfig config{.beam = 6, .extra_length = 8, .nbest = 6};
    const auto whole = search(model, {4}, config).at(0);
    config.prune = 1000;
    check_equal(search(model, {4}, config).at(0), whole);
    config.prune = 1e-9;
    const auto greedy = search(model, {4}, {.beam = 1, .extra_length = 8}).at(0).at(0);
    CHECK(search(model, {4}, config).at(0).at(0).tokens == greedy.tokens);
  }
}

TEST_CASE("BOS is never a continuation, however probable, and takes no place in the beam") {
  const RandomModel words({7});
  const auto with_bos = [&](float log_prob) {
    return FunctionModel([&words, log_prob](int64_t sentence, const Tokens& prefix) {
      std::vector<float> out = words.log_probs(sentence, prefix);
      out.resize(bos + 1, never);
      out[bos] = log_prob;
      return out;
    });
  };
  for (const int64_t beam : {1, 3}) {
    const SearchConfig config{.beam = beam, .nbest = beam};
    check_equal(search(with_bos(-0.01F), {4}, config).at(0),
                search(with_bos(never), {4}, config).at(0));
  }
}

TEST_CASE("length penalties have their published values") {
  const auto penalty = [](LengthPenalty kind, double alpha, int64_t length) {
    return length_penalty({.alpha = alpha, .penalty = kind}, length);
  };
  CHECK(penalty(LengthPenalty::gnmt, 0.6, 1) == Approx(1.0));
  CHECK(penalty(LengthPenalty::gnmt, 1.0, 7) == Approx(2.0));
  CHECK(penalty(LengthPenalty::gnmt, 0.5, 19) == Approx(2.0));
  CHECK(penalty(LengthPenalty::power, 1.0, 7) == Approx(7.0));
  CHECK(penalty(LengthPenalty::power, -0.5, 16) == Approx(0.25));
  CHECK(penalty(LengthPenalty::none, 0.6, 30) == 1.0);
}

TEST_CASE("the search config defaults to the paper and rejects what has no effect together") {
  const SearchConfig paper;
  const Json written = write_config(paper);
  CHECK(written["beam"] == 4);
  CHECK(written["alpha"] == 0.6);
  CHECK(written["penalty"] == "gnmt");
  CHECK(written["extra_length"] == 50);
  CHECK(written["stop"] == "optimal");
  CHECK_NOTHROW(paper.validate());
  constexpr SearchMethod sample = SearchMethod::sample;
  const std::vector<std::pair<SearchConfig, std::string>> invalid = {
      {{.beam = 0}, "beam: 0"},
      {{.beam = 2, .nbest = 3}, "nbest: 3"},
      {{.extra_length = -1}, "extra_length: -1"},
      {{.alpha = std::nan("")}, "alpha: "},
      {{.prune = -1}, "prune: -1"},
      {{.stop = StopRule::first_finished, .prune = 1}, "prune: 1"},
      {{.prune = 1, .method = sample}, "prune: 1"},
      {{.temperature = 0.5}, "temperature: 0.5: requires method=sample"},
      {{.samples = 5}, "requires method"},
      {{.nbest = 2, .method = sample}, "nbest: 2: must be at most samples"},
      {{.method = sample, .temperature = 0}, "temperature: 0"},
      {{.beam = 1, .mbr = RiskUtility::chrf}, "mbr: chrf: requires several hypotheses"},
  };
  for (const auto& [config, message] : invalid) {
    CHECK_THROWS_AS(config.validate(), ConfigError);
    CHECK_THROWS_WITH(config.validate(), contains(message));
  }
}

}  // namespace attn
