#include "data/parsing/linearize.h"

#include <algorithm>
#include <array>
#include <utility>

namespace attn {
namespace {

// First characters that are reserved in the form `tags`; '<' is for special tokens.
constexpr std::string_view kReserved = "/=+<";

// Maximum number of open constituents in a model's output.
constexpr size_t kMaxOpen = static_cast<size_t>(kMaxTreeDepth) / 2;

bool is_plain(std::string_view label) {
  return !label.empty() && kReserved.find(label.front()) == std::string_view::npos;
}

std::string marked(char mark, std::string_view label) {
  std::string text(1, mark);
  text += label;
  return text;
}

class Writer {
 public:
  Writer(TreeForm form, const LabelSet& labels) : form_(form), labels_(labels) {}

  void write(const Tree& tree) {
    if (tree.is_leaf()) {
      symbols.push_back(leaf(tree.label));
      return;
    }
    const bool xx = form_ == TreeForm::xx;
    const std::string open = xx                     ? marked('(', tree.label)
                             : is_plain(tree.label) ? tree.label
                                                    : marked('+', tree.label);
    // In order: after the first child. An empty constituent has none, and its label comes first.
    const bool after = form_ == TreeForm::in_order && !tree.children.empty();
    if (!after) symbols.push_back(open);
    for (size_t i = 0; i < tree.children.size(); ++i) {
      write(tree.children[i]);
      if (after && i == 0) symbols.push_back(open);
    }
    symbols.push_back(marked(xx ? ')' : '/', tree.label));
  }

  std::vector<std::string> symbols;

 private:
  std::string leaf(const std::string& tag) const {
    if (form_ == TreeForm::xx) return std::string(kNoTag);
    return is_plain(tag) && !labels_.contains(tag) ? tag : marked('=', tag);
  }

  TreeForm form_;
  const LabelSet& labels_;
};

// Builds a tree from symbols: a stack of open constituents, outermost first, on top of an
// unlabelled one that collects the top-level nodes.
class Builder {
 public:
  Builder(std::span<const std::string> words) : words_(words), open_(1) {}

  void open(const std::string& label) { open_.push_back({tree_node(label, {}), 0, 0}); }

  /// Opens a constituent whose first child is the last node of the innermost open one.
  void wrap(const std::string& label) {
    std::vector<Tree>& children = open_.back().tree.children;
    Tree last = std::move(children.back());
    children.pop_back();
    const int64_t height = open_.back().last_height;
    open(label);
    add(std::move(last), height);
  }
  bool can_wrap() const { return !open_.back().tree.children.empty(); }

  void leaf(const std::string& tag) {
    if (words_left()) add(tree_leaf(tag, words_[next_++]), 1);
  }

  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    add(std::move(done.tree), done.height + 1);
  }

  void close_to(size_t depth) {
    while (open_.size() > depth + 1) close();
  }

  /// Number of open constituents.
  size_t depth() const { return open_.size() - 1; }
  /// Levels of the tree, from the outermost open constituent to the deepest node of the innermost.
  int64_t levels() const { return static_cast<int64_t>(depth()) + open_.back().height; }
  /// Depth of the innermost open constituent with this label; std::nullopt if there is none.
  std::optional<size_t> find(std::string_view label) const {
    for (size_t i = depth(); i > 0; --i) {
      if (open_[i].tree.label == label) return i;
    }
    return {};
  }
  bool words_left() const { return next_ < words_.size(); }
  std::vector<Tree>& top() { return open_.front().tree.children; }
  Tree& outermost() { return open_[1].tree; }

  /// Appends the remaining words to `tree`.
  void finish_words(Tree& tree) {
    while (words_left()) tree.children.push_back(tree_leaf(kNoTag, words_[next_++]));
  }

 private:
  struct Open {
    Tree tree;
    int64_t height = 0;       ///< levels of its highest child
    int64_t last_height = 0;  ///< levels of its last one
  };

  void add(Tree node, int64_t height) {
    Open& parent = open_.back();
    parent.tree.children.push_back(std::move(node));
    parent.height = std::max(parent.height, height);
    parent.last_height = height;
  }

  std::span<const std::string> words_;
  size_t next_ = 0;
  std::vector<Open> open_;
};

LabelSet with_closed(LabelSet labels, std::span<const std::string> symbols, TreeForm form) {
  if (form != TreeForm::xx) labels.merge(closed_labels(symbols, form));
  return labels;
}

bool has_empty(const Tree& tree) {
  if (tree.is_leaf()) return false;
  return tree.children.empty() || std::ranges::any_of(tree.children, has_empty);
}

bool remove_empty(Tree& tree) {
  if (tree.is_leaf()) return false;
  std::erase_if(tree.children, remove_empty);
  return tree.children.empty();
}

// Opens a constituent unless the tree gets too deep, or has no node to begin it with.
void open_or_wrap(Builder& builder, const std::string& label, TreeForm form) {
  if (form != TreeForm::in_order) {
    if (builder.depth() < kMaxOpen) builder.open(label);
  } else if (builder.can_wrap() && builder.levels() < static_cast<int64_t>(kMaxOpen)) {
    builder.wrap(label);
  }
}

Tree repair(std::span<const std::string> symbols, std::span<const std::string> words, TreeForm form,
            const LabelSet& labels) {
  Builder builder(words);
  for (const std::string& text : symbols) {
    const auto symbol = read_symbol(text, form, labels);
    if (!symbol) continue;
    if (symbol->kind == TreeSymbol::Kind::leaf) {
      builder.leaf(symbol->label);
    } else if (symbol->kind == TreeSymbol::Kind::open) {
      open_or_wrap(builder, symbol->label, form);
    } else if (const auto depth = builder.find(symbol->label)) {
      builder.close_to(*depth - 1);
    }
  }
  if (builder.depth() > 0) {
    builder.close_to(1);
    builder.finish_words(builder.outermost());
    builder.close_to(0);
  }
  std::vector<Tree>& top = builder.top();
  if (!top.empty() && !top.back().is_leaf()) builder.finish_words(top.back());
  std::erase_if(top, remove_empty);
  Tree root = tree_node("TOP", std::move(top));
  builder.finish_words(root);
  if (root.children.size() != 1) return root;
  Tree only = std::move(root.children.front());
  return only;
}

}  // namespace

void collect_labels(const Tree& tree, LabelSet& labels) {
  if (tree.is_leaf()) return;
  if (!labels.contains(tree.label)) labels.insert(tree.label);
  for (const Tree& child : tree.children) collect_labels(child, labels);
}

std::optional<TreeSymbol> read_symbol(std::string_view text, TreeForm form,
                                      const LabelSet& labels) {
  using Kind = TreeSymbol::Kind;
  if (text.empty()) return {};
  const std::string rest(text.substr(1));
  if (form == TreeForm::xx) {
    if (text.front() == '(') return TreeSymbol{Kind::open, rest};
    if (text.front() == ')') return TreeSymbol{Kind::close, rest};
    if (text == kNoTag) return TreeSymbol{Kind::leaf, std::string(kNoTag)};
    return {};
  }
  switch (text.front()) {
    case '/':
      return TreeSymbol{Kind::close, rest};
    case '=':
      return TreeSymbol{Kind::leaf, rest};
    case '+':
      return TreeSymbol{Kind::open, rest};
    case '<':  // a special token
      return {};
    default:
      return TreeSymbol{labels.contains(text) ? Kind::open : Kind::leaf, std::string(text)};
  }
}

std::vector<std::string> linearize(const Tree& tree, TreeForm form, const LabelSet& labels) {
  LabelSet all = labels;
  collect_labels(tree, all);
  Writer writer(form, all);
  writer.write(tree);
  return std::move(writer.symbols);
}

LabelSet closed_labels(std::span<const std::string> symbols, TreeForm form) {
  LabelSet labels;
  for (const std::string& text : symbols) {
    const auto symbol = read_symbol(text, form, {});
    if (symbol && symbol->kind == TreeSymbol::Kind::close) labels.insert(symbol->label);
  }
  return labels;
}

std::optional<Tree> delinearize(std::span<const std::string> symbols,
                                std::span<const std::string> words, TreeForm form,
                                const LabelSet& labels) {
  using Kind = TreeSymbol::Kind;
  const bool in_order = form == TreeForm::in_order;
  const LabelSet all = with_closed(labels, symbols, form);
  Builder builder(words);
  std::optional<Kind> before;
  for (const std::string& text : symbols) {
    const auto symbol = read_symbol(text, form, all);
    if (!symbol) return {};
    // In order, a complete tree may become the first child of another one.
    const bool wraps = in_order && symbol->kind == Kind::open;
    if (!builder.top().empty() && !wraps) return {};
    switch (symbol->kind) {
      case Kind::leaf:
        if (!builder.words_left() || builder.depth() >= static_cast<size_t>(kMaxTreeDepth)) {
          return {};
        }
        builder.leaf(symbol->label);
        break;
      case Kind::open:
        if (builder.levels() >= kMaxTreeDepth) return {};
        // Two labels in a row: the first child of the first one is complete before it.
        if (wraps && (!builder.can_wrap() || before == Kind::open)) return {};
        wraps ? builder.wrap(symbol->label) : builder.open(symbol->label);
        break;
      case Kind::close:
        if (builder.depth() == 0 || builder.find(symbol->label) != builder.depth()) return {};
        builder.close();
        break;
    }
    before = symbol->kind;
  }
  if (builder.depth() > 0 || builder.top().size() != 1 || builder.words_left()) return {};
  return std::move(builder.top().front());
}

RebuiltTree rebuild_tree(std::span<const std::string> symbols, std::span<const std::string> words,
                         TreeForm form, const LabelSet& labels) {
  if (words.empty()) return {Tree{}, !symbols.empty()};
  auto tree = delinearize(symbols, words, form, labels);
  if (tree && !has_empty(*tree)) return {std::move(*tree), false};
  return {repair(symbols, words, form, with_closed(labels, symbols, form)), true};
}

Tree drop_empty(Tree tree) {
  remove_empty(tree);
  return tree;
}

Tree tag_punctuation(Tree tree) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 22> kTags = {{
      {",", ","},         {".", "."},         {"?", "."},         {"!", "."},
      {":", ":"},         {";", ":"},         {"--", ":"},        {"...", ":"},
      {"``", "``"},       {"''", "''"},       {"`", "``"},        {"\"", "''"},
      {"-LRB-", "-LRB-"}, {"-RRB-", "-RRB-"}, {"-LSB-", "-LRB-"}, {"-RSB-", "-RRB-"},
      {"-LCB-", "-LRB-"}, {"-RCB-", "-RRB-"}, {"[", "-LRB-"},     {"]", "-RRB-"},
      {"$", "$"},         {"#", "#"},
  }};
  if (tree.is_leaf() && tree.label == kNoTag) {
    const auto found = std::ranges::find(kTags, std::string_view(tree.word),
                                         [](const auto& entry) { return entry.first; });
    if (found != kTags.end()) tree.label = found->second;
  }
  for (Tree& child : tree.children) child = tag_punctuation(std::move(child));
  return tree;
}

}  // namespace attn
