#include "data/text_hashes.h"

#include <utility>

#include "base/hash.h"
#include "base/json_config.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> training_files(const DataConfig& data) {
  std::vector<fs::path> files;
  const auto add = [&](const std::string& text) {
    for (fs::path& file : text_files(data, text)) files.push_back(std::move(file));
  };
  add(data.train);
  for (const std::string& text : data.silver) add(text);  // parsers only
  for (const TextSource& one : data.sources) add(one.text);
  return files;
}

}  // namespace

std::optional<uint64_t> TextHashes::of(const fs::path& text) {
  if (!fs::exists(text)) return {};
  const std::string name = fs::absolute(text).string();
  const auto known = known_.find(name);
  return known != known_.end() ? known->second : known_[name] = hash_file(text);
}

std::string key_of_hash(uint64_t hash) {
  Hasher key;
  key.update(hash);
  return to_hex(key.digest());
}

std::string key_of(const std::vector<fs::path>& files, TextHashes& hashes) {
  Hasher key;
  for (const fs::path& file : files) {
    const auto hash = hashes.of(file);
    if (!hash) return "";
    key.update(*hash);
  }
  return to_hex(key.digest());
}

std::map<std::string, std::string> training_keys(const DataConfig& data, TextHashes& hashes) {
  std::map<std::string, std::string> keys = {{"train", key_of(training_files(data), hashes)}};
  if (!data.source_model.empty()) keys["source_model"] = key_of({data.source_model}, hashes);
  if (!data.target_model.empty()) keys["target_model"] = key_of({data.target_model}, hashes);
  std::erase_if(keys, [](const auto& entry) { return entry.second.empty(); });
  return keys;
}

DataConfig without_features(DataConfig data) {
  data.tag.clear();
  data.word_classes = false;
  data.word_pieces = 0;
  data.word_dropout = 0.0;
  return data;
}

std::string vocabulary_key(const DataConfig& data, TextHashes& hashes) {
  DataConfig key = data;  // unrelated options at their defaults
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
  return to_hex(hash_text(write_config(key).dump()));
}

}  // namespace attn
