// Best checkpoint and early stopping, from the values of one evaluator.
#pragma once

#include <functional>

#include "train/config.h"
#include "train/state.h"

namespace attn {

/// Whether `value` is better than `than`: lower perplexity, higher BLEU.
using Better = std::function<bool(double value, double than)>;

/// Records the validation result of state.step. Returns whether it is the best so far.
bool record_validation(TrainState& state, double value, const Better& better);

/// Whether training has ended: at the last step, or by early stopping (train.patience).
bool is_finished(const TrainState& state, const TrainConfig& config);

}  // namespace attn
