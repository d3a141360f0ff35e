// A training run in its directory: what happens between `attn train` and the last checkpoint.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/experiment/experiment.h"
#include "app/experiment/progress.h"
#include "app/experiment/run_lock.h"
#include "base/metrics_log.h"
#include "data/batches.h"
#include "data/corpus.h"
#include "eval/tasks/evaluator.h"
#include "train/trainer.h"

namespace attn {

/// How a run came to its end.
enum class RunEnd { finished, interrupted };

class TrainingRun {
 public:
  /// Reads and checks the data, learns or loads tokenizers, builds the model; with `resume` takes
  /// up the newest whole checkpoint (none was ever saved: it starts at step 0). Throws ConfigError
  /// or DataError before anything is trained. Waits up to `patience_seconds` for another process in
  /// the same directory to end.
  TrainingRun(const Experiment& experiment, std::filesystem::path directory, bool resume,
              const std::string& command_line, double patience_seconds = 0.0);

  /// Trains to the last step, or until a signal asks to stop, which saves first. Throws DataError
  /// when a checkpoint can't be written and NonFiniteLoss; the checkpoints before are intact.
  RunEnd run();

  /// Whether a resumed run has nothing left to do but to say so.
  bool finished() const;
  /// Writes the result.json of a finished run, unless an earlier process did; `run` ends with it.
  void conclude();
  int64_t step() const { return trainer_->state.step; }

 private:
  void describe(const std::string& command_line);
  void require_same_text(const Json& begun) const;
  void load_data();
  void restore(bool resume);
  void set_damaged_aside(int64_t newest_whole);
  void rehearse();
  void keep_config();
  void log_window(int64_t step);
  /// Runs the evaluators that are due, after the last step all; returns whether the decisive one
  /// found a new best.
  bool evaluate();
  bool evaluate_one(const Evaluator& evaluator, bool decisive);
  void save();
  void note_first_checkpoint();
  bool checkpoint_due() const;

  std::filesystem::path checkpoints() const;

  Experiment experiment_;
  std::filesystem::path directory_;
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
  int64_t saved_step_ = -1;
  double saved_seconds_ = 0.0;    // of training, when the last checkpoint was written
  double earlier_seconds_ = 0.0;  // of training, before this process
};

}  // namespace attn
