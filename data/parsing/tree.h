// Constituency trees and the bracketed Penn format in its common variants.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// Maximum nesting depth accepted by the reader. Real trees have less than 100 levels; functions on
/// trees, including the destructor, are recursive. An outer bracket with a root label does not
/// count, so that one can be added to every tree.
inline constexpr int64_t kMaxTreeDepth = 2000;

/// A node of a constituency tree. A leaf has a word, and its part-of-speech tag as label; an inner
/// node has children and no word. A node with neither is an empty constituent, `()` or `(NP)`,
/// which occurs in parser output.
struct Tree {
  std::string label;  ///< "NP", "VBZ", "NP-SBJ-1", "-NONE-"; empty for an unlabelled outer bracket
  std::string word;   ///< leaves only; brackets are escaped as in the treebank, "-LRB-"
  std::vector<Tree> children;  ///< inner nodes only

  bool is_leaf() const { return !word.empty(); }
  bool operator==(const Tree&) const = default;
};

/// A leaf.
Tree tree_leaf(std::string_view tag, std::string_view word);
/// An inner node.
Tree tree_node(std::string_view label, std::vector<Tree> children);

/// Filters of the reader.
struct TreeOptions {
  /// Drop -NONE- leaves and constituents without any other leaf.
  bool drop_traces = false;
  /// "NP-SBJ-1" and "NP=2" become "NP"; "-LRB-", "-NONE-" and "PRP$" stay.
  bool drop_functions = false;
  /// A label, white space and no word, "(NN )" or "( NN)", is an error, no empty constituent
  /// "(NN)": for treebanks, in which the word has been lost.
  bool require_words = false;
};

/// All trees of a text in any layout: several per line or one over several lines, with or without
/// an outer bracket that is unlabelled or labelled TOP or ROOT (it is kept, see `strip_root`),
/// empty trees, white space before a label, tabs, CRLF, a byte order mark. Blank lines are skipped.
/// `source` is the name in messages and `first_line` the number of the text's first line, for
/// callers that read line by line. Throws DataError with source:line:column for unbalanced
/// brackets, words outside of brackets, leaves with several words, words next to constituents,
/// nesting beyond kMaxTreeDepth and, with require_words, tags without a word.
std::vector<Tree> parse_trees(std::string_view text, std::string_view source,
                              const TreeOptions& options = {}, int64_t first_line = 1);

/// The trees of a file. Throws DataError like parse_trees, and if the file cannot be read.
std::vector<Tree> read_trees(const std::filesystem::path& path, const TreeOptions& options = {});

/// The tree on one line, such as "(S (NP (PRP We)) (VP (VBP sleep)))", without a line break.
/// parse_trees reads it back as the same tree; round brackets within words are escaped.
std::string write_tree(const Tree& tree);

/// Pretty-prints the tree over several lines, indented by two spaces per level. `parse_trees` reads
/// it back.
std::string format_tree(const Tree& tree);

/// Draws the tree with box-drawing characters, one constituent per line, followed by its children.
/// A constituent that only has words is on one line with them. Every line ends in "\n".
///
///   S
///   ├─ NP  the old dog
///   └─ VP
///      ├─ VBZ  sees
///      └─ NP  it
std::string draw_tree(const Tree& tree);

/// The words of the tree from left to right, as stored (escaped).
std::vector<std::string> tree_words(const Tree& tree);

/// Whether a label is that of an outer bracket in treebanks: empty, TOP, ROOT, S1 or VROOT.
bool is_root_label(std::string_view label);

/// Removes outer brackets that have a root label and a single child. Other trees are unchanged.
Tree strip_root(Tree tree);

/// Removes -NONE- leaves and the constituents that become empty. A tree of traces only loses all
/// its children.
Tree drop_traces(Tree tree);

/// Replaces "NP-SBJ-1" and "NP=2" by "NP" in all labels of the tree.
Tree drop_functions(Tree tree);

}  // namespace attn
