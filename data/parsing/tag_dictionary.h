// The part-of-speech tags of each word in the training trees, which can constrain search: a model
// that generates tags without words easily loses count of the words in long sentences.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/config.h"
#include "data/parsing/linearize.h"

namespace attn {

class TagDictionary {
 public:
  /// Counts one tree's leaves: the i-th word with the i-th leaf's symbol.
  void add(std::span<const std::string> words, std::span<const std::string> leaves);

  /// The leaf symbols of a word that was seen `least` times or more, without those of less than
  /// `rare_share` of them (treebanks tag a comma NN now and then); empty for any other word.
  static constexpr double rare_share = 0.02;
  std::vector<std::string> symbols(std::string_view word, int64_t least) const;
  int64_t size() const { return static_cast<int64_t>(counts_.size()); }

  /// One line per word: the word, a tab, and its symbols with their counts, as in "run\tVB:3 NN:1".
  std::string serialized() const;

 private:
  friend TagDictionary parse_tag_dictionary(std::string_view text, const std::string& name);
  std::map<std::string, std::map<std::string, int64_t>, std::less<>> counts_;
};

/// Throws DataError with name:line for anything that `serialized` would not have written.
TagDictionary parse_tag_dictionary(std::string_view text, const std::string& name);

/// Reads parallel text of words and symbols (see data/parsing/treebank.h). Throws DataError when a
/// tree has not as many leaves as its line has words.
TagDictionary learn_tags(const std::filesystem::path& words, const std::filesystem::path& symbols,
                         TreeForm form, const LabelSet& labels);

}  // namespace attn
