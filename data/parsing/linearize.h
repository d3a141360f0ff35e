// Linearization of constituency trees for sequence models (section 6.3; Vinyals et al. 2015), and
// its inverse given the words.
//
// clang-format off
//   tags       S NP DT NN /NP VP VBZ /VP /S     a leaf is its part-of-speech tag
//   xx         (S (NP XX XX )NP (VP XX )VP )S   a leaf is XX; tags are not kept
//   in_order   DT NP NN /NP S VBZ VP /VP /S     tags; a label follows its first child (Liu and Zhang
//                                               2017; Fernández-González and Gómez-Rodríguez 2020)
// clang-format on
//
// No form contains the words: the i-th leaf is the i-th word of the sentence.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/config.h"
#include "data/parsing/tree.h"

namespace attn {

/// Labels of constituents.
using LabelSet = std::set<std::string, std::less<>>;

/// The tag of leaves without a known tag.
inline constexpr std::string_view kNoTag = "XX";

/// Adds the labels of the tree's constituents.
void collect_labels(const Tree& tree, LabelSet& labels);

/// A parsed symbol.
struct TreeSymbol {
  enum class Kind { open, close, leaf };  ///< in_order: "open" takes the last node as first child
  Kind kind;
  std::string label;  ///< label of the constituent, or tag of the leaf
  bool operator==(const TreeSymbol&) const = default;
};

/// Parses one symbol. In the forms `tags` and `in_order` a plain "NP" opens a constituent if NP is
/// among `labels`, otherwise it is a tag; the form `xx` is unambiguous. std::nullopt if the text is
/// not a symbol of the form.
std::optional<TreeSymbol> read_symbol(std::string_view text, TreeForm form, const LabelSet& labels);

/// The symbols of a tree. `labels` are the constituent labels of the whole corpus (those of the
/// tree are added). A tag that is among them is written "=NP", so that a symbol has the same
/// meaning in every tree. Tags and labels that are empty or begin with one of / = + < are escaped,
/// too: as "=…" for a tag and "+…" for an opening symbol.
std::vector<std::string> linearize(const Tree& tree, TreeForm form, const LabelSet& labels = {});

/// The labels of all closing symbols. They suffice as `labels` for reading a sequence on its own,
/// or the symbols of a vocabulary.
LabelSet closed_labels(std::span<const std::string> symbols, TreeForm form);

/// The inverse of `linearize`. std::nullopt unless the symbols are one complete tree of at most
/// kMaxTreeDepth levels with exactly these words as leaves. `labels` as above; the labels of
/// closing symbols are added.
std::optional<Tree> delinearize(std::span<const std::string> symbols,
                                std::span<const std::string> words, TreeForm form,
                                const LabelSet& labels = {});

struct RebuiltTree {
  Tree tree;
  bool repaired = false;
};

/// `delinearize` for arbitrary model output: always a tree with exactly these words, without empty
/// constituents. Malformed sequences are repaired:
///
/// 1. An opening symbol opens a constituent; in the form in_order the last node of the innermost
///    open constituent becomes its first child, and it is skipped if there is none. A leaf takes
///    the next word, and is skipped if no word is left. A closing symbol closes the innermost open
///    constituent with its label and all inside it, and is skipped if there is none. Other tokens
///    are skipped.
/// 2. At the end, the remaining words become leaves, tagged XX, of the outermost open constituent,
///    or of the last top-level one if none is open. Then all constituents are closed.
/// 3. Constituents without words are removed.
/// 4. Several top-level constituents are joined under one labelled TOP.
///
/// Without words the tree is empty: "()".
RebuiltTree rebuild_tree(std::span<const std::string> symbols, std::span<const std::string> words,
                         TreeForm form, const LabelSet& labels = {});

/// Removes constituents without words. A tree without words loses all its children.
Tree drop_empty(Tree tree);

/// Tags leaves with tag XX whose word determines the tag: punctuation and brackets. Metrics exclude
/// some of these by tag. Other leaves keep XX.
Tree tag_punctuation(Tree tree);

}  // namespace attn
