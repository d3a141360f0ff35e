#include "app/text_keys.h"

#include <sys/stat.h>

#include <ctime>

#include "app/run_result.h"
#include "base/file.h"
#include "base/hash.h"
#include "train/checkpoint_store.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLargestFile = 1 << 26;
// A file that was touched this short a time ago may be written again within its time's grain.
constexpr std::time_t kSettled = 3;
constexpr const char* kCheckpoints = "checkpoints";

struct Stamp {
  std::string text;
  std::time_t changed = 0;
};

std::optional<Stamp> stamp_of(const fs::path& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return {};
#ifdef __APPLE__
  const timespec &written = file.st_mtimespec, &changed = file.st_ctimespec;
#else
  const timespec &written = file.st_mtim, &changed = file.st_ctim;
#endif
  std::string text;
  for (const int64_t part :
       {static_cast<int64_t>(file.st_ino), static_cast<int64_t>(file.st_size),
        static_cast<int64_t>(written.tv_sec), static_cast<int64_t>(written.tv_nsec),
        static_cast<int64_t>(changed.tv_sec), static_cast<int64_t>(changed.tv_nsec)}) {
    text += std::to_string(part);
    text += ' ';
  }
  return Stamp{std::move(text), std::max(written.tv_sec, changed.tv_sec)};
}

// One key for several files; empty when one of them is not there.
std::string key_of(const std::vector<fs::path>& files, TextHashes& hashes) {
  Hasher key;
  for (const fs::path& file : files) {
    const auto hash = hashes.of(file);
    if (!hash) return "";
    key.update(*hash);
  }
  return to_hex(key.digest());
}

std::vector<fs::path> training_files(const DataConfig& data) {
  if (data.task == Task::translation) {
    return {text_path(data.train, data.source), text_path(data.train, data.target)};
  }
  std::vector<fs::path> files = {data.train};
  files.insert(files.end(), data.silver.begin(), data.silver.end());
  return files;
}

}  // namespace

TextHashes::TextHashes(fs::path kept) : kept_(std::move(kept)) {
  if (kept_.empty() || !fs::exists(kept_)) return;
  try {
    const Json files = parse_json(read_file(kept_, kLargestFile), kept_.string());
    for (const auto& [path, entry] : files.items()) {
      const auto hash = entry.at("hash").get<std::string>();
      entries_[path] = {entry.at("stamp").get<std::string>(), std::stoull(hash, nullptr, 16)};
    }
  } catch (const std::exception&) {
    entries_.clear();
  }
}

TextHashes::~TextHashes() {
  if (kept_.empty() || !changed_) return;
  try {
    Json files = Json::object();
    for (const auto& [path, entry] : entries_) {
      files[path] = {{"stamp", entry.stamp}, {"hash", to_hex(entry.hash)}};
    }
    fs::create_directories(kept_.parent_path());
    write_file_atomically(kept_, files.dump(1) + "\n");
  } catch (const std::exception&) {  // the next call reads the texts again
  }
}

std::optional<uint64_t> TextHashes::of(const fs::path& text) {
  const auto stamp = stamp_of(text);
  if (!stamp) return {};
  const std::string name = fs::absolute(text).string();
  if (const auto known = entries_.find(name);
      known != entries_.end() && known->second.stamp == stamp->text) {
    return known->second.hash;
  }
  const std::time_t now = std::time(nullptr);
  const uint64_t hash = hash_file(text);
  if (stamp->changed + kSettled <= now) {
    entries_[name] = {stamp->text, hash};
    changed_ = true;
  }
  return hash;
}

std::map<std::string, std::string> training_keys(const DataConfig& data, TextHashes& hashes) {
  std::map<std::string, std::string> keys = {{"train", key_of(training_files(data), hashes)}};
  if (!data.source_model.empty()) keys["source_model"] = key_of({data.source_model}, hashes);
  if (!data.target_model.empty()) keys["target_model"] = key_of({data.target_model}, hashes);
  std::erase_if(keys, [](const auto& entry) { return entry.second.empty(); });
  return keys;
}

std::string evaluation_key(const EvaluatorConfig& config, const DataConfig& data,
                           TextHashes& hashes) {
  const std::string text = config.data.empty() ? data.valid : config.data;
  std::vector<fs::path> files = {text};
  if (data.task == Task::translation) {
    files = {text_path(text, data.source), text_path(text, data.target)};
  }
  if (config.kind == EvaluatorKind::parse && !config.params.empty()) {
    files.emplace_back(config.params);
  }
  return key_of(files, hashes);
}

bool has_trained(const fs::path& run) {
  return fs::exists(run / kResultFile) || !list_checkpoints(run / kCheckpoints).empty();
}

std::vector<std::string> changed_texts(const fs::path& run, const Experiment& now,
                                       TextHashes& hashes) {
  std::vector<std::string> changed;
  if (!has_trained(run)) return changed;
  const auto facts = read_run_file(run);
  if (facts && facts->contains("texts") && facts->at("texts").is_object()) {
    const Json& before = facts->at("texts");
    const std::map<std::string, std::string> names = {{"train", now.data.train},
                                                      {"source_model", now.data.source_model},
                                                      {"target_model", now.data.target_model}};
    for (const auto& [what, key] : training_keys(now.data, hashes)) {
      if (!before.contains(what) || before.at(what) == Json(key)) continue;
      changed.push_back(std::string("data.").append(what).append(" (") + names.at(what) + ")");
    }
  }
  const auto result = finished_result(run, now.train);
  if (!result) return changed;
  for (const EvaluatorConfig& config : now.eval) {
    const auto found = result->results.find(config.name);
    if (found == result->results.end() || found->second.text.empty()) continue;
    const std::string key = evaluation_key(config, now.data, hashes);
    if (key.empty() || key == found->second.text) continue;
    const std::string text = config.data.empty() ? now.data.valid : config.data;
    changed.push_back("evaluator " + config.name + " (" + text + ")");
  }
  return changed;
}

}  // namespace attn
