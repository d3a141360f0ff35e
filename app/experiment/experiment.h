// One JSON file, one experiment: what `attn train` is given and what a run directory keeps,
// resolved.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/experiment/run_directory.h"
#include "app/experiment/runtime.h"
#include "base/json_config.h"
#include "data/config.h"
#include "eval/tasks/evaluator_config.h"
#include "model/config.h"
#include "train/config.h"

namespace attn {

struct Experiment {
  std::string about;
  int64_t seed = 1;
  DataConfig data;
  ModelConfig model;
  TrainConfig train;
  SearchConfig search;
  std::vector<EvaluatorConfig> eval;
  RuntimeConfig runtime;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit("about", self.about, "the command that runs this, its time and its expected result");
    visit("seed", self.seed, "of initial weights, dropout and the order of the data");
    visit("data", self.data, "texts, tokenizer, batches");
    visit("model", self.model, "section 3 of the paper");
    visit("train", self.train, "section 5 of the paper");
    visit("search", self.search, "beam search, for translate and as the evaluators' default");
    visit("eval", self.eval, "evaluators; the first one with a schedule decides what is best");
    visit("runtime", self.runtime, "how it is computed; changes no result's meaning");
  }
  bool operator==(const Experiment&) const = default;
  /// Throws ConfigError with the path of the first option that contradicts itself.
  void validate() const;
};

/// Defaults, then the file's "base" if any (a path beside it, or an array of them, each a patch on
/// those before it: see experiments/presets), then the file, then each `path=value`: merge patches
/// (RFC 7386), in which a null stands for an option's default, whatever the base has; then a strict
/// read and validate(). A patch that changes a tag (model.architecture, train.schedule, …) removes
/// the options that the new alternative does not have. Throws ConfigError or DataError.
Experiment load_experiment(const std::filesystem::path& file,
                           const std::vector<std::string>& assignments = {});

/// The same from JSON at hand; `name` is for messages and `folder` where "base" is looked for.
Experiment resolve_experiment(Json json, const std::string& name,
                              const std::filesystem::path& folder,
                              const std::vector<std::string>& assignments = {});

/// The same from patches, each laid over those before it.
Experiment resolve_patches(const std::vector<Json>& patches, const std::string& name,
                           const std::filesystem::path& folder,
                           const std::vector<std::string>& assignments = {});

/// What load_experiment reads back as the same experiment. Evaluators are written without the
/// options of search that they share with "search", so that they still follow it when it is
/// changed.
Json write_experiment(const Experiment& experiment);

/// Reads what write_experiment or write_config made, now or in an earlier version, which also wrote
/// options that have no effect: these are left out. Then the assignments, as strictly as ever.
Experiment read_resolved(Json json, const std::string& name,
                         const std::vector<std::string>& assignments = {});

/// The same from a file, and the one that a run or a checkpoint has. Throws ConfigError or
/// DataError.
Experiment load_resolved(const std::filesystem::path& file,
                         const std::vector<std::string>& assignments = {});
Experiment load_description(const ModelDirectory& directory,
                            const std::vector<std::string>& assignments = {});

}  // namespace attn
