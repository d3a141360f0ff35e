// Outputs that reach the length limit of beam search.
#include <limits>

#include "eval/search/beam_search.h"
#include "tests/eval/search_models.h"
#include "tests/support/catch.h"

namespace attn {
namespace {

using namespace testing;

constexpr float impossible = -std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("unfinished output is truncated at the limit and marked") {
  const FunctionModel endless([](int64_t, const Tokens&) {
    return std::vector<float>{impossible, -1.0F, -2.0F};
  });
  const auto found = search(endless, {3, 0, 7}, {.beam = 3, .extra_length = 2, .nbest = 2});
  const std::vector<size_t> limits = {5, 2, 9};
  for (size_t i = 0; i < limits.size(); ++i) {
    REQUIRE(found[i].size() == 2);
    CHECK(found[i][0].tokens == Tokens(limits[i], 1));
    CHECK(found[i][0].log_prob == Approx(-1.0 * static_cast<double>(limits[i])));
    CHECK_FALSE(found[i][0].finished);
    CHECK(found[i][1].log_prob == Approx(-1.0 * static_cast<double>(limits[i]) - 1.0));
  }
}

TEST_CASE("a hypothesis that the limit cuts is better than a finished one of lower score") {
  // The right output needs four tokens and eos; the empty one is finished at the first step.
  const FunctionModel model([](int64_t, const Tokens& prefix) {
    return prefix.size() == 4 ? std::vector<float>{-0.1F, -9.0F} : std::vector<float>{-6.9F, -0.2F};
  });
  const auto cut = search(model, {1}, {.alpha = 0.0, .extra_length = 2, .nbest = 2}).at(0);
  CHECK(cut[0].tokens == Tokens{1, 1, 1});
  CHECK_FALSE(cut[0].finished);
  CHECK(cut[0].log_prob == Approx(-0.6));
  CHECK(cut[1].tokens.empty());
  CHECK(cut[1].finished);
  const auto whole = search(model, {1}, {.alpha = 0.0, .extra_length = 4}).at(0);
  CHECK(whole[0].tokens == Tokens(4, 1));
  CHECK(whole[0].finished);
}

TEST_CASE("a finished hypothesis of higher score is better than all that the limit cuts") {
  const FunctionModel model([](int64_t, const Tokens& prefix) {
    return prefix.size() == 2 ? std::vector<float>{-1.0F, -0.9F, impossible}
                              : std::vector<float>{impossible, -0.8F, -0.9F};
  });
  const auto found = search(model, {4}, {.beam = 4, .extra_length = 0, .nbest = 4}).at(0);
  REQUIRE(!found.empty());
  CHECK(found[0].finished);
  CHECK(found[0].tokens == Tokens{1, 1});
}

TEST_CASE("a hypothesis without any continuation is not better than a finished one") {
  const FunctionModel model([](int64_t, const Tokens& prefix) {
    return prefix.empty() ? std::vector<float>{-5.0F, -0.1F}
                          : std::vector<float>{impossible, impossible};
  });
  const auto found = search(model, {4}, {.nbest = 2}).at(0);
  REQUIRE(found.size() == 1);
  CHECK(found[0].finished);
  CHECK(found[0].tokens.empty());
}

TEST_CASE("an eos may be the last token that the limit allows") {
  const FunctionModel model([](int64_t, const Tokens& prefix) {
    return prefix.size() == 3 ? std::vector<float>{-0.5F, -1.0F}
                              : std::vector<float>{impossible, 0.0F};
  });
  CHECK(search(model, {4}, {.extra_length = 0})[0][0].tokens == Tokens{1, 1, 1});
  CHECK(search(model, {4}, {.extra_length = 0})[0][0].finished);
  CHECK(search(model, {3}, {.extra_length = 0})[0][0].tokens == Tokens{1, 1, 1});
  CHECK_FALSE(search(model, {3}, {.extra_length = 0})[0][0].finished);
}

}  // namespace attn
