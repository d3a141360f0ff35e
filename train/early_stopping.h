// What the values of one evaluator decide: which step is the best, and when training is over.
#pragma once

#include <functional>

#include "train/config.h"
#include "train/state.h"

namespace attn {

/// Whether one value is better than another: lower perplexity, higher BLEU.
using Better = std::function<bool(double value, double than)>;

/// Takes in the value that the deciding evaluator found after state.step; returns whether it is the
/// best so far.
bool note_validation(TrainState& state, double value, const Better& better);

/// Whether training is over: at its last step, or out of patience (train.patience).
bool is_finished(const TrainState& state, const TrainConfig& config);

}  // namespace attn
