// The smallest difference that the planned seeds of a sweep can detect.
#pragma once

#include <string>

#include "app/sweep/plan.h"

namespace attn {

/// "with 5 seeds of the base and 3 of a row, a difference of 2.4 standard deviations between seeds
/// can be detected (power 0.8 at the level 0.05): 0.51 BLEU, 0.08 PPL by the 5 finished seeds of
/// the base." The part after the colon needs two finished runs of the base in the sweep directory.
/// "" if the seeds allow no test, or for a single row.
std::string planned_power(const SweepPlan& plan);

}  // namespace attn
