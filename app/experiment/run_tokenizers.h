// The tokenizers of a training run: stored ones, those of train.init_from, or new ones.
#pragma once

#include <filesystem>

#include "app/experiment/experiment.h"
#include "app/experiment/initial_model.h"
#include "app/experiment/run_directory.h"
#include "data/tokenizer.h"

namespace attn {

/// The tokenizers of a run that has been trained, ready for training. Throws ConfigError or
/// DataError.
Tokenizers stored_tokenizers(const ModelDirectory& run, const Experiment& experiment);

/// Checks the training text and makes the tokenizers for it, except for the vocabularies that the
/// config names or the initial model has. `text`: the config of the training text
/// (with_training_text); `initial`: null for a start from random weights. Throws ConfigError or
/// DataError.
Tokenizers training_tokenizers(const Experiment& experiment, const DataConfig& text,
                               const InitialModel* initial, const std::filesystem::path& cache,
                               const Log& log);

}  // namespace attn
