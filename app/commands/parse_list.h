// Files with parses of numbered sentences: one tree per line, or an n-best list (nbest_list.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/lines.h"
#include "data/parsing/tree.h"

namespace attn {

/// The parses of a sentence by one parser.
struct ParseList {
  std::vector<Tree> trees;
  std::vector<double> log_probs;  ///< of each tree; 0 in a file of trees
  std::string place;              ///< file:line of the first
};

class ParseListReader {
 public:
  /// Throws DataError if the file cannot be opened.
  explicit ParseListReader(const std::filesystem::path& path);

  /// The parses of a sentence (from 0), without trees that have no words. Sentences are requested
  /// in order. Throws DataError with file:line for malformed lines and unsorted lists.
  ParseList parses_of(int64_t sentence);
  bool at_end() const { return !next_; }
  /// Lines of a file of trees; std::nullopt for an n-best list, which may omit sentences.
  std::optional<int64_t> lines() const;
  const std::filesystem::path& path() const { return reader_.path(); }

 private:
  struct Entry {
    int64_t sentence;
    std::optional<Tree> tree;
    double log_prob;
    std::string place;
  };
  void advance();
  Entry entry_of(const std::string& line, const std::string& place) const;

  LineReader reader_;
  bool is_nbest_list_ = false;
  std::optional<Entry> next_;
};

}  // namespace attn
