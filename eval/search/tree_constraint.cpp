#include "eval/search/tree_constraint.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "base/error.h"
#include "data/parsing/treebank.h"

namespace attn {
namespace {

using Kind = TreeSymbol::Kind;

}  // namespace

TreeVocabulary::TreeVocabulary(const Tokenizer& symbols, TreeForm form)
    : form_(form), labels_(vocabulary_labels(symbols, form)) {
  std::map<std::string, int32_t> ids;
  bool opens = false;
  for (const std::string& label : labels_) ids.emplace(label, static_cast<int32_t>(ids.size()));
  const auto known = vocabulary_symbols(symbols, form);
  meanings_.resize(known.size());
  for (int32_t token = 0; token < symbols.size(); ++token) {
    const auto& symbol = known[static_cast<size_t>(token)];
    if (!symbol) continue;
    Meaning& meaning = meanings_[static_cast<size_t>(token)];
    meaning.kind = symbol->kind;
    if (symbol->kind == Kind::leaf) {
      leaf_tokens_.emplace(symbols.piece(token), token);
      continue;
    }
    // A label without a closing symbol must not be opened.
    const auto id = ids.find(symbol->label);
    if (id == ids.end()) {
      meaning.kind.reset();
      continue;
    }
    meaning.label = id->second;
    opens |= symbol->kind == Kind::open;
  }
  if (leaf_tokens_.empty() || !opens || labels_.size() > 4096) {
    throw DataError("the target vocabulary has no tree symbols of the form " +
                    std::string(enum_name(form)) + " (data.tree_form): expected a leaf, an " +
                    "opening and a closing symbol, and at most 4096 labels");
  }
  make_masks(symbols.eos());
}

std::optional<Kind> TreeVocabulary::kind(int32_t token) const {
  return meanings_.at(static_cast<size_t>(token)).kind;
}

int32_t TreeVocabulary::label(int32_t token) const {
  return meanings_.at(static_cast<size_t>(token)).label;
}

// Masks in the order closing label (none first), open, leaf.
void TreeVocabulary::make_masks(int32_t eos) {
  const TokenMask none((meanings_.size() + 63) / 64, 0);
  end_ = leaves_ = none;
  allow(end_, eos);
  end_or_open_ = end_;
  for (const auto& [symbol, token] : leaf_tokens_) allow(leaves_, token);
  masks_.assign(4 * (labels_.size() + 1), none);
  for (int32_t token = 0; token < static_cast<int32_t>(meanings_.size()); ++token) {
    const auto& [kind, label] = meanings_[static_cast<size_t>(token)];
    if (!kind) continue;
    for (size_t i = 0; i < masks_.size(); ++i) {
      const bool allowed = *kind == Kind::leaf   ? (i & 1) != 0
                           : *kind == Kind::open ? (i & 2) != 0
                                                 : static_cast<int32_t>(i / 4) == label + 1;
      if (allowed) allow(masks_[i], token);
    }
    if (*kind == Kind::open) allow(end_or_open_, token);
  }
}

const TokenMask& TreeVocabulary::mask(bool open, bool leaf, int32_t closing) const {
  return masks_.at(static_cast<size_t>(4 * (closing + 1) + (open ? 2 : 0) + (leaf ? 1 : 0)));
}

TokenMask TreeVocabulary::leaf_mask(std::span<const std::string> symbols) const {
  TokenMask mask;
  for (const std::string& symbol : symbols) {
    const auto found = leaf_tokens_.find(symbol);
    if (found == leaf_tokens_.end()) continue;
    mask.resize(leaves_.size());
    allow(mask, found->second);
  }
  return mask;
}

TreeConstraint::TreeConstraint(const TreeVocabulary& vocabulary, std::vector<int64_t> words,
                               std::vector<int64_t> limits,
                               std::vector<std::vector<TokenMask>> leaves)
    : vocabulary_(vocabulary),
      words_(std::move(words)),
      limits_(std::move(limits)),
      leaves_(std::move(leaves)) {
  for (size_t i = 0; i < words_.size(); ++i) {
    if (words_[i] < 1 || limits_.at(i) < shortest_tree(words_[i])) {
      throw std::invalid_argument("TreeConstraint: a tree over " + std::to_string(words_[i]) +
                                  " words does not fit into " + std::to_string(limits_[i]) +
                                  " tokens");
    }
  }
}

TreeConstraint::State TreeConstraint::advance(State state, int32_t token) {
  const auto kind = vocabulary_.kind(token);
  if (!kind) return state;  // never allowed
  state.started = true;
  state.labelled = *kind == Kind::open;
  if (*kind == Kind::open) {
    brackets_.push_back({state.bracket, vocabulary_.label(token), state.height});
    state.bracket = static_cast<int64_t>(brackets_.size()) - 1;
    state.height = state.last;  // in order, the last node is the first child
    ++state.depth;
    ++state.opened;
    return state;
  }
  if (*kind == Kind::leaf || vocabulary_.form() != TreeForm::in_order) state.opened = 0;
  if (*kind == Kind::leaf) {
    --state.leaves_left;
    state.last = 1;
    state.height = std::max(state.height, state.last);
  } else {
    const Bracket& closed = brackets_[static_cast<size_t>(state.bracket)];
    state.last = state.height + 1;
    state.height = std::max(closed.height, state.last);
    state.bracket = closed.parent;
    --state.depth;
  }
  return state;
}

/// `room`: remaining tokens up to the limit, at least the leaves of the remaining words, the
/// closings of open constituents and EOS. One more constituent takes two.
const TokenMask& TreeConstraint::allowed(const State& state, int64_t room) const {
  if (vocabulary_.form() == TreeForm::in_order) return allowed_in_order(state, room);
  if (state.started && state.depth == 0) return vocabulary_.end_mask();
  if (!state.started) {
    const bool fits = room >= state.leaves_left + 3;
    return vocabulary_.mask(fits, state.leaves_left == 1, -1);
  }
  const int64_t needed = state.leaves_left + state.depth + 1;
  const bool words_left = state.leaves_left > 0;
  const bool open =
      words_left && state.opened < max_opened && state.depth < max_depth && room >= needed + 2;
  const bool close = state.opened == 0 && (state.depth > 1 || !words_left);
  return vocabulary_.mask(open, words_left,
                          close ? brackets_[static_cast<size_t>(state.bracket)].label : -1);
}

/// A constituent takes the last complete node as its first child: it can be opened after a leaf or
/// a closing, and must be if words are left but nothing is open. `room` as above.
const TokenMask& TreeConstraint::allowed_in_order(const State& state, int64_t room) const {
  const int64_t words = state.leaves_left, depth = state.depth;
  if (!state.started) return vocabulary_.mask(false, true, -1);
  const bool more = state.opened < max_opened;
  const bool open =
      !state.labelled && more && depth + state.last < max_depth && room >= words + depth + 3;
  if (depth == 0) {
    if (words > 0) return vocabulary_.mask(true, false, -1);
    return open ? vocabulary_.end_or_open_mask() : vocabulary_.end_mask();
  }
  // After the outermost closing the words that are left need another constituent.
  const bool close =
      depth > 1 || words == 0 || (more && state.height + 1 < max_depth && room >= words + 4);
  return vocabulary_.mask(open, words > 0,
                          close ? brackets_[static_cast<size_t>(state.bracket)].label : -1);
}

/// Restricts the leaves of the mask to those of the next word.
const uint64_t* TreeConstraint::narrowed(const TokenMask& mask, size_t sentence,
                                         int64_t leaves_left, size_t row) {
  if (leaves_.empty() || leaves_left == 0) return mask.data();
  const auto next = static_cast<size_t>(words_[sentence] - leaves_left);
  const TokenMask& leaves = leaves_[sentence].at(next);
  if (leaves.empty()) return mask.data();
  TokenMask& out = narrowed_[row];
  out = mask;
  uint64_t leaf = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    leaf |= out[i] & vocabulary_.leaves()[i];
    out[i] &= ~vocabulary_.leaves()[i] | leaves[i];
  }
  if (leaf != 0) groups_[row] = vocabulary_.leaves().data();
  return out.data();
}

std::span<const uint64_t* const> TreeConstraint::step(const StepRows& rows) {
  const auto& [parents, tokens, sentences] = rows;
  ++written_;
  next_.clear();
  masks_.clear();
  narrowed_.resize(parents.size());
  if (!leaves_.empty()) groups_.assign(parents.size(), nullptr);
  for (size_t row = 0; row < parents.size(); ++row) {
    const auto sentence = static_cast<size_t>(sentences[row]);
    next_.push_back(written_ == 0
                        ? State{.leaves_left = words_.at(sentence)}
                        : advance(states_.at(static_cast<size_t>(parents[row])), tokens[row]));
    const TokenMask& mask = allowed(next_.back(), limits_[sentence] - written_);
    masks_.push_back(narrowed(mask, sentence, next_.back().leaves_left, row));
  }
  states_.swap(next_);
  return masks_;
}

}  // namespace attn
