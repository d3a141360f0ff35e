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

/// Content hashes of files, each of which is read once.
class TextHashes {
 public:
  /// The hash of a file; std::nullopt if it does not exist.
  std::optional<uint64_t> of(const std::filesystem::path& text);

 private:
  std::map<std::string, uint64_t> known_;  // by absolute path
};

/// One key for the contents of several files; empty if one of them is missing.
std::string key_of(const std::vector<std::filesystem::path>& files, TextHashes& hashes);
/// The key of one file with this hash (hash_file).
std::string key_of_hash(uint64_t hash);

/// Keys of the files that training reads, by option: "train" and, if set, "source_model" and
/// "target_model". Missing files are omitted.
std::map<std::string, std::string> training_keys(const DataConfig& data, TextHashes& hashes);

/// Without source features, which each run learns itself.
DataConfig without_features(DataConfig data);
/// Hash of the options that determine a vocabulary, with the contents of the texts.
std::string vocabulary_key(const DataConfig& data, TextHashes& hashes);

}  // namespace attn
