// Converts treebanks to parallel text: the words of each tree on a line of one file, its symbols
// (data/parsing/linearize.h) on the same line of another. A parser is then trained like a
// translator.
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
  /// Throws DataError if the file cannot be opened.
  explicit TreeReader(const std::filesystem::path& path, const TreeOptions& options = {});
  /// Reads the next tree; false at the end. Throws DataError like parse_trees, and for lines above
  /// 1 MiB and trees above 16 MiB.
  bool next(Tree& tree);
  /// The line, from 1, on which the last tree begins, or the first of several trees on one line.
  int64_t line() const { return line_; }
  /// LineReader::hash of the file.
  uint64_t hash() const { return lines_.hash(); }

 private:
  bool fill();

  LineReader lines_;
  TreeOptions options_;
  int64_t line_ = 0;
  std::vector<Tree> trees_;  // trees of the last lines read, the next one at the end
};

/// The config's options for reading treebanks.
TreeOptions tree_options(const DataConfig& data);

/// A tree as used in training and search: without empty constituents and without its outer bracket.
/// An outer bracket with several children is kept and labelled TOP.
Tree bare_tree(Tree tree);

/// The tree under an outer bracket TOP, as in parser output. An outer bracket with a different root
/// label (see `is_root_label`) becomes TOP.
Tree with_root(Tree tree);

/// A gold tree in the form of parser output, for comparison with predictions.
Tree as_parsed(Tree gold);

/// The constituent labels of a vocabulary of symbols.
LabelSet vocabulary_labels(const Tokenizer& symbols, TreeForm form);

/// The symbol of each token of a vocabulary; std::nullopt for special tokens and non-symbols.
std::vector<std::optional<TreeSymbol>> vocabulary_symbols(const Tokenizer& symbols, TreeForm form);

/// The tokens that are leaves, i.e. stand for a word each.
std::vector<int32_t> leaf_tokens(const Tokenizer& symbols, TreeForm form);

/// Throws DataError for the first symbol of a text that is not in the vocabulary.
void require_known_symbols(const std::filesystem::path& text, const Tokenizer& symbols);

/// File name suffixes of the two texts.
inline constexpr const char* kWordsSuffix = "words";
inline constexpr const char* kSymbolsSuffix = "symbols";

/// The training text as two files: for translation mixed_pairs (data/mixture.h), for parsing
/// data.train, data.silver and data.sources as parallel text. Writes it to the cache directory
/// and returns the config with `train` changed to it. Trees without
/// words are dropped. With ratios (data.silver_ratio, data.sources) trees are repeated n times on
/// average, floor(n) or floor(n) + 1 times, at random by `seed`. With tags (data.tag) there is a
/// file of them (tags_file). Throws ConfigError or DataError.
DataConfig with_training_text(const DataConfig& data, const std::filesystem::path& cache,
                              uint64_t seed, const Log& log = {});

/// The same without repetitions and tags, for training vocabularies and tag dictionaries. Repeating
/// sentences must not change word counts.
DataConfig with_vocabulary_text(const DataConfig& data, const std::filesystem::path& cache);

/// Reads a file of trees. Throws DataError if no tree has words, or if more than 1 % of those that
/// have are not UTF-8.
void check_treebank(const std::filesystem::path& trees, const TreeOptions& options);

/// Reads enough of a validation text to find what is often wrong before anything is trained: all
/// lines of a parallel text, the first tree of a treebank. Throws DataError if a side has fewer
/// lines, or if the file does not begin with a tree.
void check_validation_text(const DataConfig& data, const std::string& text);

/// Converts one file of trees in the same way, for validation, and returns the prefix of the text.
/// `labels` are those of the training text. Throws DataError like check_treebank().
std::string tree_text(const std::filesystem::path& trees, const DataConfig& data,
                      const LabelSet& labels, const std::filesystem::path& cache);

}  // namespace attn
