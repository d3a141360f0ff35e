#include "train/loop.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace attn {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kStop = 1, kSave = 2;

class Loop {
 public:
  Loop(Trainer& trainer, const TrainConfig& config, const LoopCallbacks& callbacks)
      : trainer_(trainer),
        config_(config),
        callbacks_(callbacks),
        throughput_(trainer.state, config.steps),
        saved_seconds_(trainer.state.seconds) {}

  LoopEnd run() {
    if (state().evaluation_pending != 0 && !evaluate(/*saved=*/true)) return LoopEnd::interrupted;
    while (!finished()) {
      throughput_.add(trainer_.step());
      state().seconds = throughput_.seconds();
      callbacks_.stepped(throughput_);
      if (is_last() || state().step % config_.log_every == 0) {
        callbacks_.log(throughput_.take_interval());
      }
      state().interval = throughput_.sums();
      const int64_t asked = callbacks_.agree((callbacks_.stop_requested() ? kStop : 0) |
                                             (checkpoint_due() ? kSave : 0));
      const bool pending = std::ranges::any_of(
          callbacks_.evaluations, [&](const LoopEvaluation& one) { return is_due(one); });
      state().evaluation_pending = pending ? 1 : 0;
      const bool saved = asked != 0 || is_last();
      if (saved) save();
      const bool complete = !pending && finished();
      if ((asked & kStop) != 0 && !complete) return LoopEnd::interrupted;
      if (pending && !evaluate(saved)) return LoopEnd::interrupted;
    }
    return LoopEnd::finished;
  }

 private:
  TrainState& state() { return trainer_.state; }
  bool finished() { return is_finished(state(), config_); }
  bool is_last() { return state().step >= config_.steps; }

  bool is_scheduled(const LoopEvaluation& evaluation) {
    return evaluation.every > 0 && state().step % evaluation.every == 0;
  }
  bool is_due(const LoopEvaluation& evaluation) { return is_last() || is_scheduled(evaluation); }

  // `saved`: there is a checkpoint of this step. Returns false if a stop signal came first; then
  // all evaluations of the step are pending.
  bool evaluate(bool saved) {
    const TrainState before = state();
    bool best = false;
    for (const LoopEvaluation& one : callbacks_.evaluations) {
      if (!is_due(one)) continue;
      const auto is_best = evaluate_one(one);
      if (!is_best) {
        state() = before;
        if (!saved) save();
        return false;
      }
      best |= *is_best;
    }
    state().evaluation_pending = 0;
    if (!saved && (best || finished())) save();
    if (best) callbacks_.mark_best();
    if (saved) callbacks_.evaluated();
    return true;
  }

  // Whether this step is the best so far; std::nullopt if a stop signal ended the evaluation.
  std::optional<bool> evaluate_one(const LoopEvaluation& evaluation) {
    std::optional<double> value;
    const double seconds = outside_training([&] { value = evaluation.run(); });
    if (!value) return {};
    const bool best =
        evaluation.selects_best &&
        record_validation(state(), *value, evaluation.lower_is_better, is_scheduled(evaluation));
    evaluation.log(best, seconds);
    return best;
  }

  bool checkpoint_due() {
    const double since = state().seconds - saved_seconds_;
    return state().step % config_.checkpoint_every == 0 ||
           (config_.checkpoint_minutes > 0 && since >= 60 * config_.checkpoint_minutes);
  }

  void save() {
    saved_seconds_ = state().seconds;
    outside_training(callbacks_.save);
  }

  template <class Work>
  double outside_training(const Work& work) {
    const auto begin = Clock::now();
    work();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    throughput_.exclude(seconds);
    return seconds;
  }

  Trainer& trainer_;
  const TrainConfig& config_;
  const LoopCallbacks& callbacks_;
  Throughput throughput_;
  double saved_seconds_;  // training time at the last checkpoint
};

}  // namespace

bool record_validation(TrainState& state, double value, bool lower_is_better, bool scheduled) {
  const bool better = state.best_step == 0 || !std::isfinite(state.best) ||
                      (lower_is_better ? value < state.best : value > state.best);
  if (!std::isfinite(value) || !better) {
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

LoopEnd train_loop(Trainer& trainer, const TrainConfig& config, const LoopCallbacks& callbacks) {
  return Loop(trainer, config, callbacks).run();
}

}  // namespace attn
