// A synchronous grammar: each rule has an English and a German right side, so that a sentence, its
// tree and its translation are generated together. The built-in grammar and the form of rules are
// in data/synthetic/grammar.txt.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "data/parsing/tree.h"

namespace attn {

/// A truecased sentence pair. Tokens are separated by single spaces.
struct GeneratedPair {
  std::string english;
  std::string german;
  Tree tree;  ///< the English sentence under a TOP bracket; its leaves are the English tokens
};

class SynchronousGrammar {
 public:
  /// Throws DataError with the line of a rule that is malformed or used in no sentence.
  explicit SynchronousGrammar(std::string_view text);

  /// Rewrites TOP with rules drawn by their weights. The same on every platform.
  GeneratedPair sample(Random& random) const;

 private:
  class Reader;
  using Words = std::vector<std::string>;
  /// The German side of a phrase, in parts that need not be adjacent.
  using Parts = std::vector<Words>;
  struct Rule {
    Tree english;   ///< an empty constituent is a symbol
    Parts german;   ///< "2a": the first part of the second symbol
    Words symbols;  ///< of the English side, from left to right
  };
  /// The rules of one left side that one line stands for: they share its weight.
  struct Choice {
    uint64_t weight = 1;
    std::vector<size_t> lines;  ///< of the rule and the row
    std::vector<Rule> rules;
  };

  void drop_undefined();
  void drop_unreachable();
  std::pair<Tree, Parts> rewrite(const std::string& symbol, Random& random) const;

  std::map<std::string, std::vector<Choice>> choices_;  // by left side
  std::map<std::pair<std::string, std::string>, std::string> contractions_;
};

/// The grammar of data/synthetic/grammar.txt.
const SynchronousGrammar& built_in_grammar();

}  // namespace attn
