// Content hashes of the texts that a run reads, to detect changed files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/config.h"

namespace attn {

/// Content hashes of files, cached in memory and optionally in a file as long as inode, size and
/// times of the hashed file are unchanged, so that large texts are read only once.
class TextHashes {
 public:
  /// `kept` is the cache file; empty: none. An unreadable cache file is ignored.
  explicit TextHashes(std::filesystem::path kept = {});
  /// Writes the cache file if there are new hashes. Errors are ignored.
  ~TextHashes();
  TextHashes(const TextHashes&) = delete;
  TextHashes& operator=(const TextHashes&) = delete;

  /// The hash of a file; std::nullopt if it does not exist.
  std::optional<uint64_t> of(const std::filesystem::path& text);

 private:
  struct Entry {
    std::string stamp;  ///< inode, size and times
    uint64_t hash = 0;
  };
  std::filesystem::path kept_;
  std::map<std::string, Entry> entries_;
  bool changed_ = false;
};

/// One key for the contents of several files; empty if one of them is missing.
std::string key_of(const std::vector<std::filesystem::path>& files, TextHashes& hashes);
/// The key of one file with this hash (hash_file).
std::string key_of_hash(uint64_t hash);

/// Keys of the files that training reads, by option: "train" and, if set, "source_model" and
/// "target_model". Missing files are omitted.
std::map<std::string, std::string> training_keys(const DataConfig& data, TextHashes& hashes);

}  // namespace attn
