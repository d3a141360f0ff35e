// Loads one model, or several to be combined.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "app/experiment/checkpoint.h"
#include "eval/search/ensemble.h"

namespace attn {

/// At least one loaded model. The first one's experiment and tokenizers apply to all.
struct LoadedEnsemble {
  std::vector<LoadedModel> members;
  Tokenizers tokenizers;
  Ensemble models;

  const Experiment& experiment() const { return members.front().experiment; }
  /// "runs/a/averaged", or "3 models: runs/a/averaged, runs/b/averaged, runs/c/averaged".
  std::string description() const;
};

/// Loads each like load_model(). Throws ConfigError naming two runs whose tasks, tree forms or
/// vocabularies differ.
LoadedEnsemble load_ensemble(std::span<const std::filesystem::path> paths, torch::Device device,
                             const std::vector<std::string>& assignments = {});

/// The same for translate, parse and logprob, like load_model_to_search().
LoadedEnsemble load_ensemble_to_search(std::span<const std::filesystem::path> paths,
                                       torch::Device device,
                                       const std::vector<std::string>& assignments);

}  // namespace attn
