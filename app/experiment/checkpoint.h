// A checkpoint that stands on its own: weights, resolved config and tokenizer; in training also the
// optimizer and the position. `attn translate` takes such a directory, or a run, which holds
// several.
//
// clang-format off
//   RUN/config.json                    the resolved experiment
//   RUN/tokenizer.model                or source.model and target.model, as in each checkpoint
//   RUN/tags.txt                       of a parser: the tags that words had in training
//   RUN/run.json                       command line, commit, versions, hardware, data hashes
//   RUN/log.txt, RUN/metrics.jsonl     what happened
//   RUN/result.json                    what a finished run came to
//   RUN/eval/                          outputs of the evaluators
//   RUN/checkpoints/step-00000500/     model.safetensors, optimizer.safetensors, config.json, tokenizers
//   RUN/checkpoints/best               which of them is the best
//   RUN/averaged/                      what `attn average` made
//   RUN/cache/                         encoded corpora, safe to delete
//   RUN/lock, RUN/lock.holder          held while a process trains the run; which one that is
// clang-format on
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/experiment/experiment.h"
#include "data/tokenizer.h"
#include "model/seq2seq.h"
#include "train/checkpoint_store.h"

namespace attn {

inline constexpr const char* kWeightsFile = "model.safetensors";
inline constexpr const char* kTrainingFile = "optimizer.safetensors";
inline constexpr const char* kCheckpointsFolder = "checkpoints";
inline constexpr const char* kAveragedFolder = "averaged";

/// Writes config.json and the tokenizers (one file where both sides share one). Throws DataError.
void save_description(const std::filesystem::path& directory, const Experiment& experiment,
                      const Tokenizers& tokenizers);

/// Reads what save_description wrote, with load_description. Throws ConfigError or DataError.
Tokenizers load_tokenizers(const std::filesystem::path& directory);

/// Sets what the second index of target rows counts, for a model that takes one. Throws DataError
/// where the vocabulary has nothing to count.
void set_target_counter(const Experiment& experiment, Tokenizers& tokenizers);

/// The model of an experiment over these vocabularies, on the device(), with the first weights that
/// torch's generator gives. It computes as `runtime` says.
std::shared_ptr<Seq2SeqModel> make_model(const Experiment& experiment,
                                         const Tokenizers& tokenizers);

/// Everything that translating takes.
struct LoadedModel {
  std::filesystem::path directory;
  Experiment experiment;
  Tokenizers tokenizers;
  std::shared_ptr<Seq2SeqModel> model;
};

/// The directory to load for `path`: itself when it is a checkpoint; of a run its averaged weights
/// if there are any, else its best checkpoint, else its last. Throws DataError saying what was
/// looked for.
std::filesystem::path find_checkpoint(const std::filesystem::path& path);

/// Throws ConfigError, which names the run, where `path` is not a run but a checkpoint or the
/// folder of a run's checkpoints.
void require_no_checkpoint(const std::filesystem::path& path);

/// Throws DataError when a run has saved checkpoints of which none is whole now, and says what is
/// missing: it can neither go on nor begin anew in its directory.
void require_nothing_lost(const std::filesystem::path& run);

/// The checkpoints that a run saves by counting steps. It ends with `last_step` where it has
/// finished there (it may be out of patience), and with the config's last step where that is 0.
CheckpointSchedule checkpoint_schedule(const TrainConfig& config, int64_t last_step);

/// The run that a checkpoint lies in; the checkpoint itself where it lies in none.
std::filesystem::path run_of(const std::filesystem::path& checkpoint);

/// A command's --set for search, "beam=5" or "search.beam=5", and for "runtime.…", as assignments
/// to a whole experiment.
std::vector<std::string> search_assignments(std::vector<std::string> assignments);

/// find_checkpoint, then config, tokenizers and weights. The assignments change the experiment that
/// is returned and how its model computes, not the model's shape. Throws ConfigError or DataError.
LoadedModel load_model(const std::filesystem::path& path,
                       const std::vector<std::string>& assignments = {});

}  // namespace attn
