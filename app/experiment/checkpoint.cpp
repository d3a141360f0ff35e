#include "app/experiment/checkpoint.h"

#include <algorithm>

#include "app/experiment/run_result.h"
#include "app/machine/device.h"
#include "base/error.h"
#include "base/file.h"
#include "data/parsing/tag_dictionary.h"
#include "data/parsing/treebank.h"
#include "data/token_counter.h"
#include "train/checkpoint.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSharedTokenizer = "tokenizer.model";
constexpr const char* kSourceTokenizer = "source.model";
constexpr const char* kTargetTokenizer = "target.model";
constexpr const char* kTags = "tags.txt";
const std::array<std::string, 2> kSearchSections = {"search", "runtime"};
constexpr int64_t kLargestTags = int64_t{1} << 28;

// The last step that a run is known to have made if it has saved a checkpoint, else 0: one that was
// killed before has nothing to lose.
int64_t saved_step(const fs::path& run) {
  const fs::path folder = run / kCheckpointsFolder;
  const auto result = read_result(run);
  int64_t step = result ? result->step : 0;
  const auto there = list_checkpoints(folder);
  if (!there.empty()) step = std::max({step, there.back().step, int64_t{1}});
  int64_t measured = 0;
  for (const Json& record : read_metrics(run)) {
    measured = std::max(measured, static_cast<int64_t>(number_at(record, "step").value_or(0)));
  }
  const auto described = read_run_file(run);
  const bool saved =
      step > 0 || fs::exists(folder / "best") ||
      (described && described->contains(kFirstCheckpoint)) ||
      // Of older versions, which did not note it: the log goes on after a scheduled checkpoint.
      (fs::exists(run / kConfigFile) && measured > load_description(run).train.checkpoint_every);
  return saved ? std::max({step, measured, int64_t{1}}) : 0;
}

}  // namespace

void save_description(const fs::path& directory, const Experiment& experiment,
                      const Tokenizers& tokenizers) {
  if (tokenizers.source == tokenizers.target) {
    write_file_atomically(directory / kSharedTokenizer, tokenizers.source->serialized());
  } else {
    write_file_atomically(directory / kSourceTokenizer, tokenizers.source->serialized());
    write_file_atomically(directory / kTargetTokenizer, tokenizers.target->serialized());
  }
  if (tokenizers.tags) write_file_atomically(directory / kTags, tokenizers.tags->serialized());
  // Last, since where it is the others are taken to be.
  write_file_atomically(directory / kConfigFile, write_experiment(experiment).dump(2) + "\n");
}

Tokenizers load_tokenizers(const fs::path& directory) {
  if (fs::exists(directory / kSharedTokenizer)) {
    const std::shared_ptr<const Tokenizer> shared = load_tokenizer(directory / kSharedTokenizer);
    return {shared, shared};
  }
  Tokenizers loaded{load_tokenizer(directory / kSourceTokenizer),
                    load_tokenizer(directory / kTargetTokenizer)};
  if (const fs::path tags = directory / kTags; fs::exists(tags)) {
    loaded.tags = std::make_shared<const TagDictionary>(
        parse_tag_dictionary(read_file(tags, kLargestTags), tags.string()));
  }
  return loaded;
}

void set_target_counter(const Experiment& experiment, Tokenizers& tokenizers) {
  if (!experiment.model.counts_words()) return;
  const TreeForm form = experiment.data.tree_form;
  const std::vector<int32_t> leaves = leaf_tokens(*tokenizers.target, form);
  if (leaves.empty()) {
    throw DataError("model.word_positions: the target vocabulary has no leaves of the form " +
                    std::string(enum_name(form)) + " (data.tree_form) to count");
  }
  tokenizers.target_counter =
      std::make_shared<const TokenCounter>(tokenizers.target->size(), leaves);
}

std::shared_ptr<Seq2SeqModel> make_model(const Experiment& experiment,
                                         const Tokenizers& tokenizers) {
  const VocabularySizes sizes{tokenizers.source->size(), tokenizers.target->size()};
  auto model = make_model(with_runtime(experiment.model, experiment.runtime), sizes);
  model->to(device());
  return model;
}

fs::path find_checkpoint(const fs::path& path) {
  if (fs::exists(path / kWeightsFile)) return path;
  if (fs::exists(path / kAveragedFolder / kWeightsFile)) return path / kAveragedFolder;
  if (const auto left = interrupted_replacement(path / kAveragedFolder)) {
    throw DataError(left->string() + ": left under this name when `attn average` was killed; run " +
                    "it again, or rename this to " + kAveragedFolder);
  }
  if (!fs::exists(path)) throw DataError(path.string() + ": there is no such run or checkpoint");
  const fs::path checkpoints = path / kCheckpointsFolder;
  if (const auto best = best_checkpoint(checkpoints)) return best->checkpoint.path;
  const std::array<std::string_view, 2> needed = {kWeightsFile, kConfigFile};
  if (const auto last = latest_checkpoint(checkpoints, needed)) return last->path;
  throw DataError(path.string() + ": neither a checkpoint (no " + kWeightsFile +
                  ") nor a run that has saved one; `attn train` makes one");
}

void require_no_checkpoint(const fs::path& path) {
  const fs::path whole = fs::absolute(path / ".").lexically_normal().parent_path();
  const bool folder = whole.filename() == kCheckpointsFolder;
  const fs::path run = folder ? whole.parent_path() : run_of(whole);
  const bool inside = run != whole && fs::exists(run / kConfigFile);
  if (!fs::is_directory(path) || (!inside && !fs::exists(path / kWeightsFile))) return;
  const fs::path shown = path.is_absolute() ? run : run.lexically_proximate(fs::current_path());
  throw ConfigError(
      path.string() + ": is " + (folder ? "the folder of a run's checkpoints" : "a checkpoint") +
      ", not a run; " +
      (inside ? "the run is " + shown.string() : "give the directory of the run that it is from"));
}

void require_nothing_lost(const fs::path& run) {
  const fs::path folder = run / kCheckpointsFolder;
  if (latest_checkpoint(folder)) return;
  const int64_t step = saved_step(run);
  if (step == 0) return;
  std::string missing = folder.string() + " holds none";
  const auto broken = list_checkpoints(folder);
  if (!fs::exists(folder)) missing = "there is no " + folder.string();
  try {
    if (!broken.empty()) verify_checkpoint(broken.back().path);
  } catch (const DataError& error) {
    missing = error.what();
  }
  throw DataError(run.string() + ": trained to step " + std::to_string(step) +
                  ", but no checkpoint is whole (" + missing +
                  "); put back what is missing, or start a new run with --run");
}

CheckpointSchedule checkpoint_schedule(const TrainConfig& config, int64_t last_step) {
  return {.every = config.checkpoint_every, .end = last_step > 0 ? last_step : config.steps};
}

fs::path run_of(const fs::path& checkpoint) {
  const fs::path path = checkpoint.has_filename() ? checkpoint : checkpoint.parent_path();
  const fs::path above = path.parent_path();
  if (path.filename() == kAveragedFolder) return above;
  return above.filename() == kCheckpointsFolder ? above.parent_path() : path;
}

std::vector<std::string> search_assignments(std::vector<std::string> assignments) {
  for (std::string& assignment : assignments) {
    const bool whole = std::any_of(
        kSearchSections.begin(), kSearchSections.end(), [&](const std::string& section) {
          return assignment.starts_with(section + ".") || assignment.starts_with(section + "=");
        });
    if (!whole) assignment.insert(0, "search.");
  }
  return assignments;
}

LoadedModel load_model(const fs::path& path, const std::vector<std::string>& assignments) {
  LoadedModel loaded{.directory = find_checkpoint(path)};
  Experiment trained = load_description(loaded.directory);
  loaded.experiment = load_description(loaded.directory, assignments);
  trained.runtime = loaded.experiment.runtime;
  loaded.tokenizers = load_tokenizers(loaded.directory);
  set_target_counter(trained, loaded.tokenizers);
  loaded.model = make_model(trained, loaded.tokenizers);
  load_weights(loaded.directory / kWeightsFile, *loaded.model);
  loaded.model->eval();
  return loaded;
}

}  // namespace attn
