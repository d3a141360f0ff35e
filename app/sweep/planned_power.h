// The minimum detectable difference with the planned seeds of a sweep.
#pragma once

#include <filesystem>
#include <string>

#include "app/sweep/plan.h"

namespace attn {

/// "minimum detectable difference: 2.1 standard deviations across seeds (5 seeds of the baseline
/// and 3 of a row, power 0.8, α = 0.05), i.e. 0.51 BLEU, 0.08 PPL at the standard deviation of the
/// finished runs (19 degrees of freedom)". The part from "i.e." on needs a row with two finished
/// runs in the sweep directory or the collection (empty: none). Before Holm's correction. "" if the
/// seeds allow no test, or for a single row.
std::string planned_power(const SweepPlan& plan, const std::filesystem::path& collection);

}  // namespace attn
