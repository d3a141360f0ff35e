// Which texts a result stands for: content hashes, to notice that a file has changed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/config.h"

namespace attn {

/// Hashes of files' contents. Those of files that have not been touched since are kept in memory
/// and, with a name, in a file, so that large texts are read once.
class TextHashes {
 public:
  /// `kept` is the file; empty: none. A file that can't be read is as good as none.
  explicit TextHashes(std::filesystem::path kept = {});
  /// Writes the file if there is something new; one that can't be written is left out.
  ~TextHashes();
  TextHashes(const TextHashes&) = delete;
  TextHashes& operator=(const TextHashes&) = delete;

  /// Nothing where there is no such file.
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

/// One key for the contents of several files; empty when one of them is not there.
std::string key_of(const std::vector<std::filesystem::path>& files, TextHashes& hashes);

/// By what they are for, keys of what a run reads to be trained: "train" and, where the config
/// names them, "source_model" and "target_model". What is not there is left out.
std::map<std::string, std::string> training_keys(const DataConfig& data, TextHashes& hashes);

}  // namespace attn
