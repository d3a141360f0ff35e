// A checkpoint that stands on its own: weights, resolved config and tokenizer; in training also the
// optimizer and the position. `attn translate` takes such a directory, or a run, which holds
// several.
//
//   RUN/config.json                     the resolved experiment
//   RUN/run.json                        command line, commit, versions, hardware, data hashes
//   RUN/log.txt, RUN/metrics.jsonl      what happened
//   RUN/cache/                          encoded corpora, safe to delete
//   RUN/checkpoints/step-00000500/      model.safetensors, optimizer.safetensors, config.json,
//   tokenizer(s) RUN/averaged/                       what `attn average` made RUN/eval/ outputs of
//   the evaluators
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/experiment.h"
#include "data/tokenizer.h"
#include "model/transformer.h"

namespace attn {

inline constexpr const char* kWeightsFile = "model.safetensors";
inline constexpr const char* kTrainingFile = "optimizer.safetensors";
inline constexpr const char* kCheckpointsFolder = "checkpoints";
inline constexpr const char* kAveragedFolder = "averaged";

/// Writes config.json and the tokenizers (one file where both sides share one). Throws DataError.
void save_description(const std::filesystem::path& directory, const Experiment& experiment,
                      const Tokenizers& tokenizers);

/// Reads what save_description wrote. Throws ConfigError or DataError.
Experiment load_description(const std::filesystem::path& directory);
Tokenizers load_tokenizers(const std::filesystem::path& directory);

VocabularySizes vocabulary_sizes(const Tokenizers& tokenizers);

/// Everything that translating takes.
struct LoadedModel {
  std::filesystem::path directory;
  Experiment experiment;
  Tokenizers tokenizers;
  Transformer model = nullptr;
};

/// The directory to load for `path`: itself when it is a checkpoint; of a run its averaged weights
/// if there are any, else its best checkpoint, else its last. Throws DataError saying what was
/// looked for.
std::filesystem::path find_checkpoint(const std::filesystem::path& path);

/// find_checkpoint, then config, tokenizers and weights. Throws ConfigError or DataError.
LoadedModel load_model(const std::filesystem::path& path);

}  // namespace attn
