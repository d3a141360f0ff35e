#include "app/sweep/prepare.h"

#include "app/experiment/input_kind.h"
#include "app/experiment/run_directory.h"
#include "app/experiment/run_lock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "data/corpus_check.h"
#include "data/parsing/treebank.h"
#include "data/text_hashes.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

// Without source features, which each run learns itself.
DataConfig without_features(DataConfig data) {
  data.tag.clear();
  data.word_classes = false;
  data.word_pieces = 0;
  data.word_dropout = 0.0;
  return data;
}

// The options that determine a vocabulary: with hashes of the texts instead of paths, and unrelated
// options at their defaults.
std::string vocabulary_key(const DataConfig& data, TextHashes& hashes) {
  DataConfig key = data;
  const DataConfig defaults;
  DataConfig text = data;
  text.source_model = text.target_model = "";
  for (std::string* model : {&key.source_model, &key.target_model}) {
    if (!model->empty()) *model = key_of({*model}, hashes);
  }
  key.train = training_keys(text, hashes)["train"];
  key.silver = std::vector<std::string>(data.silver.size());
  key.sources = std::vector<TextSource>(data.sources.size());
  key = without_features(key);
  key.valid = defaults.valid;
  key.max_length = defaults.max_length;
  key.batch_tokens = defaults.batch_tokens;
  key.cache = defaults.cache;
  return write_config(key).dump();
}

// Trains the tokenizers of both sides into a folder, atomically.
void learn_into(const fs::path& folder, const DataConfig& data, const Log& log) {
  const fs::path cache = folder.parent_path().parent_path() / "cache";
  const DataConfig text = with_training_text(data, cache, 1, log);
  check_texts(text_path(text.train, text.source), text_path(text.train, text.target));
  const Tokenizers made = make_tokenizers(without_features(with_vocabulary_text(data, cache)), log);
  AtomicDirectory directory(folder, AtomicDirectory::Existing::replace);
  const ModelDirectory both(directory.path());
  write_file_atomically(both.source_tokenizer(), made.source->serialized());
  if (made.target != made.source) {
    write_file_atomically(both.target_tokenizer(), made.target->serialized());
  }
  directory.commit();
}

bool is_complete(const DataConfig& data) {
  return !data.source_model.empty() && (data.shared_vocabulary || !data.target_model.empty());
}

// A trained run keeps its own vocabulary, even if the sweep directory was moved.
void keep_vocabulary(PlannedRun& run) {
  const RunDirectory started(run.directory);
  if (is_complete(run.experiment.data) || !started.has_config() || !started.has_trained()) return;
  const DataConfig before = load_resolved(started.config()).data;
  run.experiment.data.source_model = before.source_model;
  run.experiment.data.target_model = before.target_model;
}

void share_vocabulary(DataConfig& data, const fs::path& sweep, TextHashes& hashes, const Log& log) {
  if (is_complete(data)) return;
  const fs::path folder = sweep / "vocabulary" / to_hex(hash_text(vocabulary_key(data, hashes)));
  const ModelDirectory both(folder);
  const auto missing = [&] {  // also if files of the folder were lost
    return !fs::exists(both.source_tokenizer()) ||
           (!data.shared_vocabulary && !fs::exists(both.target_tokenizer()));
  };
  if (missing()) {
    const RunLock lock(sweep / "vocabulary", 3600.0);  // other jobs of the array may wait for it
    if (missing()) learn_into(folder, data, log);
  }
  // One of two separate vocabularies may be given: the run has it by its own path.
  if (data.source_model.empty()) data.source_model = both.source_tokenizer().string();
  if (!data.shared_vocabulary && data.target_model.empty()) {
    data.target_model = both.target_tokenizer().string();
  }
}

Json describe(const SweepPlan& plan) {
  Json rows = Json::array();
  for (const PlannedRow& row : plan.rows) {
    rows.push_back({{"name", row.name},
                    {"about", row.about},
                    {"group", row.group},
                    {"baseline", plan.rows[row.baseline].name},
                    {"seeds", row.seeds},
                    {"seeds_in_file", row.seeds_in_file},
                    {"paper", write_config(row.paper)},
                    {"changed", row.changed},
                    {"config", write_config(row.experiment)}});
  }
  return {{"source", plan.source.string()},
          {kSourceFromHere, fs::proximate(plan.source, plan.directory).string()},
          {"command", plan.command},
          {"seeds", plan.seeds},
          {"about", plan.file.about},
          {"published", write_config(plan.file).at("published")},
          {"metrics", write_config(plan.metrics)},
          {"rows", rows}};
}

void write_if_changed(const fs::path& path, const std::string& text) {
  if (!fs::exists(path) || read_file(path) != text) write_file_atomically(path, text);
}

}  // namespace

fs::path run_config(const PlannedRun& run) {
  return fs::path(run.directory).concat(".json");
}

fs::path run_log(const PlannedRun& run) {
  return fs::path(run.directory).concat(".log");
}

fs::path hash_cache_file(const fs::path& sweep) {
  return sweep / "cache" / "texts.json";
}

void prepare_sweep(SweepPlan& plan, const Log& log) {
  for (const PlannedRun& run : plan.runs) {
    try {
      run.experiment.require_texts();
    } catch (const DataError& error) {
      throw DataError(plan.source.string() + ": row " + plan.rows[run.row].name + ": " +
                      error.what());
    }
  }
  make_directories(plan.directory);
  for (const char* folder : {"", "vocabulary", "cache"}) {
    remove_leftovers(plan.directory / folder, std::chrono::hours(24));
  }
  write_if_changed(plan.directory / kSweepFile, describe(plan).dump(2) + "\n");
  TextHashes hashes(hash_cache_file(plan.directory));
  for (PlannedRun& run : plan.runs) {
    DataConfig& data = run.experiment.data;
    keep_vocabulary(run);
    // With init_from the run takes the checkpoint's vocabularies, which its weights need.
    if (run.experiment.train.init_from.empty()) {
      share_vocabulary(data, plan.directory, hashes, log);
    }
    if (data.cache.empty()) data.cache = (plan.directory / "cache").string();
    make_directories(run.directory.parent_path());
    write_if_changed(run_config(run), write_experiment(run.experiment).dump(2) + "\n");
  }
}

}  // namespace attn
