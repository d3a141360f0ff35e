// A training run in its directory: what happens between `attn train` and the last checkpoint.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/experiment/experiment.h"
#include "app/experiment/progress.h"
#include "app/experiment/run_directory.h"
#include "app/experiment/run_lock.h"
#include "app/machine/context.h"
#include "base/metrics_log.h"
#include "data/batches.h"
#include "data/corpus.h"
#include "eval/tasks/evaluator.h"
#include "train/loop.h"
#include "train/trainer.h"

namespace attn {

class TrainingRun {
 public:
  /// Reads and checks the data, learns or loads tokenizers, builds the model; with `resume` takes
  /// up the newest whole checkpoint (none was ever saved: it starts at step 0). Throws ConfigError
  /// or DataError before anything is trained. Waits up to `patience_seconds` for another process in
  /// the same directory to end.
  TrainingRun(const Experiment& experiment, RunDirectory directory, bool resume,
              const Context& context, double patience_seconds = 0.0);

  /// Trains to the last step, or until a signal asks to stop, which saves first. Throws DataError
  /// when a checkpoint can't be written and NonFiniteLoss; the checkpoints before are intact.
  LoopEnd run();

  /// Whether a resumed run has nothing left to do but to say so.
  bool finished() const;
  /// Writes the result.json of a finished run, unless an earlier process did; `run` ends with it.
  void conclude();
  int64_t step() const { return trainer_->state.step; }

 private:
  void prepare(bool resume);
  /// What stops `work` is the last line of the run's log, too.
  void noting_failure(const std::function<void()>& work) const;
  void describe();
  void require_same_text(const Json& begun) const;
  void load_data();
  void restore(bool resume);
  void set_damaged_aside(int64_t newest_whole);
  void rehearse();
  void keep_config();
  LoopCallbacks callbacks();
  LoopEvaluation loop_evaluation(const Evaluator& evaluator);
  void log_window(const TrainingWindow& window);
  void log_evaluation(const Evaluator& evaluator, const EvaluationResult& result, bool best,
                      double seconds);
  void save();
  void note_first_checkpoint();

  Experiment experiment_;
  RunDirectory directory_;
  Context context_;
  RunLock lock_;
  Tokenizers tokenizers_;
  std::unique_ptr<EncodedCorpus> corpus_;
  std::unique_ptr<BatchStream> stream_;
  std::vector<std::unique_ptr<Evaluator>> evaluators_;
  std::map<std::string, std::string> texts_;  // training_keys() of what was read
  std::shared_ptr<Seq2SeqModel> model_;
  std::unique_ptr<Trainer> trainer_;
  std::unique_ptr<Progress> progress_;
  std::unique_ptr<MetricsLog> metrics_;
};

}  // namespace attn
