#include "data/parsing/tree.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/utf8.h"
#include "data/parsing/penn_tokenize.h"

namespace attn {
namespace {

struct Place {
  int64_t line = 1;
  int64_t column = 1;  // in characters, not bytes
};

// One pass with an explicit stack, so that deep nesting cannot overflow the call stack.
class TreeParser {
 public:
  TreeParser(std::string_view text, std::string_view source, bool require_words, int64_t first_line)
      : text_(text), source_(source), require_words_(require_words) {
    place_.line = first_line;
    text_ = without_byte_order_mark(text_);
  }

  std::vector<Tree> parse() {
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (is_ascii_space(c)) {
        advance();
      } else if (c == '(') {
        open();
      } else if (c == ')') {
        close();
      } else {
        add_word();
      }
    }
    if (!stack_.empty()) {
      fail(stack_.front().opened, "this bracket is never closed (" + std::to_string(stack_.size()) +
                                      " open at the end of the text); add the missing ')'");
    }
    return std::move(trees_);
  }

 private:
  struct Open {
    Tree tree;
    Place opened;
  };

  void advance() {
    const char c = text_[position_++];
    if (c == '\n') {
      ++place_.line;
      place_.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {  // not a UTF-8 continuation byte
      ++place_.column;
    }
  }

  std::string take_token() {
    const size_t begin = position_;
    while (position_ < text_.size() && !is_ascii_space(text_[position_]) &&
           text_[position_] != '(' && text_[position_] != ')') {
      advance();
    }
    return std::string(text_.substr(begin, position_ - begin));
  }

  void open() {
    const bool rooted = !stack_.empty() && is_root_label(stack_.front().tree.label);
    if (static_cast<int64_t>(stack_.size()) >= kMaxTreeDepth + (rooted ? 1 : 0)) {
      fail(place_, "brackets are nested deeper than " + std::to_string(kMaxTreeDepth) +
                       "; not a constituency tree");
    }
    if (!stack_.empty()) take_word_for_label(stack_.back().tree);
    if (!stack_.empty() && stack_.back().tree.is_leaf()) {
      fail(place_, "a constituent follows the word '" + stack_.back().tree.word.substr(0, 40) +
                       "' within one bracket; give the word a bracket and a tag of its own");
    }
    const Place opened = place_;
    advance();
    stack_.push_back({Tree{take_token(), {}, {}}, opened});
  }

  // In "( NP (…" and "( NN dog )" the first word was read as a word, but is the label.
  static void take_word_for_label(Tree& tree) {
    if (tree.label.empty()) std::swap(tree.label, tree.word);
  }

  void close() {
    if (stack_.empty()) fail(place_, "')' without an opening bracket; remove it");
    Tree tree = std::move(stack_.back().tree);
    if (require_words_ &&
        (is_ascii_space(text_[position_ - 1]) || (stack_.size() > 1 && tree.label.empty()))) {
      require_word(tree, stack_.back().opened);
    }
    stack_.pop_back();
    advance();
    (stack_.empty() ? trees_ : stack_.back().tree.children).push_back(std::move(tree));
  }

  // In "( NN )" the label was read as a word.
  void require_word(const Tree& tree, const Place& opened) const {
    const std::string& label = tree.label.empty() ? tree.word : tree.label;
    const bool has_word = tree.is_leaf() && !tree.label.empty();
    if (label.empty() || has_word || !tree.children.empty()) return;
    fail(opened,
         "the tag '" + label.substr(0, 40) + "' has no word; add the word, or remove the bracket");
  }

  void add_word() {
    const Place begin = place_;
    std::string word = take_token();
    if (stack_.empty()) {
      fail(begin, "'" + word.substr(0, 40) + "' is outside all brackets; expected '('");
    }
    Tree& tree = stack_.back().tree;
    take_word_for_label(tree);
    if (tree.is_leaf()) {
      fail(begin, "a second word '" + word.substr(0, 40) + "' after '" + tree.word.substr(0, 40) +
                      "' in one leaf; a leaf is (TAG word)");
    }
    if (!tree.children.empty()) {
      fail(begin, "the word '" + word.substr(0, 40) +
                      "' follows a constituent within one bracket; give it a bracket and a tag");
    }
    tree.word = std::move(word);
  }

  [[noreturn]] void fail(const Place& place, const std::string& message) const {
    throw DataError(std::string(source_) + ":" + std::to_string(place.line) + ":" +
                    std::to_string(place.column) + ": " + message);
  }

  std::string_view text_;
  std::string_view source_;
  bool require_words_;
  size_t position_ = 0;
  Place place_;
  std::vector<Open> stack_;
  std::vector<Tree> trees_;
};

void append_tree(std::string& line, const Tree& tree) {
  line += '(';
  line += tree.label;
  if (tree.is_leaf()) {
    line += ' ';
    line += escape_brackets(tree.word);
  }
  for (const Tree& child : tree.children) {
    line += ' ';
    append_tree(line, child);
  }
  line += ')';
}

void append_indented(std::string& text, const Tree& tree, size_t depth) {
  const bool flat = std::ranges::all_of(tree.children, [](const Tree& t) { return t.is_leaf(); });
  if (flat) {
    append_tree(text, tree);
    return;
  }
  text += '(';
  text += tree.label;
  for (const Tree& child : tree.children) {
    text += '\n';
    text.append(2 * (depth + 1), ' ');
    append_indented(text, child, depth + 1);
  }
  text += ')';
}

void append_words(std::vector<std::string>& words, const Tree& tree) {
  if (tree.is_leaf()) words.push_back(tree.word);
  for (const Tree& child : tree.children) append_words(words, child);
}

std::string caption(const Tree& tree) {
  std::string text = tree.label.empty() ? "·" : tree.label;
  if (tree.is_leaf()) return text + "  " + tree.word;
  const bool flat = !tree.children.empty() &&
                    std::ranges::all_of(tree.children, [](auto& t) { return t.is_leaf(); });
  if (!flat) return text;
  text += " ";
  for (const Tree& leaf : tree.children) text += " " + leaf.word;
  return text;
}

void draw_below(const Tree& tree, const std::string& margin, std::string& out) {
  const bool flat = std::ranges::all_of(tree.children, [](auto& t) { return t.is_leaf(); });
  if (flat) return;
  for (size_t i = 0; i < tree.children.size(); ++i) {
    const bool last = i + 1 == tree.children.size();
    out += margin;
    out += last ? "└─ " : "├─ ";
    out += caption(tree.children[i]);
    out += '\n';
    draw_below(tree.children[i], margin + (last ? "   " : "│  "), out);
  }
}

// Constituents that were empty in the file are kept; only those emptied by traces are removed.
bool remove_traces(Tree& tree) {
  if (tree.is_leaf()) return tree.label == "-NONE-";
  if (tree.children.empty()) return false;
  std::erase_if(tree.children, remove_traces);
  return tree.children.empty();
}

}  // namespace

Tree tree_leaf(std::string_view tag, std::string_view word) {
  return {std::string(tag), std::string(word), {}};
}

Tree tree_node(std::string_view label, std::vector<Tree> children) {
  return {std::string(label), {}, std::move(children)};
}

std::vector<Tree> parse_trees(std::string_view text, std::string_view source,
                              const TreeOptions& options, int64_t first_line) {
  std::vector<Tree> trees = TreeParser(text, source, options.require_words, first_line).parse();
  for (Tree& tree : trees) {
    if (options.drop_traces) tree = drop_traces(std::move(tree));
    if (options.drop_functions) tree = drop_functions(std::move(tree));
  }
  return trees;
}

std::vector<Tree> read_trees(const std::filesystem::path& path, const TreeOptions& options) {
  return parse_trees(read_file(path), path.string(), options);
}

std::string write_tree(const Tree& tree) {
  std::string line;
  append_tree(line, tree);
  return line;
}

std::string format_tree(const Tree& tree) {
  std::string text;
  append_indented(text, tree, 0);
  return text;
}

std::string draw_tree(const Tree& tree) {
  std::string out = caption(tree) + "\n";
  draw_below(tree, "", out);
  return out;
}

std::vector<std::string> tree_words(const Tree& tree) {
  std::vector<std::string> words;
  append_words(words, tree);
  return words;
}

bool is_root_label(std::string_view label) {
  static constexpr std::array<std::string_view, 5> kRoots = {"", "TOP", "ROOT", "S1", "VROOT"};
  return std::ranges::find(kRoots, label) != kRoots.end();
}

Tree strip_root(Tree tree) {
  while (is_root_label(tree.label) && tree.children.size() == 1) {
    Tree inner = std::move(tree.children.front());
    tree = std::move(inner);
  }
  return tree;
}

Tree drop_traces(Tree tree) {
  if (tree.is_leaf() && tree.label == "-NONE-") return {};
  remove_traces(tree);
  return tree;
}

Tree drop_functions(Tree tree) {
  // From index 1, since "-LRB-" and "-NONE-" begin with a hyphen.
  const size_t end = tree.label.find_first_of("-=", 1);
  if (!tree.label.starts_with('-') && end != std::string::npos) tree.label.resize(end);
  for (Tree& child : tree.children) child = drop_functions(std::move(child));
  return tree;
}

}  // namespace attn
