// Minimum-Bayes-risk decoding over an n-best list or samples (Kumar and Byrne, 2004; Eikema and
// Aziz, 2020).
#pragma once

#include <string>
#include <vector>

#include "eval/search/config.h"

namespace attn {

/// One translation of a sentence.
struct Translation {
  std::string text;
  double score = 0.0;  ///< length-penalized log-probability, or with search.mbr expected utility
  double log_prob = 0.0;
  bool finished = false;  ///< false: truncated at the length limit
};

/// Replaces each score by the translation's expected utility, the mean utility with every
/// hypothesis of the list as the reference (0 to 100), and sorts by it; ties keep their order. Of
/// equal texts, which count as often as they occur, the later ones move to the end, as empty
/// translations with score -inf. Missing translations (score -inf) stay there and do not count.
void rank_by_expected_utility(std::vector<Translation>& hypotheses, RiskUtility utility);

}  // namespace attn
