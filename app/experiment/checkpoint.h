// Saves, loads and averages models, one or several to be combined: weights, resolved config and
// tokenizers, in a self-contained directory (a checkpoint or an average). The format of the weight
// and optimizer files is in train/checkpoint, the list of a run's checkpoints in
// train/checkpoint_store, and all file names are in app/experiment/run_directory.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/experiment/experiment.h"
#include "app/experiment/run_directory.h"
#include "data/tokenizer.h"
#include "eval/search/ensemble.h"
#include "model/seq2seq.h"
#include "train/checkpoint_store.h"
#include "train/fast_path_check.h"

namespace attn {

/// Writes config.json and the tokenizers (one file where both sides share one). Throws DataError.
void save_description(const ModelDirectory& directory, const Experiment& experiment,
                      const Tokenizers& tokenizers);

/// Loads the tokenizers that save_description wrote. Throws ConfigError or DataError.
Tokenizers load_tokenizers(const ModelDirectory& directory);

/// Creates the model of an experiment for these vocabularies, on the device, with weights
/// initialized from torch's default generator. Applies the kernels of its runtime.
std::shared_ptr<Seq2SeqModel> make_model(const Experiment& experiment, const Tokenizers& tokenizers,
                                         torch::Device device);

/// A trained model with all that search needs.
struct LoadedModel {
  ModelDirectory directory;
  Experiment experiment;
  Tokenizers tokenizers;
  std::shared_ptr<Seq2SeqModel> model;
};

/// What may be set for a trained model, beside options of runtime: for the probabilities of given
/// outputs search.ensemble; for search its options; for evaluations also those of the evaluators,
/// which then inherit those of search, and of their data.
enum class Settable { probabilities, search, evaluation };

/// Finds the checkpoint (find_checkpoint) and loads config, tokenizers and weights onto the device.
/// The assignments may set what is settable, options of search and runtime also without their
/// section ("beam=5"). Throws ConfigError or DataError.
LoadedModel load_model(const std::filesystem::path& path, torch::Device device,
                       const std::vector<Assignment>& assignments,
                       Settable settable = Settable::search);

/// check_fast_paths(), once in this process for models of this config, then logs what runs as it is
/// read: fast paths that are off, and options that they do not compute. Throws ConfigError.
void check_and_report(Seq2SeqModel& model, const ModelConfig& config, const FastPathCheck& check,
                      const Log& log);

/// The value of kAsRead (report/results.h) for this process.
std::vector<std::string> paths_as_read();

/// At least one loaded model. The first one's experiment and tokenizers apply to all.
struct LoadedEnsemble {
  std::vector<LoadedModel> members;
  Tokenizers tokenizers;
  Ensemble models;

  const Experiment& experiment() const { return members.front().experiment; }
  /// "runs/a/averaged", or "3 models: runs/a/averaged, runs/b/averaged, runs/c/averaged".
  std::string description() const;
};

/// Loads each with load_model(). Throws ConfigError naming two runs whose tasks, tree forms or
/// vocabularies differ.
LoadedEnsemble load_ensemble(std::span<const std::filesystem::path> paths, torch::Device device,
                             const std::vector<Assignment>& assignments,
                             Settable settable = Settable::search);

// Checkpoint averaging (section 6.1).

struct AverageOptions {
  std::filesystem::path run;
  int64_t last = 5;              ///< number of scheduled checkpoints
  std::filesystem::path output;  ///< empty: RUN/averaged
  bool at_most = false;          ///< average fewer checkpoints if the run has fewer
  /// Last step of a run that has ended but has no result.json yet.
  int64_t last_step = 0;
};

/// Writes the averaged checkpoint; returns "mean of 5 checkpoints, steps 1200 to 2000:
/// runs/tiny/averaged". Throws ConfigError if the run has fewer than `last` checkpoints (with
/// `at_most`, none), and DataError if the output exists and is not an average.
std::string average(const AverageOptions& options);

}  // namespace attn
