// `attn train`: a training run and its directory.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/experiment/experiment.h"
#include "app/experiment/initial_model.h"
#include "app/experiment/process_group.h"
#include "app/experiment/progress_line.h"
#include "app/experiment/run_directory.h"
#include "app/machine/device.h"
#include "base/metrics_log.h"
#include "data/batches.h"
#include "data/corpus.h"
#include "eval/tasks/evaluator.h"
#include "train/checkpoint_store.h"
#include "train/loop.h"
#include "train/trainer.h"

namespace attn {

struct TrainOptions {
  std::filesystem::path path;           ///< config file, or with `resume` a run directory
  std::filesystem::path run;            ///< run directory; empty: runs/<config's name>, or `path`
  bool resume = false;                  ///< resume from the newest checkpoint
  bool rescore = false;                 ///< with `resume`: score a finished run by other options
  std::vector<Assignment> changes;      ///< of kChangeable, from there on
  double wait = 0.0;                    ///< seconds to wait for the lock
  std::vector<Assignment> assignments;  ///< applied after the config
};

/// Trains the run unless finished; returns the exit code. Throws UserError and NonFiniteLoss.
int train(const TrainOptions& options, const Context& context);

class TrainingRun {
 public:
  /// Reads and checks the data, trains or loads the tokenizers and creates the model, or loads the
  /// newest valid checkpoint. The caller has the directory's lock (RunLock). With several processes
  /// only the first one writes and evaluates; the others read the run directory, which they must
  /// share. Throws ConfigError, DataError or GroupFailure.
  TrainingRun(const Experiment& experiment, RunDirectory directory, const Context& context,
              Communicator& world = single_process());

  /// Trains to the end, or until a stop signal, after which it saves a checkpoint; before, a signal
  /// ends the process. Throws NonFiniteLoss, and DataError if a checkpoint cannot be written;
  /// earlier checkpoints stay intact.
  LoopEnd run();

  /// Whether there are no steps left to train or to evaluate.
  bool finished() const;
  /// Scores what is not scored yet, including the average or the best checkpoint, and writes
  /// result.json of a finished run unless it exists and is not to be written `again`, with scores
  /// by other options. Called at the end of `run`. Returns false if a stop signal came first.
  bool write_result(bool again = false);
  int64_t step() const { return trainer_->state.step; }
  /// Logs a line.
  void note(const std::string& line) { progress_->log(line); }

 private:
  bool is_rank_zero() const { return world_.is_rank_zero(); }
  void prepare();
  /// What all processes have: tokenizers, texts, model, stream and trainer.
  void make_trainer();
  /// Runs `work`; also logs the message of an exception.
  void logging_failures(const std::function<void()>& work) const;
  /// Runs `work` in the first process; returns false in all if a stop signal ended it.
  bool unless_stopped(const std::function<void()>& work) const;
  void write_run_info();
  /// Adds the changes of this resume to the metrics.
  void record_changes();
  std::string model_line() const;
  void load_data();
  std::filesystem::path cache() const;
  void restore(const OptimizerState& whole);
  bool deciding_changed(const Experiment& before) const;
  /// Whether training is finished and its result is written.
  bool has_result() const;
  /// Saves options that may change on resume: the number of steps, evaluation.
  void update_config();
  LoopCallbacks callbacks();
  LoopEvaluation loop_evaluation(size_t index);
  /// The model that an evaluator scores: model_, or for search a copy of its weights on the CPU.
  Seq2SeqModel& scored_model(const Evaluator& evaluator);
  /// Hash of the options that decide its scores.
  std::string options_key(const Evaluator& evaluator) const;
  /// Scores the model, with the average of its weights if there is one (train.ema).
  EvaluationResult score(const Evaluator& evaluator);
  /// Writes scores to the metrics, of kind "eval", "average" or "best", and to the log.
  void log_scores(const char* kind, const Evaluator& evaluator, const EvaluationResult& result,
                  double seconds, bool best = false);
  void score_yield(bool again);
  void score_missing();
  RunResult counts() const;
  void write_result_file(bool again);
  void log_interval(const TrainingInterval& interval);
  void save();
  void write_checkpoint(const OptimizerState& whole);
  void save_evaluation();
  void prune();

  Experiment experiment_;
  RunDirectory directory_;
  Context context_;
  Communicator& world_;
  std::optional<StoredCheckpoint> newest_;  // to resume from; first process only
  Json changes_ = Json::array();            // of options since then (--change); first process only
  Tokenizers tokenizers_;
  std::unique_ptr<InitialModel> initial_;  // train.init_from, before the first update
  std::unique_ptr<EncodedCorpus> corpus_;
  std::unique_ptr<BatchStream> stream_;
  std::vector<std::unique_ptr<Evaluator>> evaluators_;  // of experiment.eval; first process only
  std::map<std::string, std::string> texts_;            // training_keys() of what was read
  std::shared_ptr<Seq2SeqModel> model_;
  std::shared_ptr<Seq2SeqModel> search_model_;  // on the CPU of a GPU run; null: model_
  std::unique_ptr<Trainer> trainer_;
  std::unique_ptr<Progress> progress_;
  std::unique_ptr<MetricsLog> metrics_;  // first process only
};

}  // namespace attn
