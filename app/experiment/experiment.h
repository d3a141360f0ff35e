// An experiment: the JSON config of `attn train`, which is saved in the run directory after
// resolving its base.
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
    visit("about", self.about, "free text: command, training time, expected result");
    visit("seed", self.seed, "random seed of initialization, dropout and data order");
    visit("data", self.data, "corpora, tokenizer, batches");
    visit("model", self.model, "model architecture (section 3 of the paper)");
    visit("train", self.train, "training (section 5 of the paper)");
    visit("search", self.search, "beam search in translate and parse; defaults of the evaluators");
    visit("eval", self.eval,
          "evaluators; the first one with every > 0 selects the best checkpoint");
    visit("runtime", self.runtime, "implementation choices; results are equal up to rounding");
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
