// Treebanks as parallel text: the words of each tree on one line of one file, its symbols
// (data/parsing/linearize.h) on the same line of another. A parser is then trained like
// a translator.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "data/lines.h"
#include "data/parsing/linearize.h"
#include "data/parsing/tree.h"
#include "data/tokenizer.h"

namespace attn {

/// Reads the trees of a file one by one, in constant memory.
class TreeReader {
 public:
  /// Throws DataError when the file cannot be opened.
  explicit TreeReader(const std::filesystem::path& path, const TreeOptions& options = {});
  /// The next tree; false at the end. Throws DataError like parse_trees, and for a line or a tree
  /// beyond any size.
  bool next(Tree& tree);
  /// The line, from 1, on which the tree that next() gave begins, or the one before it in its line.
  int64_t line() const { return line_; }
  /// LineReader::hash of the file.
  uint64_t hash() const { return lines_.hash(); }

 private:
  bool fill();

  LineReader lines_;
  TreeOptions options_;
  int64_t line_ = 0;
  std::vector<Tree> trees_;  // of the last lines read, the next one at the end
};

/// What the config says about reading trees.
TreeOptions tree_options(const DataConfig& data);

/// A tree as it is trained on and searched for: without empty constituents, below its outer
/// bracket. One of several constituents stays and is labelled TOP, whatever the treebank calls it.
Tree bare_tree(Tree tree);

/// The tree under an outer bracket TOP, as a parser writes it. An outer bracket with the label of
/// another root (see `is_root_label`) becomes TOP.
Tree with_root(Tree tree);

/// A gold tree as a parser that finds all of it writes it: what predictions are compared with.
Tree as_parsed(Tree gold);

/// Of the symbols that a vocabulary holds, the labels of constituents.
LabelSet vocabulary_labels(const Tokenizer& symbols, TreeForm form);

/// What the tokens of a vocabulary of symbols mean; nothing for special tokens and other tokens.
std::vector<std::optional<TreeSymbol>> vocabulary_symbols(const Tokenizer& symbols, TreeForm form);

/// Those of the tokens that stand for a word each.
std::vector<int32_t> leaf_tokens(const Tokenizer& symbols, TreeForm form);

/// The languages of the two texts below.
inline constexpr const char* kWordsSuffix = "words";
inline constexpr const char* kSymbolsSuffix = "symbols";

/// For a translation the config itself. For parsing, the same with `train` changed to parallel text
/// made from data.train and data.silver in the cache directory, or left there by an earlier call.
/// Trees without words are left out. With data.silver_ratio = r > 0 there are r silver trees for
/// each gold one: of the kind that is too few each tree comes floor(n) or floor(n) + 1 times, at
/// random by `seed`. Throws ConfigError or DataError.
DataConfig with_training_text(const DataConfig& data, const std::filesystem::path& cache,
                              uint64_t seed, const Log& log = {});

/// Where the tree on a line, from 1, of with_training_text's text is in its treebank: "wsj.mrg:12".
/// Reads the treebanks. Throws ConfigError or DataError.
std::string training_tree_place(const DataConfig& data, uint64_t seed, int64_t line);

/// The same with each tree once, whatever data.silver_ratio: the text that vocabularies and tag
/// dictionaries are learnt from. How often a tree is repeated says nothing about how frequent its
/// words are.
DataConfig with_vocabulary_text(const DataConfig& data, const std::filesystem::path& cache);

/// The prefix of parallel text made of one file of trees in the same way, for validation. `labels`
/// are those of the training text.
std::string tree_text(const std::filesystem::path& trees, const DataConfig& data,
                      const LabelSet& labels, const std::filesystem::path& cache);

}  // namespace attn
