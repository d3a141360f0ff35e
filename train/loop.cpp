#include "train/loop.h"

#include <chrono>

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
    while (!finished()) {
      throughput_.add(trainer_.step());
      callbacks_.stepped(throughput_);
      const bool last = state().step >= config_.steps;
      const bool log_due = last || state().step % config_.log_every == 0;
      if (log_due) callbacks_.log(throughput_.take_interval());
      const bool best = evaluate(last);
      const bool stopped_early = !last && finished();
      if (stopped_early && !log_due) callbacks_.log(throughput_.take_interval());
      const int64_t asked = callbacks_.agree((callbacks_.stop_requested() ? kStop : 0) |
                                             (checkpoint_due() ? kSave : 0));
      const bool stop = (asked & kStop) != 0;
      if (best || finished() || asked != 0) save();
      if (best) callbacks_.mark_best();
      if (stop && !finished()) return LoopEnd::interrupted;
    }
    return LoopEnd::finished;
  }

 private:
  TrainState& state() { return trainer_.state; }
  bool finished() { return is_finished(state(), config_); }

  // Returns whether this step is the best so far.
  bool evaluate(bool last) {
    bool best = false;
    std::vector<const LoopEvaluation*> others;
    for (const LoopEvaluation& one : callbacks_.evaluations) {
      if (last || is_due(one)) {
        best |= evaluate_one(one);
      } else {
        others.push_back(&one);
      }
    }
    if (!last && finished()) {  // early stopping: this was the last step
      for (const LoopEvaluation* one : others) evaluate_one(*one);
    }
    return best;
  }

  bool is_due(const LoopEvaluation& evaluation) {
    return evaluation.every > 0 && state().step % evaluation.every == 0;
  }

  bool evaluate_one(const LoopEvaluation& evaluation) {
    double value = 0.0;
    const double seconds = outside_training([&] { value = evaluation.run(); });
    const bool best =
        evaluation.selects_best &&
        record_validation(state(), value, evaluation.lower_is_better, is_due(evaluation));
    evaluation.log(best, seconds);
    return best;
  }

  bool checkpoint_due() {
    const double since = throughput_.seconds() - saved_seconds_;
    return state().step % config_.checkpoint_every == 0 ||
           (config_.checkpoint_minutes > 0 && since >= 60 * config_.checkpoint_minutes);
  }

  void save() {
    state().seconds = saved_seconds_ = throughput_.seconds();
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

LoopEnd train_loop(Trainer& trainer, const TrainConfig& config, const LoopCallbacks& callbacks) {
  return Loop(trainer, config, callbacks).run();
}

}  // namespace attn
