// What a training starts from: tokenizers, stored or new, and in fine-tuning the weights and
// vocabularies of a checkpoint (train.init_from).
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/experiment/experiment.h"
#include "app/experiment/run_directory.h"
#include "data/config.h"
#include "data/source_features.h"
#include "data/tokenizer.h"
#include "model/seq2seq.h"

namespace attn {

class InitialModel {
 public:
  /// Finds the checkpoint (find_checkpoint), loads its vocabularies. Throws ConfigError, DataError.
  explicit InitialModel(const std::string& path);

  /// The config with the checkpoint's vocabularies where it names none, and without the options of
  /// features that `features` takes from the checkpoint. Throws ConfigError if one of the two
  /// shares the vocabulary of both sides and the other does not.
  DataConfig with_vocabularies(DataConfig data) const;
  /// The checkpoint's features, extended by the tags of the config; null if the config has none, or
  /// the checkpoint has no features of the same kinds.
  std::shared_ptr<const SourceFeatures> features(const DataConfig& data) const;

  /// Loads the weights that fit the model of `experiment` with these tokenizers. Returns lines for
  /// the log, which say what was not loaded and which model options differ. Throws ConfigError if
  /// nothing fits.
  std::vector<std::string> load_into(Seq2SeqModel& model, const Tokenizers& tokenizers,
                                     const Experiment& experiment) const;

 private:
  ModelDirectory directory_;
  Tokenizers tokenizers_;
};

/// The tokenizers of a trained run, ready for training. Throws ConfigError or DataError.
Tokenizers stored_tokenizers(const ModelDirectory& run, const Experiment& experiment);

/// Checks the training text and makes the tokenizers for it, except for the vocabularies that the
/// config names or the initial model has. `text`: the config of the training text
/// (with_training_text); `initial`: null for random weights. Throws ConfigError or DataError.
Tokenizers training_tokenizers(const Experiment& experiment, const DataConfig& text,
                               const InitialModel* initial, const std::filesystem::path& cache,
                               const Log& log);

}  // namespace attn
