// The smallest difference that the planned seeds of a sweep can detect.
#pragma once

#include <filesystem>
#include <string>

#include "app/sweep/plan.h"

namespace attn {

/// "with 5 seeds of the baseline and 3 of a row, a difference of 2.1 standard deviations between
/// seeds can be detected (power 0.8 at the level 0.05): 0.51 BLEU, 0.08 PPL by the finished runs,
/// whose deviation has 19 degrees of freedom". The part after the colon needs a row with two
/// finished runs in the sweep directory or the collection (empty: none). Before Holm's correction.
/// "" if the seeds allow no test, or for a single row.
std::string planned_power(const SweepPlan& plan, const std::filesystem::path& collection);

}  // namespace attn
