// Fair tuning: the same trials for every row of a sweep, as a sweep of its own in SWEEP/tune.
#pragma once

#include "app/sweep/plan.h"

namespace attn {

/// All trials of a sweep with "tune", one seed each, scored by the evaluator of kind loss alone:
/// the grid of its file and, once these trials have finished, the values beyond the edges at which
/// a row's choice is. Throws ConfigError.
SweepPlan plan_trials(const SweepPlan& plan);

/// Whether a trial has not finished.
bool has_unfinished(const SweepPlan& trials);

/// Gives all rows the settings chosen for the first one, and adds a row ROW.tuned for each that has
/// chosen others. All trials must have finished.
void choose_settings(SweepPlan& plan, const SweepPlan& trials);

}  // namespace attn
