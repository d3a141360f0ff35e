#include "app/experiment/checkpoint.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <set>
#include <utility>

#include "app/experiment/progress_line.h"
#include "app/experiment/run_result.h"
#include "app/machine/version.h"
#include "base/error.h"
#include "base/file.h"
#include "base/format.h"
#include "base/json_config.h"
#include "base/safetensors.h"
#include "data/parsing/tag_dictionary.h"
#include "data/parsing/treebank.h"
#include "data/source_features.h"
#include "kernels/cuda/gpu_kernels.h"
#include "kernels/fast_path.h"
#include "model/size.h"
#include "train/checkpoint.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

// With the sections of options of search and runtime. Throws ConfigError for what is not settable:
// it would have no effect, or not that of a training run with it.
std::vector<Assignment> settings_of(std::vector<Assignment> assignments, Settable settable) {
  std::vector<std::string> allowed = {
      settable == Settable::probabilities ? "search.ensemble" : "search", "runtime"};
  if (settable == Settable::evaluation) {
    allowed.insert(allowed.end(), {"eval", "data.valid", "data.batch_tokens", "data.max_length"});
  }
  const Json sections = write_config(Experiment{}), runtime = write_config(RuntimeConfig{});
  for (auto& [text, path, value] : assignments) {
    if (path.find('.') == path.npos && !sections.value(path, Json()).is_structured()) {
      path.insert(0, runtime.contains(path) ? "runtime." : "search.");
    }
    const auto contains = [&](const std::string& place) { return is_within(path, place); };
    if (std::ranges::any_of(allowed, contains)) continue;
    throw ConfigError("--set " + text + ": cannot be set for a trained model; only options of " +
                      joined(allowed, ", "));
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
      parse_feature_names(read_file(names), names.string()), std::move(loaded), names.string());
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

// "attention: attention (model/transformer/attention.cpp:17)" for each path that is off.
std::string edited_text() {
  std::vector<std::string> paths;
  for (const FastPath path : paths_run_as_read()) {
    paths.push_back(std::string(enum_name(path)) + ": " + joined(edited_formulas(path), ", "));
  }
  return joined(paths, "; ");
}

// The pieces and their order; the segmentation of the first run's tokenizer is used for all.
bool same_pieces(const Tokenizer& one, const Tokenizer& other) {
  bool same = one.size() == other.size() && one.bos() == other.bos() && one.eos() == other.eos();
  for (int64_t id = 0; same && id < one.size(); ++id) same = one.piece(id) == other.piece(id);
  return same;
}

void require_compatible(const LoadedModel& first, const LoadedModel& other) {
  const auto require_equal = [&](bool equal, const std::string& what) {
    if (equal) return;
    throw ConfigError(first.directory.path().string() + " and " + other.directory.path().string() +
                      ": different " + what + "; the members of an ensemble must share it");
  };
  const DataConfig &data = first.experiment.data, &other_data = other.experiment.data;
  require_equal(data.task == other_data.task, "data.task");
  require_equal(data.task != Task::parsing || data.tree_form == other_data.tree_form,
                "data.tree_form");
  const Tokenizers &tokens = first.tokenizers, &other_tokens = other.tokenizers;
  require_equal(same_pieces(*tokens.source, *other_tokens.source), "source vocabulary");
  require_equal(same_pieces(*tokens.target, *other_tokens.target), "target vocabulary");
  const auto features_of = [](const Tokenizers& of) {
    return of.features ? of.features->with_more_tags({})->fingerprint() : 0;  // any tag chosen
  };
  require_equal(features_of(tokens) == features_of(other_tokens), "source features");
}

// The last scheduled checkpoints. Those saved on interruption are excluded, so that the average
// does not depend on interruptions.
std::vector<StoredCheckpoint> last_checkpoints(const AverageOptions& options) {
  const fs::path folder = RunDirectory(options.run).checkpoints();
  require_input(options.run, {InputKind::run});
  const auto any = list_checkpoints(folder);
  if (any.empty())
    throw DataError(options.run.string() + ": no run with checkpoints; give its directory");
  const auto result = read_result(options.run);
  const bool described = ModelDirectory(options.run).has_config();
  const TrainConfig config = load_description(described ? options.run : any.back().path).train;
  const int64_t last_step = result ? result->step : options.last_step;
  auto all = scheduled_checkpoints(folder, checkpoint_schedule(config, last_step));
  const auto count = static_cast<int64_t>(all.size());
  const int64_t last = options.at_most ? std::min(options.last, count) : options.last;
  if (last < 1 || last > count) {
    throw ConfigError("--last " + std::to_string(options.last) + ": the run has " +
                      counted(count, "consecutive checkpoint") +
                      " (see train.checkpoint_every and train.keep_last)");
  }
  all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(last));
  return all;
}

// Whether the directory is what average() writes. It replaces its output, which must not be another
// model's directory.
bool is_average(const fs::path& directory) {
  const ModelDirectory model(directory);
  try {
    return model.has_weights() && SafetensorsFile(model.weights()).metadata().contains("averaged");
  } catch (const DataError&) {
    return false;
  }
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
  write_file_atomically(directory.config(), write_config(experiment).dump(2) + "\n");
}

Tokenizers load_tokenizers(const ModelDirectory& directory) {
  Tokenizers loaded;
  if (fs::exists(directory.shared_tokenizer())) {
    loaded.source = loaded.target = load_tokenizer(directory.shared_tokenizer());
  } else {
    loaded.source = load_tokenizer(directory.source_tokenizer());
    loaded.target = load_tokenizer(directory.target_tokenizer());
  }
  loaded.features = load_features(directory);
  if (const fs::path tags = directory.tags(); fs::exists(tags)) {
    loaded.tags =
        std::make_shared<const TagDictionary>(parse_tag_dictionary(read_file(tags), tags.string()));
  }
  return loaded;
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
                       const std::vector<Assignment>& assignments, Settable settable) {
  const ModelDirectory directory = find_checkpoint(path);
  const std::vector<Assignment> settings = settings_of(assignments, settable);
  const bool evaluates = settable == Settable::evaluation;
  LoadedModel loaded{.directory = directory};
  Experiment& experiment = loaded.experiment;
  experiment = load_description(directory, evaluates ? settings : std::vector<Assignment>());
  if (!evaluates) {  // of a config with all options of the evaluators, so that they stay
    experiment = read_resolved(write_resolved(experiment), directory.config().string(), settings);
  }
  const RunDirectory run = RunDirectory::of_checkpoint(directory.path());
  if (fs::exists(run.change()) && text_at(read_run_file(run), "commit") != version().commit) {
    std::cerr << run.change().string() << ": another program trained the model (" << version_line()
              << " runs here): its formulas may be others\n";
  }
  loaded.tokenizers = load_tokenizers(directory);
  require_weights_of(experiment.model, sizes_of(experiment.data, loaded.tokenizers),
                     directory.weights());
  loaded.model = make_model(experiment, loaded.tokenizers, device);
  load_weights(directory.weights(), *loaded.model);
  loaded.model->eval();
  check_and_report(*loaded.model, experiment.model, {.gradients = false},
                   [](const std::string& line) { std::cerr << line << "\n"; });
  loaded.tokenizers = with_tag(std::move(loaded.tokenizers), experiment.data.tag, "data.tag");
  return loaded;
}

void check_and_report(Seq2SeqModel& model, const ModelConfig& config, const FastPathCheck& check,
                      const Log& log) {
  static std::set<std::string> checked;
  const char* const what = check.gradients ? "gradients" : "losses";
  if (!checked.insert(write_config(config).dump() + model.device().str() + what).second) return;
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
                             const std::vector<Assignment>& assignments, Settable settable) {
  std::vector<LoadedModel> members;
  std::vector<Seq2SeqModel*> models;
  for (const fs::path& path : paths) {
    members.push_back(load_model(path, device, assignments, settable));
    require_compatible(members.front(), members.back());
    models.push_back(members.back().model.get());
  }
  const SearchConfig& search = members.front().experiment.search;
  Tokenizers tokenizers = members.front().tokenizers;
  Ensemble ensemble(std::move(models), search.ensemble);
  return {.members = std::move(members),
          .tokenizers = std::move(tokenizers),
          .models = std::move(ensemble)};
}

std::string average(const AverageOptions& options) {
  const std::vector<StoredCheckpoint> checkpoints = last_checkpoints(options);
  std::vector<fs::path> weights;
  for (const StoredCheckpoint& checkpoint : checkpoints) {
    weights.push_back(ModelDirectory(checkpoint.path).weights());
  }
  const fs::path output =
      options.output.empty() ? RunDirectory(options.run).averaged() : options.output;
  if (fs::exists(output) && !is_average(output)) {
    throw DataError(output.string() +
                    ": exists and is not an averaged checkpoint; give another --output");
  }
  remove_leftovers(output.parent_path(), std::chrono::hours(24));
  AtomicDirectory directory(output, AtomicDirectory::Existing::replace);
  {
    const ProgressLine progress(
        {.what = "averaging " + std::to_string(weights.size()) + " checkpoints", .unit = ""});
    average_weights(weights, ModelDirectory(directory.path()).weights());
  }
  save_description(directory.path(), load_description(checkpoints.back().path),
                   load_tokenizers(checkpoints.back().path));
  directory.commit();
  return "mean of " + counted(std::ssize(checkpoints), "checkpoint") + ", steps " +
         std::to_string(checkpoints.front().step) + " to " +
         std::to_string(checkpoints.back().step) + ": " + output.string();
}

}  // namespace attn
