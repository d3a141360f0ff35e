// Files with parses of numbered sentences: one tree per line, or an n-best list
// (data/nbest_list.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/lines.h"
#include "data/parsing/tree.h"

namespace attn {

/// The parses of a sentence by one parser.
struct ParseList {
  std::vector<Tree> trees;
  std::vector<double> log_probs;    ///< one per tree; 0 in a file of trees
  std::vector<std::string> places;  ///< file:line of each tree
};

/// Reads a file of parses in the order of its sentences. The first line decides whether it is an
/// n-best list.
class ParseListReader {
 public:
  /// Throws DataError if the file cannot be opened or its first line is malformed.
  explicit ParseListReader(const std::filesystem::path& path);

  /// The parses of a sentence (from 0), without trees that have no words. Sentences are requested
  /// in rising order. Throws DataError with file:line for malformed lines and unsorted lists.
  ParseList parses_of(int64_t sentence);
  /// Whether no sentence is left.
  bool at_end() const { return !next_; }
  /// Lines read so far of a file of trees; std::nullopt for an n-best list, which may omit
  /// sentences.
  std::optional<int64_t> lines() const;
  const std::filesystem::path& path() const { return reader_.path(); }

 private:
  struct Entry {
    int64_t sentence = 0;
    std::optional<Tree> tree;
    double log_prob = 0.0;
    std::string place;
  };
  void advance();

  LineReader reader_;
  bool is_nbest_list_ = false;
  std::optional<Entry> next_;
};

/// "kept 3 of 20 sentences (15.0 %)".
std::string kept_text(int64_t kept, int64_t sentences);

/// Throws DataError if files of trees, read to their ends, have different numbers of lines, or an
/// n-best list has more sentences than they have lines (`sentences`: over all files).
void require_same_lines(std::span<const ParseListReader> readers, int64_t sentences);

/// Throws DataError with both places unless all trees of a sentence have the same words.
void require_same_words(std::span<const ParseList> lists);

/// Reads files of parses side by side: calls `use` for every sentence (from 0) with the lists of
/// the files that have parses of it, in the order of the files. Returns the number of sentences.
/// Throws DataError like ParseListReader, like require_same_lines() at the end, and if there are no
/// sentences.
int64_t for_each_sentence(std::span<const std::string> files,
                          const std::function<void(int64_t, std::vector<ParseList>)>& use);

}  // namespace attn
