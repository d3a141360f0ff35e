#include "eval/metrics/bleu_tokenize.h"

#include <cstdint>
#include <vector>

#include "base/unicode.h"
#include "base/utf8.h"

namespace attn {
namespace {

// The tokenizers are defined as sequences of regular expressions. Each expression, given in a
// comment, is implemented by a scanner with the same leftmost, non-overlapping matches; std::regex
// would be 100 times slower.

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  size_t found = text.find(from);
  if (found == std::string::npos) return;
  std::string out;
  size_t done = 0;
  for (; found != std::string::npos; found = text.find(from, done)) {
    out.append(text, done, found - done).append(to);
    done = found + from.size();
  }
  text = out.append(text, done, std::string::npos);
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_period_or_comma(char c) {
  return c == '.' || c == ',';
}

/// Printable ASCII but letters, digits, apostrophe, comma, hyphen and period.
bool is_13a_symbol(char c) {
  return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') ||
         (c >= '(' && c <= '+') || (c >= ':' && c <= '@') || c == '/';
}

/// ([\{-\~\[-\` -\&\(-\+\:-\@\/])  ->  " $1 "
std::string split_symbols(std::string_view line) {
  std::string out;
  out.reserve(line.size() * 2);
  for (const char c : line) {
    if (is_13a_symbol(c)) {
      out += {' ', c, ' '};
    } else {
      out += c;
    }
  }
  return out;
}

/// ([^0-9])([\.,])  ->  "$1 $2 "
/// Bytes suffice: matching only the last byte of a character gives the same result.
std::string split_after_non_digit(std::string_view line) {
  std::string out;
  out.reserve(line.size() * 2);
  for (size_t i = 0; i < line.size(); ++i) {
    out += line[i];
    if (!is_digit(line[i]) && i + 1 < line.size() && is_period_or_comma(line[i + 1])) {
      out += {' ', line[++i], ' '};
    }
  }
  return out;
}

/// ([\.,])([^0-9])  ->  " $1 $2"
std::string split_before_non_digit(std::string_view line) {
  std::string out;
  out.reserve(line.size() * 2);
  for (size_t i = 0; i < line.size(); ++i) {
    if (is_period_or_comma(line[i]) && i + 1 < line.size() && !is_digit(line[i + 1])) {
      out += {' ', line[i], ' ', line[i + 1]};
      ++i;
    } else {
      out += line[i];
    }
  }
  return out;
}

/// ([0-9])(-)  ->  "$1 $2 "
std::string split_digit_dash(std::string_view line) {
  std::string out;
  out.reserve(line.size() * 2);
  for (size_t i = 0; i < line.size(); ++i) {
    out += line[i];
    if (is_digit(line[i]) && i + 1 < line.size() && line[i + 1] == '-') {
      out += " - ";
      ++i;
    }
  }
  return out;
}

std::string tokenize_13a(std::string_view line) {
  std::string text(line);
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");
  replace_all(text, "\n", " ");
  replace_all(text, "&quot;", "\"");
  replace_all(text, "&amp;", "&");
  replace_all(text, "&lt;", "<");
  replace_all(text, "&gt;", ">");
  text = split_symbols(' ' + text + ' ');
  text = split_after_non_digit(text);
  text = split_before_non_digit(text);
  return split_digit_dash(text);
}

using CodePoints = std::vector<char32_t>;

/// (\P{N})(\p{P})  ->  "$1 $2 "
CodePoints split_punctuation_after_non_number(const CodePoints& line) {
  CodePoints out;
  out.reserve(line.size() * 2);
  for (size_t i = 0; i < line.size(); ++i) {
    out.push_back(line[i]);
    if (i + 1 < line.size() && is_punctuation(line[i + 1]) && !is_number(line[i])) {
      out.insert(out.end(), {U' ', line[++i], U' '});
    }
  }
  return out;
}

/// (\p{P})(\P{N})  ->  " $1 $2"
CodePoints split_punctuation_before_non_number(const CodePoints& line) {
  CodePoints out;
  out.reserve(line.size() * 2);
  for (size_t i = 0; i < line.size(); ++i) {
    if (i + 1 < line.size() && is_punctuation(line[i]) && !is_number(line[i + 1])) {
      out.insert(out.end(), {U' ', line[i], U' ', line[i + 1]});
      ++i;
    } else {
      out.push_back(line[i]);
    }
  }
  return out;
}

std::string tokenize_intl(std::string_view line) {
  const CodePoints text =
      split_punctuation_before_non_number(split_punctuation_after_non_number(decode_utf8(line)));
  std::string out;
  out.reserve(line.size() * 2);
  for (const char32_t c : text) {  // (\p{S})  ->  " $1 "
    const bool symbol = is_symbol(c);
    if (symbol) out += ' ';
    append_utf8(out, c);
    if (symbol) out += ' ';
  }
  return out;
}

std::string tokenize_characters(std::string_view line) {
  std::string out;
  out.reserve(line.size() * 2);
  for (const char32_t c : decode_utf8(line)) {
    append_utf8(out, c);
    out += ' ';
  }
  return out;
}

}  // namespace

std::string split_compounds(std::string_view line) {
  if (line.find('-') == std::string_view::npos) return std::string(line);
  const CodePoints text = decode_utf8(line);
  std::string out;
  out.reserve(line.size() * 2);
  for (size_t i = 0; i < text.size(); ++i) {
    append_utf8(out, text[i]);
    if (i + 2 < text.size() && text[i + 1] == U'-' && !is_space(text[i]) &&
        !is_space(text[i + 2])) {
      out += " ##AT##-##AT## ";
      append_utf8(out, text[i + 2]);
      i += 2;
    }
  }
  return out;
}

std::string bleu_tokenize(std::string_view line, BleuTokenizer tokenizer) {
  line = strip_right(line);
  switch (tokenizer) {
    case BleuTokenizer::v13a:
      return tokenize_13a(line);
    case BleuTokenizer::none:
      return std::string(line);
    case BleuTokenizer::intl:
      return tokenize_intl(line);
    case BleuTokenizer::character:
      return tokenize_characters(line);
    case BleuTokenizer::compound:
      return split_compounds(line);
  }
  return std::string(line);
}

}  // namespace attn
