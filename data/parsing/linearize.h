// Linearization of constituency trees for sequence models (section 6.3; Vinyals et al. 2015), and
// its inverse given the words.
//
//   tags   S NP DT NN /NP VP VBZ /VP /S     a leaf is its part-of-speech tag
//   xx     (S (NP XX XX )NP (VP XX )VP )S   a leaf is XX: the tags are lost and come back as XX
//
// Neither form holds the words: the i-th leaf is the sentence's i-th word.
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

/// The tag of a leaf that has none of its own.
inline constexpr std::string_view kNoTag = "XX";

/// Adds the labels of the tree's constituents.
void collect_labels(const Tree& tree, LabelSet& labels);

/// A parsed symbol.
struct TreeSymbol {
  enum class Kind { open, close, leaf };
  Kind kind;
  std::string label;  ///< of the constituent; of a leaf its tag
  bool operator==(const TreeSymbol&) const = default;
};

/// Reads one symbol. In the form `tags` a plain "NP" opens a constituent when NP is among `labels`
/// and else is a tag; in the form `xx` that question does not arise. Nothing for text that is no
/// symbol of the form.
std::optional<TreeSymbol> read_symbol(std::string_view text, TreeForm form, const LabelSet& labels);

/// The tree's symbols. `labels` are the constituents' labels of the whole corpus (those of the tree
/// are added): a tag that is one of them is written "=NP", so that a symbol means the same in every
/// tree. What would be mistaken for another kind of symbol is marked too: a tag or label that is
/// empty or begins with one of / = + < is written "=…" for a tag and "+…" for an opened
/// constituent.
std::vector<std::string> linearize(const Tree& tree, TreeForm form, const LabelSet& labels = {});

/// The labels that some symbol closes: with them a sequence can be read by itself, and a vocabulary
/// of symbols says what its own symbols mean.
LabelSet closed_labels(std::span<const std::string> symbols, TreeForm form);

/// The inverse of `linearize`: nothing unless the symbols are one whole tree of at most
/// kMaxTreeDepth levels with exactly these words as leaves. `labels` as above; those that the
/// sequence closes are added.
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
/// 1. An opening symbol opens a constituent. A leaf takes the next word; when no word is left it is
///    skipped. A closing symbol closes the innermost open constituent of its label and all that are
///    open within it; when none is open it is skipped. What is no symbol is skipped.
/// 2. At the end, words that are left over become leaves, tagged XX, of the outermost constituent
///    that is open, else of the last one at the top. Then all are closed.
/// 3. Constituents without words are removed.
/// 4. Several constituents at the top are put under one labelled TOP.
///
/// Without words the tree is empty: "()".
RebuiltTree rebuild_tree(std::span<const std::string> symbols, std::span<const std::string> words,
                         TreeForm form, const LabelSet& labels = {});

/// Without the constituents that have no word. A tree without words loses all its children.
Tree drop_empty(Tree tree);

/// Leaves tagged XX get the tag that their word alone decides, as punctuation and brackets do;
/// scores leave some of these out by their tags. Others stay XX.
Tree tag_punctuation(Tree tree);

}  // namespace attn
