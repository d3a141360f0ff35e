// Minimum-Bayes-risk decoding over an n-best list or samples (Kumar and Byrne, 2004; Eikema and
// Aziz, 2020).
#pragma once

#include <vector>

#include "eval/search/config.h"
#include "eval/tasks/translation.h"

namespace attn {

/// Replaces each score by the translation's expected utility, the mean utility with every
/// hypothesis of the list as the reference (0 to 100), and sorts by it; ties keep their order. Of
/// equal texts, which count as often as they occur, the later ones move to the end, as empty
/// translations with score -inf. Missing translations (score -inf) stay there and do not count.
void rank_by_expected_utility(std::vector<Translation>& hypotheses, RiskUtility utility);

}  // namespace attn
