// Best checkpoint and early stopping, from the values of one evaluator.
#pragma once

#include "train/config.h"
#include "train/state.h"

namespace attn {

/// Records the validation result of state.step. Returns whether it is the best so far. A result
/// that is not `scheduled`, after the last update, counts as the best or not at all, so that a
/// longer run stops where it would have without it.
bool record_validation(TrainState& state, double value, bool lower_is_better,
                       bool scheduled = true);

/// Whether training has ended: at the last step, or by early stopping (train.patience).
bool is_finished(const TrainState& state, const TrainConfig& config);

}  // namespace attn
