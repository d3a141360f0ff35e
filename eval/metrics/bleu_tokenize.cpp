#include "eval/metrics/bleu_tokenize.h"

#include <vector>

#include "base/format.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "eval/metrics/western_punctuation.h"

namespace attn {
namespace {

// The tokenizers are defined as sequences of regular expressions, see western_punctuation.cpp.

std::string tokenize_13a(std::string_view line) {
  std::string text(line);
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");
  replace_all(text, "\n", " ");
  decode_xml_entities(text);
  return split_around_numbers(split_symbols(' ' + text + ' '));
}

using CodePoints = std::vector<char32_t>;

std::string tokenize_intl(std::string_view line) {
  const CodePoints text = split_before_others(
      split_after_others(decode_utf8(line), is_number, is_punctuation), is_number, is_punctuation);
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
