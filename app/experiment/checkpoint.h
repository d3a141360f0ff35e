// A model as it is kept: weights, resolved config and tokenizers, in a directory that stands on its
// own (a checkpoint or an average; a run has several). What is in the files of weights and
// optimizer is train/checkpoint's, which checkpoints a run has is train/checkpoint_store's, and all
// names are app/experiment/run_directory's.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/experiment/experiment.h"
#include "app/experiment/find_checkpoint.h"
#include "app/experiment/run_directory.h"
#include "data/tokenizer.h"
#include "model/seq2seq.h"

namespace attn {

/// Writes config.json and the tokenizers (one file where both sides share one). Throws DataError.
void save_description(const ModelDirectory& directory, const Experiment& experiment,
                      const Tokenizers& tokenizers);

/// Reads what save_description wrote, with load_description. Throws ConfigError or DataError.
Tokenizers load_tokenizers(const ModelDirectory& directory);

/// Sets what the second index of target rows counts, for a model that takes one. Throws DataError
/// where the vocabulary has nothing to count.
void set_target_counter(const Experiment& experiment, Tokenizers& tokenizers);

/// The model of an experiment over these vocabularies, on the device, with the first weights that
/// torch's generator gives. It computes as `runtime` says.
std::shared_ptr<Seq2SeqModel> make_model(const Experiment& experiment, const Tokenizers& tokenizers,
                                         torch::Device device);

/// Everything that translating takes.
struct LoadedModel {
  ModelDirectory directory;
  Experiment experiment;
  Tokenizers tokenizers;
  std::shared_ptr<Seq2SeqModel> model;
};

/// Throws ConfigError, which names the run, where `path` is not a run but a checkpoint, the
/// folder of a run's checkpoints or a selector of one of them.
void require_no_checkpoint(const std::filesystem::path& path);

/// Throws DataError if the run has saved checkpoints but none of them is valid any more: it can be
/// neither resumed nor restarted in its directory.
void require_nothing_lost(const RunDirectory& run);

/// find_checkpoint, then config, tokenizers and weights, on the device. The assignments change the
/// experiment that is returned and how its model computes, not the model's shape. Throws
/// ConfigError or DataError.
LoadedModel load_model(const std::filesystem::path& path, torch::Device device,
                       const std::vector<std::string>& assignments = {});

/// The same for a command that only searches: its --set are assignments to options of search,
/// "beam=5" or "search.beam=5", and of runtime, "runtime.decoder=modules". Evaluators keep theirs.
LoadedModel load_model_to_search(const std::filesystem::path& path, torch::Device device,
                                 const std::vector<std::string>& assignments);

}  // namespace attn
