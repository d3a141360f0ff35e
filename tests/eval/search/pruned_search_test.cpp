// Beam search with relative threshold pruning.
#include "base/error.h"
#include "eval/search/beam_search.h"
#include "tests/eval/search_models.h"
#include "tests/support/catch.h"

namespace attn {

using namespace testing;

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
    const auto found = search(model, {4}, config).at(0);
    REQUIRE(found.size() == whole.size());
    for (size_t i = 0; i < found.size(); ++i) {
      CHECK(found[i].tokens == whole[i].tokens);
      CHECK(found[i].log_prob == whole[i].log_prob);
    }
    config.prune = 1e-9;
    const auto greedy = search(model, {4}, {.beam = 1, .extra_length = 8}).at(0).at(0);
    CHECK(search(model, {4}, config).at(0).at(0).tokens == greedy.tokens);
  }
}

TEST_CASE("pruning leaves fewer rows in each step") {
  RandomModel model({5, 6, 7});
  model.vocabulary = 9;
  const std::vector<int64_t> lengths = {4, 5, 6};
  const auto rows_of_third_step = [&](double threshold) {
    PrefixDecoder decoder(model);
    beam_search(decoder, lengths, {.beam = 6, .extra_length = 8, .prune = threshold}, bos, eos);
    return decoder.rows_per_step.at(2);
  };
  CHECK(rows_of_third_step(0) == 18);
  CHECK(rows_of_third_step(0.5) < 18);
  CHECK(rows_of_third_step(1e-9) <= 3);
}

TEST_CASE("an invalid threshold is rejected") {
  CHECK_THROWS_AS((SearchConfig{.prune = -1}.validate()), ConfigError);
  CHECK_THROWS_AS((SearchConfig{.stop = StopRule::first_finished, .prune = 1}.validate()),
                  ConfigError);
  CHECK_THROWS_AS((SearchConfig{.prune = 1, .method = SearchMethod::sample}.validate()),
                  ConfigError);
}

}  // namespace attn
