// Training from where the trainer stands to its end: which step is followed by what. What that is
// (a line of the log, an evaluation, a checkpoint) is given from outside; the loop knows no files,
// no metrics and no terminal.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "train/config.h"
#include "train/early_stopping.h"
#include "train/throughput.h"
#include "train/trainer.h"

namespace attn {

/// An evaluator as the loop sees it. The first one with a schedule decides what is best.
struct LoopEvaluation {
  int64_t every = 0;                                   ///< steps; 0: after the last one alone
  std::function<double()> run;                         ///< the value that decides
  Better better;                                       ///< of two such values
  std::function<void(bool best, double seconds)> log;  ///< what run() found, and how long it took
};

/// What happens beside the updates. The time that run() and save() take is not counted as training.
struct LoopCallbacks {
  std::function<void(const Throughput&)> stepped;  ///< after each update
  std::function<void(const TrainingWindow&)> log;  ///< every train.log_every steps, and at the end
  std::vector<LoopEvaluation> evaluations;         ///< in the order in which they are run
  std::function<void()> save;                      ///< a checkpoint; state.seconds is up to date
  std::function<void()> mark_best;                 ///< the checkpoint just saved
  std::function<bool()> stop_requested;            ///< asked once a step
};

/// How training came to its end.
enum class LoopEnd { finished, interrupted };

/// Steps the trainer until is_finished(), or until a stop is requested. After an update, in this
/// order: `stepped`, `log` when it is due, the evaluators that are due (after the last step all of
/// them), a checkpoint when one is due by steps or minutes, at a new best, at the end or at a stop,
/// then `mark_best` where this step is the best. Does nothing where training is over. Throws
/// NonFiniteLoss and what the callbacks throw.
LoopEnd train_loop(Trainer& trainer, const TrainConfig& config, const LoopCallbacks& callbacks);

}  // namespace attn
