#include "train/early_stopping.h"

#include <cmath>

namespace attn {

bool record_validation(TrainState& state, double value, bool lower_is_better, bool scheduled) {
  // NaN is worse than any number.
  const bool better = std::isnan(state.best)
                          ? !std::isnan(value)
                          : (lower_is_better ? value < state.best : value > state.best);
  if (state.best_step != 0 && !better) {
    state.without_better += scheduled ? 1 : 0;
    return false;
  }
  state.best = value;
  state.best_step = state.step;
  state.without_better = 0;
  return true;
}

bool is_finished(const TrainState& state, const TrainConfig& config) {
  return state.step >= config.steps ||
         (config.patience > 0 && state.without_better >= config.patience);
}

}  // namespace attn
