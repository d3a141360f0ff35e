// Constituency trees and the bracketed Penn format in its common variants.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// Maximum nesting accepted by the reader: real trees have less than 100 levels, and functions on
/// trees (the destructor as well) are recursive. An outer bracket with a root's label is not
/// counted, so that every tree can be written under one.
inline constexpr int64_t kMaxTreeDepth = 2000;

/// A node of a constituency tree. A leaf has a part-of-speech tag for its label and a word; an
/// inner node has children and no word. A node with neither is an empty constituent, which files
/// from parsers do contain: `()` or `(NP)`.
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
  /// Drop -NONE- leaves and the constituents that have no word left without them.
  bool drop_traces = false;
  /// "NP-SBJ-1" and "NP=2" become "NP"; "-LRB-", "-NONE-" and "PRP$" stay.
  bool drop_functions = false;
};

/// All trees of a text, whatever their layout: several on a line or one over several lines, with or
/// without an outer bracket that is unlabelled or called TOP or ROOT (it is kept, see
/// `strip_root`), empty trees, blanks before a label, tabs, CRLF, a byte order mark. Blank lines
/// yield nothing. `source` is the name used in messages and `first_line` the number of the text's
/// first line, for callers that read line by line. Throws DataError with source:line:column on
/// unbalanced brackets, on words outside of a bracket, on a leaf of several words, on words beside
/// constituents, and beyond kMaxTreeDepth.
std::vector<Tree> parse_trees(std::string_view text, std::string_view source,
                              const TreeOptions& options = {}, int64_t first_line = 1);

/// The trees of a file; throws DataError also when it cannot be read.
std::vector<Tree> read_trees(const std::filesystem::path& path, const TreeOptions& options = {});

/// The tree on one line, as in "(S (NP (PRP We)) (VP (VBP sleep)))", without a line end. Reading it
/// again gives the same tree; round brackets within words are escaped.
std::string write_tree(const Tree& tree);

/// Pretty-prints the tree over several lines, indented by two spaces per level. `parse_trees` reads
/// it.
std::string format_tree(const Tree& tree);

/// Its words from left to right, as stored (escaped).
std::vector<std::string> tree_words(const Tree& tree);

/// Whether a label is one of those of a treebank's outer brackets: none, TOP, ROOT, S1 or VROOT.
bool is_root_label(std::string_view label);

/// The tree below its outer brackets: those that have a root's label and a single constituent. Any
/// other tree unchanged.
Tree strip_root(Tree tree);

/// Without -NONE- leaves and the constituents they leave wordless. A tree of traces alone loses all
/// its children.
Tree drop_traces(Tree tree);

/// "NP-SBJ-1" and "NP=2" to "NP", in all labels of the tree.
Tree drop_functions(Tree tree);

}  // namespace attn
