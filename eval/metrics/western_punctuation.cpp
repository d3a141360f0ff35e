#include "eval/metrics/western_punctuation.h"

#include "base/format.h"

namespace attn {
namespace {

// The tokenizers are defined as sequences of regular expressions. Each expression, given in a
// comment, is implemented by a scanner with the same leftmost, non-overlapping matches; std::regex
// would be 100 times slower.

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

}  // namespace

void decode_xml_entities(std::string& text) {
  replace_all(text, "&quot;", "\"");
  replace_all(text, "&amp;", "&");
  replace_all(text, "&lt;", "<");
  replace_all(text, "&gt;", ">");
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

// Bytes suffice: matching only the last byte of a character gives the same result.
std::string split_around_numbers(const std::string& line) {
  return split_digit_dash(split_before_others(
      split_after_others(line, is_digit, is_period_or_comma), is_digit, is_period_or_comma));
}

}  // namespace attn
