// An experiment: the JSON config of `attn train`. It is resolved and saved in the run directory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/experiment/run_directory.h"
#include "base/check.h"
#include "base/json_config.h"
#include "data/config.h"
#include "eval/tasks/evaluator_config.h"
#include "kernels/cuda/gpu_kernels.h"
#include "kernels/fast_path.h"
#include "model/config.h"
#include "train/config.h"

namespace attn {

/// Whether something is used where it is possible.
enum class Use { automatic, off };

template <>
struct EnumNames<Use> {
  static constexpr auto values =
      std::to_array<EnumName<Use>>({{Use::automatic, "auto"}, {Use::off, "off"}});
};

/// Where a run on a GPU searches.
enum class SearchDevice { automatic, cpu, cuda };

template <>
struct EnumNames<SearchDevice> {
  static constexpr auto values =
      std::to_array<EnumName<SearchDevice>>({{SearchDevice::automatic, "auto"},
                                             {SearchDevice::cpu, "cpu"},
                                             {SearchDevice::cuda, "cuda"}});
};

/// The section "runtime": choices of implementation. They change results only by rounding, and may
/// change when a run is resumed.
struct RuntimeConfig {
  Kernels kernels = Kernels::automatic;
  GpuKernels gpu_kernels = GpuKernels::automatic;
  Use graphs = Use::automatic;
  Use mps = Use::automatic;
  SearchDevice search_device = SearchDevice::automatic;
  bool shard_optimizer = false;
  double timeout = 60.0;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit(
        "kernels", self.kernels,
        "fast implementations of the model's formulas: auto (where they compute the formula as it "
        "is read in model/ and train/), strict (the same, and an edited formula is an error) or "
        "off (everything is computed as it is read)");
    visit(
        "gpu_kernels", self.gpu_kernels,
        "on a GPU: this project's kernels of norm, loss, embedding and dropout, compiled when they "
        "are first used, with a CPU's dropout masks, and linear layers that read copies of their "
        "weights in bf16 (on), one of these and dropout, to measure it, or LibTorch's operations "
        "(off); auto: off until a GPU has shown them to be equal and faster");
    visit("graphs", self.graphs,
          "training on a GPU: launch an update's kernels as CUDA graphs (auto: where the model "
          "allows it), or one by one (off); results are the same");
    visit("mps", self.mps,
          "a sweep of several runs at a time on a GPU: an MPS server, under which their kernels "
          "overlap (auto: if its control program is installed), or in turns (off); results are the "
          "same");
    visit("search_device", self.search_device,
          "training on a GPU: where evaluators search: on its CPU (cpu), the GPU (cuda), or on the "
          "CPU if the model has packed search there (auto)");
    visit("shard_optimizer", self.shard_optimizer,
          "training with several processes: shard the optimizer state (ZeRO stage 1); each process "
          "updates a part of the weights");
    visit("timeout", self.timeout,
          "training with several processes: seconds without a message after which one is "
          "considered dead");
  }
  bool operator==(const RuntimeConfig&) const = default;
  /// Throws ConfigError naming the first invalid option.
  void validate() const { require(timeout >= 1, "timeout", timeout, "must be 1 second or more"); }
};

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
    visit("search", self.search,
          "search in translate and parse, and of the evaluators but for their own \"search\"");
    visit("eval", self.eval,
          "evaluators; the first one with every > 0 selects the best checkpoint");
    visit("runtime", self.runtime, "implementation choices; results are equal up to rounding");
  }
  bool operator==(const Experiment&) const = default;
  /// Throws ConfigError with the path of the first invalid option.
  void validate() const;
  /// For training: throws ConfigError or DataError for the first missing or empty text of data or
  /// of an evaluator.
  void require_texts() const;
};

/// The evaluator of this name; null: none.
const EvaluatorConfig* find_evaluator(const Experiment& experiment, const std::string& name);

/// Resolves a config: the defaults, then the files of "base" (a path relative to the file, or an
/// array of paths; see experiments/presets), then the file, then all `path=value`. Each is a merge
/// patch (RFC 7386) on the result so far, read strictly, where null resets an option to its
/// default. A patch that changes a tag (model.architecture, train.schedule, …) removes the options
/// that the new alternative lacks. The result is validated. Throws ConfigError or DataError.
Experiment load_experiment(const std::filesystem::path& file,
                           const std::vector<Assignment>& assignments = {});

/// The same from patches, read in order. `name` is for messages; paths in "base" are relative to
/// `folder`. The assignments are merged into the `last` patch: its tags take effect before options,
/// whoever sets them.
Experiment resolve_experiment(const std::vector<Json>& patches, const std::string& name,
                              const std::filesystem::path& folder,
                              const std::vector<Assignment>& assignments = {},
                              const Json& last = Json::object());

/// The path of the option with this name or path outside eval: "model.heads" for "heads"; "" if
/// there is none.
std::string option_path(std::string_view name);

/// `experiment` with a patch, validated. `assignments`: those in the patch, whose errors name
/// --set; others name `name`. Throws ConfigError.
Experiment patched(Experiment experiment, const Json& patch, const std::string& name,
                   const std::vector<Assignment>& assignments = {});

/// `patch` with all assignments. Their order does not matter, but for those of the same option, of
/// a list and its elements, and of null. Throws ConfigError for one that cannot be merged.
Json with_assignments(Json patch, const std::vector<Assignment>& assignments);

/// All options with derived values filled in, to compare experiments: the widths of a Transformer's
/// heads, and the whole search of each evaluator.
Json write_resolved(Experiment experiment);

/// The options of an evaluator that decide the scores of a model, but for the text.
Json scoring_options(EvaluatorConfig config, const SearchConfig& search);

/// Reads the output of write_config or write_resolved and applies the assignments.
Experiment read_resolved(const Json& json, const std::string& name,
                         const std::vector<Assignment>& assignments = {});

/// The same from config.json of a run or a checkpoint. Throws DataError with the remedy for an
/// invalid file, which attn wrote, and ConfigError for an invalid assignment.
Experiment load_description(const ModelDirectory& directory,
                            const std::vector<Assignment>& assignments = {});

}  // namespace attn
