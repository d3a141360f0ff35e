#include "data/synthetic/grammar.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/format.h"
#include "base/parse_number.h"
#include "data/word_vocabulary.h"

namespace attn {
namespace {

constexpr char kBuiltIn[] =
#include "data/synthetic/grammar.txt"
    ;

bool is_symbol(const Tree& tree) {
  return !tree.is_leaf() && tree.children.empty();
}

void append_symbols(const Tree& tree, std::vector<std::string>& symbols) {
  if (is_symbol(tree)) symbols.push_back(tree.label);
  for (const Tree& child : tree.children) append_symbols(child, symbols);
}

void append_leaves(Tree& tree, std::vector<Tree*>& leaves) {
  if (tree.is_leaf()) leaves.push_back(&tree);
  for (Tree& child : tree.children) append_leaves(child, leaves);
}

/// "2" or "2a" of a German side: all parts of the second symbol, or its first.
struct Reference {
  size_t symbol;
  std::optional<size_t> part;
};

std::optional<Reference> reference(const std::string& word) {
  if (word.front() < '1' || word.front() > '9' || word.size() > 2) return {};
  Reference found{static_cast<size_t>(word.front() - '1'), {}};
  if (word.size() == 2) found.part = static_cast<size_t>(word.back() - 'a');
  return found;
}

void capitalize(std::string& word) {
  if (word.front() >= 'a' && word.front() <= 'z') word.front() += 'A' - 'a';
}

}  // namespace

/// Reads the lines of a grammar and expands tables and features.
class SynchronousGrammar::Reader {
 public:
  explicit Reader(SynchronousGrammar& grammar) : grammar_(grammar) {}

  void read(std::string_view text) {
    std::string statement;
    for (size_t number = 1; !text.empty(); ++number) {
      std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(line.size() + 1, text.size()));
      line = line.substr(0, line.find('#'));
      const size_t start = line.find_first_not_of(' ');
      if (start == std::string_view::npos) continue;
      if (line[start] != '(' && line[start] != '|') {  // not the rest of a rule
        add(statement);
        statement.clear();
        line_ = number;
      }
      statement.append(line).append(" ");
    }
    add(statement);
  }

  /// Throws for a line none of whose rules is left.
  void require_used() const {
    std::set<size_t> used;
    for (const auto& [symbol, choices] : grammar_.choices_) {
      for (const Choice& choice : choices) used.insert(choice.lines.begin(), choice.lines.end());
    }
    for (const size_t line : lines_) {
      if (!used.contains(line)) fail(line, "no sentence uses this line; check its symbols");
    }
  }

 private:
  struct Template {
    std::string rule;
    size_t line;
  };

  [[noreturn]] static void fail(size_t line, const std::string& what) {
    throw DataError("grammar:" + std::to_string(line) + ": " + what);
  }
  void require(bool condition, const std::string& what) const {
    if (!condition) fail(line_, what);
  }

  void add(const std::string& statement) {
    Words words = split_words(statement);
    if (words.empty()) return;
    const std::string kind = words.front();
    words.erase(words.begin());
    if (kind == "feature") {
      require(words.size() > 1, "expected: feature NAME VALUE…");
      features_[words.front()] = {words.begin() + 1, words.end()};
    } else if (kind == "table") {
      columns_ = words;
      templates_.clear();
      before_rows_ = true;
    } else if (kind == "row") {
      add_row(words);
    } else if (kind == "contract") {
      require(words.size() == 4 && words[2] == "->", "expected: contract WORD WORD -> WORD");
      grammar_.contractions_[{words[0], words[1]}] = words[3];
    } else if (before_rows_) {
      lines_.insert(line_);
      templates_.push_back({statement, line_});
    } else {
      expand(statement, {line_});
    }
  }

  void add_row(const Words& words) {
    before_rows_ = false;
    require(words.size() == columns_.size(), "the row has " + counted(words.size(), "word") +
                                                 " for " + counted(columns_.size(), "column"));
    for (const Template& pattern : templates_) {
      std::string rule = pattern.rule;
      bool applies = true;
      for (size_t i = 0; i < words.size(); ++i) {
        const std::string column = "{" + columns_[i] + "}";
        applies = applies && (words[i] != "-" || rule.find(column) == std::string::npos);
        replace_all(rule, column, words[i]);
      }
      if (applies) expand(rule, {pattern.line, line_});
    }
  }

  void expand(const std::string& rule, const std::vector<size_t>& lines) {
    lines_.insert(lines.begin(), lines.end());
    const size_t open = rule.find('{');
    if (open == std::string::npos) return add_rule(rule, lines);
    const std::string name = rule.substr(open + 1, rule.find('}', open) - open - 1);
    require(features_.contains(name), "{" + name + "} is neither a feature nor a column");
    for (const std::string& value : features_[name]) {
      std::string expanded = rule;
      replace_all(expanded, "{" + name + "}", value);
      expand(expanded, lines);
    }
  }

  void add_rule(const std::string& text, const std::vector<size_t>& lines) {
    const size_t arrow = text.find(" -> "), bar = text.find(" | ");
    require(arrow < bar && bar != std::string::npos, "expected: SYMBOL -> ENGLISH | GERMAN");
    const Words left = split_words(text.substr(0, arrow));
    require(left.size() == 1 || left.size() == 2, "expected: [weight] SYMBOL -> …");
    const std::optional<uint64_t> weight =
        left.size() == 2 ? parse_number<uint64_t>(left.front()) : 1;
    require(weight > 0, left.front() + ": expected a weight above 0");
    const auto trees =
        parse_trees(text.substr(arrow + 4, bar - arrow - 4), "grammar", {}, int64_t(line_));
    require(trees.size() == 1, "expected one tree");
    Rule rule{trees.front(), {{}}, {}};
    append_symbols(rule.english, rule.symbols);
    for (const std::string& word : split_words(text.substr(bar + 3))) {
      if (word == "/") {
        rule.german.emplace_back();
        continue;
      }
      const auto found = reference(word);
      require(!found || found->symbol < rule.symbols.size(), word + ": no such symbol");
      rule.german.back().push_back(word);
    }
    std::vector<Choice>& choices = grammar_.choices_[left.back()];
    if (choices.empty() || choices.back().lines != lines) choices.push_back({*weight, lines, {}});
    choices.back().rules.push_back(std::move(rule));
  }

  SynchronousGrammar& grammar_;
  size_t line_ = 0;
  std::map<std::string, Words> features_;
  Words columns_;  // of the last table
  std::vector<Template> templates_;
  bool before_rows_ = false;
  std::set<size_t> lines_;  // all those of rules and rows
};

SynchronousGrammar::SynchronousGrammar(std::string_view text) {
  Reader reader(*this);
  reader.read(text);
  drop_undefined();
  drop_unreachable();
  reader.require_used();
}

void SynchronousGrammar::drop_undefined() {
  const auto is_undefined = [&](const std::string& symbol) { return !choices_.contains(symbol); };
  for (bool dropped = true; dropped;) {
    dropped = false;
    for (auto& [symbol, choices] : choices_) {
      for (Choice& choice : choices) {
        dropped |= std::erase_if(choice.rules, [&](const Rule& rule) {
                     return std::ranges::any_of(rule.symbols, is_undefined);
                   }) > 0;
      }
      std::erase_if(choices, [](const Choice& choice) { return choice.rules.empty(); });
    }
    std::erase_if(choices_, [](const auto& entry) { return entry.second.empty(); });
  }
}

void SynchronousGrammar::drop_unreachable() {
  std::set<std::string> reached = {"TOP"};
  Words open = {"TOP"};
  while (!open.empty()) {
    const std::string symbol = open.back();
    open.pop_back();
    for (const Choice& choice : choices_[symbol]) {
      for (const Rule& rule : choice.rules) {
        for (const std::string& next : rule.symbols) {
          if (reached.insert(next).second) open.push_back(next);
        }
      }
    }
  }
  std::erase_if(choices_, [&](const auto& entry) { return !reached.contains(entry.first); });
}

std::pair<Tree, SynchronousGrammar::Parts> SynchronousGrammar::rewrite(const std::string& symbol,
                                                                       Random& random) const {
  const std::vector<Choice>& choices = choices_.at(symbol);
  uint64_t total = 0;
  for (const Choice& choice : choices) total += choice.weight;
  uint64_t left = random.below(total);
  auto choice = choices.begin();
  while (left >= choice->weight) left -= (choice++)->weight;
  const Rule& rule = choice->rules[random.below(choice->rules.size())];

  std::vector<Parts> translations;
  const auto filled = [&](const auto& self, const Tree& tree) -> Tree {
    if (is_symbol(tree)) {
      auto [english, german] = rewrite(tree.label, random);
      translations.push_back(std::move(german));
      return english;
    }
    Tree copy = {tree.label, tree.word, {}};
    for (const Tree& child : tree.children) copy.children.push_back(self(self, child));
    return copy;
  };
  Tree english = filled(filled, rule.english);
  Parts german;
  for (const Words& pattern : rule.german) {
    Words& part = german.emplace_back();
    for (const std::string& word : pattern) {
      const auto found = reference(word);
      if (!found) {
        part.push_back(word);
        continue;
      }
      const Parts& parts = translations[found->symbol];
      for (size_t i = 0; i < parts.size(); ++i) {
        if (found->part && *found->part != i) continue;
        part.insert(part.end(), parts[i].begin(), parts[i].end());
      }
    }
  }
  return {std::move(english), std::move(german)};
}

GeneratedPair SynchronousGrammar::sample(Random& random) const {
  auto [tree, parts] = rewrite("TOP", random);
  std::vector<Tree*> leaves;
  append_leaves(tree, leaves);
  for (size_t i = 0; i + 1 < leaves.size(); ++i) {
    const bool vowel =
        std::string_view("aeiou").find(leaves[i + 1]->word.front()) != std::string::npos;
    if (leaves[i]->word == "a" && vowel) leaves[i]->word = "an";
  }
  capitalize(leaves.front()->word);

  Words german;
  for (const std::string& word : parts.front()) {
    const auto contracted =
        german.empty() ? contractions_.end() : contractions_.find({german.back(), word});
    if (contracted == contractions_.end()) {
      german.push_back(word);
    } else {
      german.back() = contracted->second;
    }
  }
  capitalize(german.front());
  return {joined(tree_words(tree)), joined(german), std::move(tree)};
}

const SynchronousGrammar& built_in_grammar() {
  static const SynchronousGrammar grammar(kBuiltIn);
  return grammar;
}

}  // namespace attn
