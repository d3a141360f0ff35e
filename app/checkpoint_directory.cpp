#include "app/checkpoint_directory.h"

#include "app/device.h"

#include "base/error.h"
#include "base/file.h"
#include "data/tag_dictionary.h"
#include "data/treebank.h"
#include "train/checkpoint.h"
#include "train/checkpoint_store.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSharedTokenizer = "tokenizer.model";
constexpr const char* kSourceTokenizer = "source.model";
constexpr const char* kTargetTokenizer = "target.model";
constexpr const char* kTags = "tags.txt";
constexpr int64_t kLargestTags = int64_t{1} << 28;

ModelVocabulary model_vocabulary(const Experiment& experiment, const Tokenizers& tokenizers) {
  ModelVocabulary vocabulary{tokenizers.source->size(), tokenizers.target->size()};
  if (!experiment.model.word_positions) return vocabulary;
  vocabulary.words = leaf_tokens(*tokenizers.target, experiment.data.tree_form);
  if (!vocabulary.words.empty()) return vocabulary;
  throw DataError("model.word_positions: the target vocabulary has no leaves of the form " +
                  std::string(enum_name(experiment.data.tree_form)) + " (data.tree_form) to count");
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

Experiment load_description(const fs::path& directory) {
  return load_experiment(directory / kConfigFile);
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

Transformer make_model(const Experiment& experiment, const Tokenizers& tokenizers) {
  Transformer model(experiment.model, model_vocabulary(experiment, tokenizers));
  model->to(device());
  return model;
}

fs::path find_checkpoint(const fs::path& path) {
  if (fs::exists(path / kWeightsFile)) return path;
  if (fs::exists(path / kAveragedFolder / kWeightsFile)) return path / kAveragedFolder;
  if (!fs::exists(path)) throw DataError(path.string() + ": there is no such run or checkpoint");
  const fs::path checkpoints = path / kCheckpointsFolder;
  if (const auto best = best_checkpoint(checkpoints)) return best->checkpoint.path;
  const std::array<std::string_view, 2> needed = {kWeightsFile, kConfigFile};
  if (const auto last = latest_checkpoint(checkpoints, needed)) return last->path;
  throw DataError(path.string() + ": neither a checkpoint (no " + kWeightsFile +
                  ") nor a run that has saved one; `attn train` makes one");
}

fs::path run_of(const fs::path& checkpoint) {
  const fs::path path = checkpoint.has_filename() ? checkpoint : checkpoint.parent_path();
  const fs::path above = path.parent_path();
  if (path.filename() == kAveragedFolder) return above;
  return above.filename() == kCheckpointsFolder ? above.parent_path() : path;
}

SearchConfig search_with(const Experiment& experiment,
                         const std::vector<std::string>& assignments) {
  Json whole;
  whole["search"] = write_config(experiment.search);
  for (const std::string& assignment : assignments) {
    const bool named = assignment.starts_with("search.") || assignment.starts_with("search=");
    set_path(named ? whole : whole["search"], assignment);
  }
  SearchConfig config;
  read_config(config, whole["search"], "search");
  return config;
}

LoadedModel load_model(const fs::path& path) {
  LoadedModel loaded{.directory = find_checkpoint(path)};
  loaded.experiment = load_description(loaded.directory);
  loaded.tokenizers = load_tokenizers(loaded.directory);
  loaded.model = make_model(loaded.experiment, loaded.tokenizers);
  load_weights(loaded.directory / kWeightsFile, *loaded.model);
  loaded.model->eval();
  return loaded;
}

}  // namespace attn
