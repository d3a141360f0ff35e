#include "eval/tasks/minimum_bayes_risk.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <string>

#include "base/stop_signal.h"
#include "eval/metrics/bleu.h"
#include "eval/metrics/chrf.h"
#include "eval/metrics/text_score.h"

namespace attn {
namespace {

double utility_of(const std::string& hypothesis, const std::string& reference,
                  RiskUtility utility) {
  const std::span references(&reference, 1);
  if (utility == RiskUtility::chrf)
    return sentence_score(hypothesis, references, ChrfOptions{}).score;
  return sentence_score(hypothesis, references, BleuOptions{.effective_order = true}).score;
}

}  // namespace

void rank_by_expected_utility(std::vector<Translation>& hypotheses, RiskUtility utility) {
  throw_if_stopped();
  const size_t size = hypotheses.size();
  std::erase_if(hypotheses, [](const Translation& one) { return !std::isfinite(one.score); });
  std::vector<Translation> different;
  std::vector<double> counts;
  for (Translation& one : hypotheses) {
    const auto known = std::ranges::find(different, one.text, &Translation::text);
    if (known == different.end()) {
      different.push_back(std::move(one));
      counts.push_back(1);
    } else {
      ++counts[static_cast<size_t>(known - different.begin())];
    }
  }
  const auto all = static_cast<double>(hypotheses.size());
  for (Translation& one : different) {
    double sum = 0.0;
    for (size_t r = 0; r < different.size(); ++r) {
      sum += counts[r] * utility_of(one.text, different[r].text, utility);
    }
    one.score = std::round(sum / all * 1e9) / 1e9;  // sums of the same numbers are equal
  }
  std::ranges::stable_sort(different, std::ranges::greater(), &Translation::score);
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  different.resize(size, Translation{.text = "", .score = kNever, .log_prob = kNever});
  hypotheses = std::move(different);
}

}  // namespace attn
