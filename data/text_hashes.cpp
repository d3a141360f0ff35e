#include "data/text_hashes.h"

#include <sys/stat.h>

#include <ctime>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "base/json_config.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kLargestFile = 1 << 26;
// Seconds. A file modified more recently may be modified again without a new time stamp.
constexpr std::time_t kSettled = 3;

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

TextHashes::TextHashes(fs::path kept) : kept_(std::move(kept)) {
  if (kept_.empty()) return;
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
  } catch (const std::exception&) {  // only a cache: the next process reads the texts again
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

}  // namespace attn
