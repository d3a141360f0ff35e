#include "app/experiment/checkpoint.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>
#include <set>

#include "app/experiment/run_result.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "base/json_config.h"
#include "base/safetensors.h"
#include "data/parsing/tag_dictionary.h"
#include "data/parsing/treebank.h"
#include "data/source_features.h"
#include "data/tokenizer.h"
#include "kernels/fast_path.h"
#include "model/size.h"
#include "train/checkpoint.h"
#include "train/checkpoint_store.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

const std::array<std::string, 2> kSearchSections = {"search", "runtime"};
constexpr std::array<std::string_view, 4> kTrainedSections = {"data.", "model.", "train.", "eval."};
constexpr std::array<std::string_view, 4> kEvaluationData = {
    "data.valid", "data.cache", "data.batch_tokens", "data.max_length"};
constexpr int64_t kLargestTags = int64_t{1} << 28;

// The last known step of a run that has saved a checkpoint, else 0.
int64_t saved_step(const RunDirectory& run) {
  const fs::path folder = run.checkpoints();
  const auto result = read_result(run);
  int64_t step = result ? result->step : 0;
  const auto stored = list_checkpoints(folder);
  if (!stored.empty()) step = std::max({step, stored.back().step, int64_t{1}});
  int64_t measured = 0;
  for (const Json& record : read_metrics(run)) {
    measured = std::max(measured, step_of(record));
  }
  const auto described = read_run_file(run);
  const bool saved = step > 0 || fs::exists(best_mark(folder)) ||
                     (described && described->contains(kFirstCheckpoint));
  return saved ? std::max({step, measured, int64_t{1}}) : 0;
}

// Other options would have no effect on the trained weights, or not that of a training run with
// them.
void require_evaluation_options(const std::vector<std::string>& assignments) {
  for (const std::string& assignment : assignments) {
    const std::string path = assignment.substr(0, assignment.find('='));
    const std::string section = path.substr(0, path.find_first_of(".["));
    const bool trained =
        section == "model" || section == "train" || section == "seed" ||
        (section == "data" && std::ranges::find(kEvaluationData, path) == kEvaluationData.end());
    if (!trained) continue;
    throw ConfigError("--set " + assignment +
                      ": cannot be set for a trained model; only search, runtime, eval, "
                      "data.valid, data.cache, data.batch_tokens and data.max_length");
  }
}

std::vector<std::string> search_assignments(std::vector<std::string> assignments) {
  const Json runtime = write_config(RuntimeConfig{});
  for (std::string& assignment : assignments) {
    const bool whole = std::any_of(
        kSearchSections.begin(), kSearchSections.end(), [&](const std::string& section) {
          return assignment.starts_with(section + ".") || assignment.starts_with(section + "=");
        });
    for (const std::string_view section : kTrainedSections) {
      if (!assignment.starts_with(section)) continue;
      throw ConfigError("--set " + assignment +
                        ": only options of search and runtime can be set for a trained model");
    }
    if (whole) continue;
    const std::string name = assignment.substr(0, assignment.find('='));
    assignment.insert(0, runtime.contains(name) ? "runtime." : "search.");
  }
  return assignments;
}

// The features that save_description wrote; null if there are none.
std::shared_ptr<const SourceFeatures> load_features(const ModelDirectory& directory) {
  const fs::path names = directory.features(), pieces = directory.pieces();
  if (!fs::exists(names)) return nullptr;
  std::shared_ptr<const Tokenizer> loaded;
  if (fs::exists(pieces)) loaded = load_tokenizer(pieces);
  return std::make_shared<const SourceFeatures>(
      parse_feature_names(read_file(names, kLargestTags), names.string()), std::move(loaded),
      names.string());
}

VocabularySizes sizes_of(const Tokenizers& tokenizers) {
  return {tokenizers.source->size(), tokenizers.target->size(),
          tokenizers.features ? tokenizers.features->size() : 0};
}

// Throws DataError if a model has more parameters than its file, before it is made: a config may
// come from anywhere, and its sizes would exhaust the memory.
void require_weights_of(const ModelConfig& model, const VocabularySizes& sizes,
                        const fs::path& weights) {
  const SafetensorsFile file(weights);
  int64_t stored = 0;
  for (const TensorView& tensor : file.tensors()) {
    stored += static_cast<int64_t>(tensor.bytes.size()) / dtype_size(tensor.dtype);
  }
  const int64_t described = parameter_count(model, sizes);
  if (described >= 0 && described <= stored) return;
  throw DataError(weights.string() + ": " + std::to_string(stored) +
                  " parameters, but the model of its " + kConfigFile + " has " +
                  (described < 0 ? "too many" : std::to_string(described)) +
                  "; the checkpoint belongs to a different config");
}

// The model of a checkpoint with the runtime options of `experiment`.
LoadedModel load_with(const ModelDirectory& directory, Experiment experiment,
                      torch::Device device) {
  LoadedModel loaded{.directory = directory, .experiment = std::move(experiment)};
  Experiment trained = load_description(directory);
  trained.runtime = loaded.experiment.runtime;
  loaded.tokenizers = load_tokenizers(directory);
  set_target_counter(trained, loaded.tokenizers);
  require_features(trained.data, loaded.tokenizers, directory.path().string());
  require_weights_of(trained.model, sizes_of(loaded.tokenizers), directory.weights());
  loaded.model = make_model(trained, loaded.tokenizers, device);
  load_weights(directory.weights(), *loaded.model);
  loaded.model->eval();
  check_and_report(*loaded.model, trained.model, {.gradients = false},
                   [](const std::string& line) { std::cerr << line << "\n"; });
  loaded.tokenizers =
      with_tag(std::move(loaded.tokenizers), loaded.experiment.data.tag, "data.tag");
  return loaded;
}

// "attention: attention (model/transformer/attention.cpp:17)" for each path that is off.
std::string edited_text() {
  std::string text;
  for (const FastPath path : paths_run_as_read()) {
    text += text.empty() ? "" : "; ";
    text += std::string(enum_name(path)) + ": ";
    const char* separator = "";
    for (const std::string& formula : edited_formulas(path)) {
      text += separator + formula;
      separator = ", ";
    }
  }
  return text;
}

}  // namespace

void save_description(const ModelDirectory& directory, const Experiment& experiment,
                      const Tokenizers& tokenizers) {
  if (tokenizers.source == tokenizers.target) {
    write_file_atomically(directory.shared_tokenizer(), tokenizers.source->serialized());
  } else {
    write_file_atomically(directory.source_tokenizer(), tokenizers.source->serialized());
    write_file_atomically(directory.target_tokenizer(), tokenizers.target->serialized());
  }
  if (tokenizers.tags) write_file_atomically(directory.tags(), tokenizers.tags->serialized());
  if (const SourceFeatures* features = tokenizers.features.get()) {
    if (features->pieces()) {
      write_file_atomically(directory.pieces(), features->pieces()->serialized());
    }
    write_file_atomically(directory.features(), features->serialized());
  }
  // Last: its existence implies that of the others.
  write_file_atomically(directory.config(), write_experiment(experiment).dump(2) + "\n");
}

Tokenizers load_tokenizers(const ModelDirectory& directory) {
  for (const fs::path& file :
       {directory.shared_tokenizer(), directory.source_tokenizer(), directory.target_tokenizer(),
        directory.features(), directory.pieces(), directory.tags()}) {
    require_regular_file(file);  // opening a pipe would wait for its writer
  }
  Tokenizers loaded;
  if (fs::exists(directory.shared_tokenizer())) {
    loaded.source = loaded.target = load_tokenizer(directory.shared_tokenizer());
  } else {
    if (!fs::exists(directory.source_tokenizer())) {
      throw DataError(directory.path().string() +
                      ": has no vocabulary (tokenizer.model, or source.model and target.model); "
                      "restore it, for example from one of the run's checkpoints");
    }
    loaded.source = load_tokenizer(directory.source_tokenizer());
    loaded.target = load_tokenizer(directory.target_tokenizer());
  }
  loaded.features = load_features(directory);
  if (const fs::path tags = directory.tags(); fs::exists(tags)) {
    loaded.tags = std::make_shared<const TagDictionary>(
        parse_tag_dictionary(read_file(tags, kLargestTags), tags.string()));
  }
  return loaded;
}

void require_features(const DataConfig& data, const Tokenizers& tokenizers,
                      const std::string& place) {
  const SourceFeatures* features = tokenizers.features.get();
  if (!data.has_features() && features == nullptr) return;
  const bool complete = data.has_features() && features != nullptr &&
                        data.word_classes == !features->names().classes.empty() &&
                        (data.word_pieces > 0) == (features->pieces() != nullptr);
  if (complete) return;
  throw DataError(place +
                  ": features.txt and pieces.model do not match data.word_classes, "
                  "data.word_pieces and data.tag of config.json; restore the files");
}

void set_target_counter(const Experiment& experiment, Tokenizers& tokenizers) {
  if (!experiment.model.counts_words()) return;
  const TreeForm form = experiment.data.tree_form;
  const std::vector<int32_t> leaves = leaf_tokens(*tokenizers.target, form);
  if (leaves.empty()) {
    throw DataError(
        "model.word_positions and model.deterministic_attention: the target vocabulary has "
        "no leaf symbols of the form " +
        std::string(enum_name(form)) + " (data.tree_form) to count");
  }
  tokenizers.target_counter =
      std::make_shared<const TokenCounter>(tokenizers.target->size(), leaves);
}

std::shared_ptr<Seq2SeqModel> make_model(const Experiment& experiment, const Tokenizers& tokenizers,
                                         torch::Device device) {
  use_kernels(experiment.runtime.kernels);
  auto model = make_model(experiment.model, sizes_of(tokenizers));
  model->to(device);
  return model;
}

void require_no_checkpoint(const fs::path& path) {
  if (const auto selector = checkpoint_selector(path)) {
    throw ConfigError(path.string() + ": a run resumes from its newest checkpoint; give the run, " +
                      selector->run.string());
  }
  const fs::path whole = fs::absolute(path / ".").lexically_normal().parent_path();
  const bool folder = RunDirectory::is_checkpoints(whole);
  const RunDirectory run =
      folder ? RunDirectory::of_checkpoints(whole) : RunDirectory::of_checkpoint(whole);
  const bool inside = run.path() != whole && run.has_config();
  if (!fs::is_directory(path) || (!inside && !ModelDirectory(path).has_weights())) return;
  const fs::path shown =
      path.is_absolute() ? run.path() : run.path().lexically_proximate(fs::current_path());
  throw ConfigError(
      path.string() + ": is " + (folder ? "a run's checkpoint directory" : "a checkpoint") +
      ", not a run; " +
      (inside ? "the run is " + shown.string() : "give the run directory it belongs to"));
}

std::optional<StoredCheckpoint> checkpoint_to_resume(const RunDirectory& run) {
  const fs::path folder = run.checkpoints();
  auto newest = latest_checkpoint(folder, checkpoint_files, Verified::tensors);
  if (newest) return newest;
  const int64_t step = saved_step(run);
  if (step == 0) return {};
  std::string missing = folder.string() + " has none";
  const auto broken = list_checkpoints(folder);
  if (!fs::exists(folder)) missing = "there is no " + folder.string();
  try {
    if (!broken.empty()) {
      verify_checkpoint(broken.back().path, checkpoint_files, Verified::tensors);
    }
  } catch (const DataError& error) {
    missing = error.what();
  }
  throw DataError(run.path().string() + ": trained to step " + std::to_string(step) +
                  ", but no checkpoint is complete (" + missing +
                  "); restore the missing files, or start a new run with --run");
}

LoadedModel load_model(const fs::path& path, torch::Device device,
                       const std::vector<std::string>& assignments) {
  require_evaluation_options(assignments);
  const ModelDirectory directory = find_checkpoint(path);
  return load_with(directory, load_description(directory, assignments), device);
}

LoadedModel load_model_to_search(const fs::path& path, torch::Device device,
                                 const std::vector<std::string>& assignments) {
  const ModelDirectory directory = find_checkpoint(path);
  const Experiment described = load_description(directory);
  Json json = write_config(described);  // with all options of the evaluators, so that they stay
  return load_with(
      directory,
      read_resolved(std::move(json), directory.config().string(), search_assignments(assignments)),
      device);
}

void check_and_report(Seq2SeqModel& model, const ModelConfig& config, const FastPathCheck& check,
                      const Log& log) {
  static std::set<std::string> checked;
  if (!checked.insert(write_config(config).dump() + model.device().str()).second) return;
  const auto start = std::chrono::steady_clock::now();
  const FastPathDifference found = check_fast_paths(model, check);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (kernels_in_use() == Kernels::off) {
    return log("runtime.kernels=off: everything is computed as it is read, which is slower");
  }
  if (const std::string edited = edited_text(); !edited.empty()) {
    log("as read, since formulas were edited, and slower (docs/howto/formula.md): " + edited);
  }
  for (const std::string& line : model.options_as_read()) log(line);
  if (check.gradients) {
    log(format("fast paths equal the formulas: differences %s (checked in %.2f s)",
               found.text().c_str(), seconds.count()));
  }
}

std::vector<std::string> paths_as_read() {
  std::vector<std::string> names;
  for (const FastPath path : paths_run_as_read()) names.emplace_back(enum_name(path));
  return names;
}

}  // namespace attn
