// The part-of-speech tags of each word in the training trees, as a constraint for search. A model
// that generates tags without words easily loses count of the words in long sentences.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/config.h"
#include "data/parsing/linearize.h"

namespace attn {

class TagDictionary {
 public:
  /// Counts the leaves of one tree: the i-th word with the i-th leaf symbol.
  void add(std::span<const std::string> words, std::span<const std::string> leaves);

  /// The leaf symbols of a word that was seen at least `min_count` times, without symbols below a
  /// share of `rare_share` (annotation errors: treebanks tag a comma NN now and then); empty for
  /// other words.
  static constexpr double rare_share = 0.02;
  std::vector<std::string> symbols(std::string_view word, int64_t min_count) const;
  int64_t size() const { return static_cast<int64_t>(counts_.size()); }

  /// One line per word: the word, a tab, and its symbols with their counts, as in "run\tVB:3 NN:1".
  std::string serialized() const;

 private:
  friend TagDictionary parse_tag_dictionary(std::string_view text, const std::string& name);
  std::map<std::string, std::map<std::string, int64_t>, std::less<>> counts_;
};

/// Reads the output of `serialized`. Throws DataError with name:line for invalid lines.
TagDictionary parse_tag_dictionary(std::string_view text, const std::string& name);

/// Builds the dictionary from parallel text of words and symbols (see data/parsing/treebank.h).
/// Throws DataError if the number of leaves of a tree differs from the number of words.
TagDictionary learn_tags(const std::filesystem::path& words, const std::filesystem::path& symbols,
                         TreeForm form, const LabelSet& labels);

}  // namespace attn
