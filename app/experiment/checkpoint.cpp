#include "app/experiment/checkpoint.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>
#include <set>
#include <utility>

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
#include "kernels/cuda/gpu_kernels.h"
#include "kernels/fast_path.h"
#include "model/size.h"
#include "train/checkpoint.h"
#include "train/checkpoint_store.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kEvaluationData = {
    "data.valid", "data.cache", "data.batch_tokens", "data.max_length"};
constexpr int64_t kLargestTags = int64_t{1} << 28;

// Other options would have no effect on the trained weights, or not that of a training run with
// them.
void require_evaluation_options(const std::vector<std::string>& assignments) {
  for (const std::string& assignment : assignments) {
    const std::string path = assigned_path(assignment), section = path.substr(0, path.find('.'));
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
    const std::string path = assigned_path(assignment), section = path.substr(0, path.find('.'));
    if (section == "search" || section == "runtime") continue;
    if (section != path && schema_of<Experiment>().inner.contains(section)) {
      throw ConfigError("--set " + assignment +
                        ": only options of search and runtime can be set for a trained model");
    }
    assignment.insert(0, runtime.contains(path) ? "runtime." : "search.");
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

VocabularySizes sizes_of(const DataConfig& data, const Tokenizers& tokenizers) {
  VocabularySizes sizes{tokenizers.source->size(), tokenizers.target->size(),
                        tokenizers.features ? tokenizers.features->size() : 0};
  if (data.task == Task::parsing) {
    sizes.target_words = leaf_tokens(*tokenizers.target, data.tree_form);
  }
  return sizes;
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
  require_features(trained.data, loaded.tokenizers, directory.path().string());
  require_weights_of(trained.model, sizes_of(trained.data, loaded.tokenizers), directory.weights());
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

[[noreturn]] void differ(const LoadedModel& first, const LoadedModel& other,
                         const std::string& how) {
  throw ConfigError(first.directory.path().string() + " and " + other.directory.path().string() +
                    ": " + how);
}

// The pieces and their order; the segmentation of the first run's tokenizer is used for all.
void require_same_vocabulary(const LoadedModel& first, const LoadedModel& other, const char* side,
                             const Tokenizer& expected, const Tokenizer& found) {
  const std::string remedy = "; the members of an ensemble must share their vocabularies (data." +
                             std::string(side) + "_model)";
  if (expected.size() != found.size()) {
    differ(first, other,
           std::string(side) + " vocabularies of " + std::to_string(expected.size()) + " and " +
               std::to_string(found.size()) + " tokens" + remedy);
  }
  if (expected.serialized() == found.serialized()) return;
  for (int64_t id = 0; id < expected.size(); ++id) {
    if (expected.piece(id) == found.piece(id)) continue;
    differ(first, other,
           "different " + std::string(side) + " vocabularies: token " + std::to_string(id) +
               " is \"" + expected.piece(id) + "\" and \"" + found.piece(id) + "\"" + remedy);
  }
  if (expected.bos() != found.bos() || expected.eos() != found.eos()) {
    differ(first, other,
           "different BOS or EOS in the " + std::string(side) + " vocabulary" + remedy);
  }
}

void require_compatible(const LoadedModel& first, const LoadedModel& other) {
  const DataConfig &expected = first.experiment.data, &found = other.experiment.data;
  if (expected.task != found.task) {
    differ(first, other,
           "data.task " + std::string(enum_name(expected.task)) + " and " +
               std::string(enum_name(found.task)) + "; an ensemble needs one task");
  }
  if (expected.task == Task::parsing && expected.tree_form != found.tree_form) {
    differ(first, other,
           "data.tree_form " + std::string(enum_name(expected.tree_form)) + " and " +
               std::string(enum_name(found.tree_form)) + "; an ensemble needs one form of trees");
  }
  require_same_vocabulary(first, other, "source", *first.tokenizers.source,
                          *other.tokenizers.source);
  require_same_vocabulary(first, other, "target", *first.tokenizers.target,
                          *other.tokenizers.target);
  const auto features_of = [](const LoadedModel& model) {
    const SourceFeatures* features = model.tokenizers.features.get();
    return features != nullptr ? features->fingerprint() : 0;
  };
  if (features_of(first) != features_of(other)) {
    differ(first, other,
           "different tags or word features of the source (data.tag, data.word_classes, "
           "data.word_pieces); an ensemble needs the same");
  }
}

LoadedEnsemble combined(std::vector<LoadedModel> members) {
  const LoadedModel& first = members.front();
  Tokenizers tokenizers = first.tokenizers;
  std::vector<Seq2SeqModel*> models;
  for (const LoadedModel& member : members) {
    require_compatible(first, member);
    models.push_back(member.model.get());
  }
  Ensemble ensemble(std::move(models), first.experiment.search.ensemble);
  return {.members = std::move(members),
          .tokenizers = std::move(tokenizers),
          .models = std::move(ensemble)};
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

std::shared_ptr<Seq2SeqModel> make_model(const Experiment& experiment, const Tokenizers& tokenizers,
                                         torch::Device device) {
  use_kernels(experiment.runtime.kernels);
  use_gpu_kernels(experiment.runtime.gpu_kernels);
  auto model = make_model(experiment.model, sizes_of(experiment.data, tokenizers));
  model->to(device);
  return model;
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
  const torch::Device device = model.device();
  if (const std::string why = device.is_cuda() ? gpu_kernels_missing(device.index()) : "";
      !why.empty()) {
    log("GPU kernels are on, but none can be used; LibTorch's operations run instead: " + why);
  }
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

std::string LoadedEnsemble::description() const {
  std::string list;
  for (const LoadedModel& member : members) {
    list += (list.empty() ? "" : ", ") + member.directory.path().string();
  }
  return members.size() == 1 ? list : std::to_string(members.size()) + " models: " + list;
}

LoadedEnsemble load_ensemble(std::span<const fs::path> paths, torch::Device device,
                             const std::vector<std::string>& assignments, LoadModel* load) {
  std::vector<LoadedModel> members;
  for (const fs::path& path : paths) members.push_back(load(path, device, assignments));
  return combined(std::move(members));
}

}  // namespace attn
