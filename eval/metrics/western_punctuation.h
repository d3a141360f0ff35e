// Steps that the tokenizers of BLEU (mteval-v13a) and TER (Tercom) share: punctuation of Western
// languages.
#pragma once

#include <string>
#include <string_view>

namespace attn {

/// Replaces &quot; &amp; &lt; &gt;, in this order.
void decode_xml_entities(std::string& text);

/// Spaces around printable ASCII except letters, digits, apostrophe, comma, hyphen and period.
std::string split_symbols(std::string_view line);

/// Spaces around periods and commas that are not between digits, and around a hyphen after a digit.
std::string split_around_numbers(const std::string& line);

/// (\P{N})(M)  ->  "$1 $2 ", for marks M after anything but a number; of bytes or code points.
template <class Text, class IsNumber, class IsMark>
Text split_after_others(const Text& line, const IsNumber& is_number, const IsMark& is_mark) {
  Text out;
  out.reserve(line.size() * 2);
  for (size_t i = 0; i < line.size(); ++i) {
    out.push_back(line[i]);
    if (i + 1 < line.size() && is_mark(line[i + 1]) && !is_number(line[i])) {
      out.insert(out.end(), {' ', line[++i], ' '});
    }
  }
  return out;
}

/// (M)(\P{N})  ->  " $1 $2"
template <class Text, class IsNumber, class IsMark>
Text split_before_others(const Text& line, const IsNumber& is_number, const IsMark& is_mark) {
  Text out;
  out.reserve(line.size() * 2);
  for (size_t i = 0; i < line.size(); ++i) {
    if (i + 1 < line.size() && is_mark(line[i]) && !is_number(line[i + 1])) {
      out.insert(out.end(), {' ', line[i], ' ', line[i + 1]});
      ++i;
    } else {
      out.push_back(line[i]);
    }
  }
  return out;
}

}  // namespace attn
