#include "eval/tasks/minimum_bayes_risk.h"

#include <cmath>
#include <limits>

#include "eval/metrics/chrf.h"
#include "tests/support/catch.h"

using namespace attn;

namespace {

std::vector<Translation> list(const std::vector<std::string>& texts) {
  std::vector<Translation> out;
  for (const std::string& text : texts) {
    out.push_back({.text = text, .score = -1.0 - static_cast<double>(out.size())});
  }
  return out;
}

}  // namespace

TEST_CASE("the choice of minimum risk is the hypothesis closest to all others") {
  for (const RiskUtility utility : {RiskUtility::chrf, RiskUtility::bleu}) {
    auto hypotheses = list({"completely different words here now", "a dog runs in the park today",
                            "the dog runs in the park today", "the dog runs in a park today"});
    rank_by_expected_utility(hypotheses, utility);
    CHECK(hypotheses.front().text == "the dog runs in the park today");
    CHECK(hypotheses.back().text == "completely different words here now");
    for (size_t i = 1; i < 4; ++i) CHECK(hypotheses[i].score <= hypotheses[i - 1].score);
  }
}

TEST_CASE(
    "expected utility is the mean over all hypotheses, repeated ones as often as they occur") {
  auto hypotheses = list({"one two three", "one two four", "one two three"});
  const std::vector<std::string> reference = {"one two four"};
  const double similar = sentence_chrf("one two three", reference).score;
  rank_by_expected_utility(hypotheses, RiskUtility::chrf);
  CHECK(hypotheses[0].text == "one two three");
  CHECK(hypotheses[0].score == Approx((100 + similar + 100) / 3));
  CHECK(hypotheses[0].log_prob == 0.0);
  CHECK(hypotheses[1].text == "one two four");
  REQUIRE(hypotheses.size() == 3);  // n-best lists keep their length
  CHECK(hypotheses[2].text.empty());
  CHECK(hypotheses[2].score == -std::numeric_limits<double>::infinity());
}

TEST_CASE("missing hypotheses do not count") {
  auto hypotheses = list({"one two", "", ""});
  for (size_t i = 1; i < 3; ++i) hypotheses[i].score = -std::numeric_limits<double>::infinity();
  rank_by_expected_utility(hypotheses, RiskUtility::chrf);
  CHECK(hypotheses[0].score == Approx(100));
  CHECK(!std::isfinite(hypotheses[1].score));
}
