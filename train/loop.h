// The training loop: when to log, evaluate and save. The actions are callbacks; the loop is
// independent of files, metrics and the terminal.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "train/config.h"
#include "train/throughput.h"
#include "train/trainer.h"

namespace attn {

/// Records the validation result of state.step. Returns whether it is the best so far, which NaN
/// and infinity never are. A result that is not `scheduled`, after the last update, is no step
/// without improvement; a better one is the best to beat if the run is trained longer.
bool record_validation(TrainState& state, double value, bool lower_is_better,
                       bool scheduled = true);

/// Whether training has ended: at the last step, or by early stopping (train.patience).
bool is_finished(const TrainState& state, const TrainConfig& config);

/// An evaluator in the loop.
struct LoopEvaluation {
  int64_t every = 0;             ///< in steps; 0: only at the end
  bool selects_best = false;     ///< the best checkpoint, and the end by train.patience
  bool lower_is_better = false;  ///< whether lower values of run() are better
  std::function<std::optional<double>()> run;  ///< the value to compare; none if a stop ended it
  std::function<void(bool best, double seconds)> log;  ///< logs the result of run(), its duration
};

/// Actions of the loop. The time of run() and save() does not count as training time.
struct LoopCallbacks {
  std::function<void(const Throughput&)> stepped;    ///< after each update
  std::function<void(const TrainingInterval&)> log;  ///< if due by train.log_every, and at last
  std::vector<LoopEvaluation> evaluations;           ///< in order of execution
  std::function<void()> save;            ///< writes a checkpoint; state.seconds is current
  std::function<void()> mark_best;       ///< marks the checkpoint of this step
  std::function<void()> evaluated;       ///< adds the results to the checkpoint of this step
  std::function<bool()> stop_requested;  ///< called once per step
  /// Called once per step with this process's requests as bit flags; returns those of all processes
  /// combined, so that all of them save and stop after the same step.
  std::function<int64_t(int64_t)> agree = [](int64_t asked) { return asked; };
};

/// How the loop ended.
enum class LoopEnd { finished, interrupted };

/// Trains until is_finished(), or until a stop is requested. After each update, in this order:
/// `stepped`; `log` if due; `save` if due by steps or minutes, at the last step or at a stop; the
/// evaluators that are due, at the last step all; unless there was a `save` before them, `save` at
/// a new best or out of patience (train.patience); `mark_best` at a new best; `evaluated` if there
/// was a `save` before them. So an evaluation that fails or is killed loses no update: its
/// checkpoint has state.evaluation_pending, with which the loop begins by evaluating. A stop does
/// not evaluate any more. Throws what Trainer::step and the callbacks throw.
LoopEnd train_loop(Trainer& trainer, const TrainConfig& config, const LoopCallbacks& callbacks);

}  // namespace attn
