// The scores of a training run: which evaluations are made, and where they are written.
#pragma once

#include <memory>
#include <vector>

#include "app/experiment/experiment.h"
#include "app/experiment/progress_line.h"
#include "app/experiment/run_directory.h"
#include "base/metrics_log.h"
#include "eval/tasks/evaluator.h"
#include "train/trainer.h"

namespace attn {

using Evaluators = std::vector<std::unique_ptr<Evaluator>>;

/// Scores the model of a run with the evaluators of its config, in their order, and writes the
/// scores to the run's metrics and log. The model is scored with the average of its weights, if
/// train.ema asks for one.
class RunScorer {
 public:
  /// What it refers to must outlive it.
  struct Parts {
    const Experiment& experiment;
    const RunDirectory& directory;
    const Evaluators& evaluators;  ///< of experiment.eval, in its order
    Seq2SeqModel& model;
    Trainer& trainer;
    Progress& progress;
    MetricsLog& metrics;
  };
  explicit RunScorer(const Parts& parts) : parts_(parts) {}

  /// Scores the model at the current step; writes the evaluator's output, but no metrics.
  EvaluationResult score(const Evaluator& evaluator) const;
  /// Writes metrics of kind "eval" and a log line. `best`: it is the best checkpoint so far.
  void log(const Evaluator& evaluator, const EvaluationResult& result, bool best,
           double seconds) const;

  /// Averages the last checkpoints (train.average_last) into the run's `averaged` and scores the
  /// average, metrics of kind "average". The model then has the averaged weights.
  void score_average() const;
  /// Scores the current step with the evaluators that have no score of it, of the same text and
  /// options.
  void score_missing() const;

 private:
  int64_t step() const { return parts_.trainer.state.step; }
  /// Scores the model's current weights.
  EvaluationResult score_weights(const Evaluator& evaluator) const;
  void record(const char* kind, const Evaluator& evaluator, const EvaluationResult& result,
              double seconds) const;

  Parts parts_;
};

}  // namespace attn
