#include "data/parsing/penn_tokenize.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/format.h"
#include "base/utf8.h"
#include "data/word_vocabulary.h"

namespace attn {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return text;
}

std::string_view bracket_name(char c) {
  switch (c) {
    case '(':
      return "-LRB-";
    case ')':
      return "-RRB-";
    case '[':
      return "-LSB-";
    case ']':
      return "-RSB-";
    case '{':
      return "-LCB-";
    case '}':
      return "-RCB-";
    default:
      return {};
  }
}

class PennTokenizer {
 public:
  explicit PennTokenizer(std::string_view sentence) : text_(sentence) {
    for (const auto& [from, to] : kReplaced) replace_all(text_, from, to);
  }

  std::vector<std::string> run() {
    while (at_ < text_.size()) take();
    flush();
    return std::move(tokens_);
  }

 private:
  // Quotation marks, and the white space of Unicode beyond ASCII.
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 24> kReplaced = {
      {{"\u201C", "``"}, {"\u201D", "''"}, {"\u2018", "`"}, {"\u2019", "'"}, {"\u2026", "..."},
       {"\u0085", " "},  {"\u00A0", " "},  {"\u1680", " "}, {"\u2000", " "}, {"\u2001", " "},
       {"\u2002", " "},  {"\u2003", " "},  {"\u2004", " "}, {"\u2005", " "}, {"\u2006", " "},
       {"\u2007", " "},  {"\u2008", " "},  {"\u2009", " "}, {"\u200A", " "}, {"\u2028", " "},
       {"\u2029", " "},  {"\u202F", " "},  {"\u205F", " "}, {"\u3000", " "}}};

  static constexpr std::array<std::string_view, 4> kAddressStarts = {"http://", "https://",
                                                                     "ftp://", "www."};

  void take() {
    const char c = text_[at_];
    const std::string_view rest = std::string_view(text_).substr(at_);
    if (is_ascii_space(c)) {
      flush();
      ++at_;
    } else if (rest.starts_with("...")) {
      alone("...", 3);
    } else if (rest.starts_with("``") || rest.starts_with("''")) {
      alone(rest.substr(0, 2), 2);
    } else if (c == '"') {
      alone(opens_quotation() ? "``" : "''", 1);
    } else if (const auto name = bracket_name(c); !name.empty()) {
      alone(name, 1);
    } else if (rest.starts_with("---")) {
      extend(rest.find_first_not_of('-'));
    } else if (rest.starts_with("--")) {
      alone("--", 2);
    } else if (word_.empty() && is_web_address(rest)) {
      extend(rest.find_first_of(" \t\r\n\f\v\"<>()[]{}"));
    } else if (stands_alone(c)) {
      alone(rest.substr(0, 1), 1);
    } else {
      word_ += c;
      ++at_;
      if (c == '$') flush();  // "US$ 5", "$ 5"
    }
  }

  bool stands_alone(char c) const {
    const char before = word_.empty() ? ' ' : word_.back();
    const char after = at_ + 1 < text_.size() ? text_[at_ + 1] : ' ';
    switch (c) {
      case '?':
      case '!':
      case ';':
        return true;
      case '#':
      case '%':
        return before == ' ' || is_digit(before);
      case '`':
        return before == ' ';
      case ',':
        return !(is_digit(before) && is_digit(after));
      case ':':  // kept in times, ratios and web addresses
        return !(is_digit(before) && is_digit(after)) && after != '/';
      case '&':
        return before == ' ' || !(is_letter(after) || is_digit(after));
      case '.':
        return before == ' ' ? !is_digit(after) : ends_sentence();
      default:
        return false;
    }
  }

  /// Whether only closing punctuation follows.
  bool ends_sentence() const {
    const size_t next = text_.find_first_not_of(" \t\r\n\"')]}", at_ + 1);
    return next == std::string::npos && word_.find("..") == std::string::npos;
  }

  bool opens_quotation() const {
    if (at_ == 0) return true;
    const char before = text_[at_ - 1];
    return is_ascii_space(before) || before == '(' || before == '[' || before == '{' ||
           before == '`' || before == '-';
  }

  static bool is_web_address(std::string_view text) {
    return std::ranges::any_of(kAddressStarts, [&](auto start) { return text.starts_with(start); });
  }

  /// Adds the next `length` characters to the word, less the punctuation at their end.
  void extend(size_t length) {
    std::string_view next = std::string_view(text_).substr(at_, length);
    next = next.substr(0, next.find_last_not_of(".,;:?!'") + 1);
    word_ += next;
    at_ += next.size();
  }

  void alone(std::string_view token, size_t length) {
    flush();
    tokens_.emplace_back(token);
    at_ += length;
  }

  void flush() {
    std::string word = std::exchange(word_, {});
    if (word.empty()) return;
    // An opening quotation mark, unlike in "'s" and "'90s".
    if (word.size() > 2 && word.front() == '\'' && is_letter(word[1]) && !is_clitic(lower(word)) &&
        contraction_cut(lower(word)) == 0) {
      tokens_.emplace_back("`");
      word.erase(0, 1);
    }
    const size_t cut = clitic_start(word);
    if (cut > 0) tokens_.push_back(word.substr(0, cut));
    if (cut < word.size()) tokens_.push_back(word.substr(cut));
  }

  /// Where the Penn Treebank divides a contraction; 0: it is none.
  static size_t contraction_cut(const std::string& word) {
    constexpr std::string_view kContractions =
        " can-not d'-ye gim-me gon-na got-ta lem-me more-'n 't-is 't-was wan-na ";
    for (size_t cut = 1; word.size() <= 6 && cut < word.size(); ++cut) {
      const std::string parts = " " + word.substr(0, cut) + "-" + word.substr(cut) + " ";
      if (kContractions.find(parts) != std::string_view::npos) return cut;
    }
    return 0;
  }

  static bool is_clitic(std::string_view word) {
    static constexpr std::array<std::string_view, 9> kClitics = {"'s",  "'m",  "'d",  "'ll", "'re",
                                                                 "'ve", "n't", "'em", "'til"};
    return std::ranges::find(kClitics, word) != kClitics.end();
  }

  /// Start of the word's clitic or closing quotation mark; the word's size if it has none.
  static size_t clitic_start(const std::string& word) {
    const std::string small = lower(word);
    for (const size_t length : {size_t{2}, size_t{3}}) {
      if (word.size() > length && is_clitic(std::string_view(small).substr(word.size() - length))) {
        return word.size() - length;
      }
    }
    if (const size_t cut = contraction_cut(small); cut > 0) return cut;
    return word.size() > 1 && word.back() == '\'' ? word.size() - 1 : word.size();
  }

  std::string text_;
  size_t at_ = 0;
  std::string word_;
  std::vector<std::string> tokens_;
};

}  // namespace

std::vector<std::string> penn_tokenize(std::string_view sentence) {
  return PennTokenizer(sentence).run();
}

std::vector<std::string> tokenized_words(std::string_view line) {
  std::vector<std::string> words = split_words(line);
  for (std::string& word : words) word = escape_brackets(word);
  return words;
}

std::string escape_brackets(std::string_view word) {
  std::string escaped(word);
  for (const char* bracket : {"(", ")"}) replace_all(escaped, bracket, bracket_name(*bracket));
  return escaped;
}

}  // namespace attn
