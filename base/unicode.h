// What Python and sacreBLEU know about characters: white space, punctuation, symbols, numbers and
// lower case. The tables in unicode_tables.h are written by tools/unicode_tables.py.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// General category P (punctuation).
bool is_punctuation(char32_t code_point);

/// General category S (symbols).
bool is_symbol(char32_t code_point);

/// General category N (numbers, in any script; Roman numerals and fractions too).
bool is_number(char32_t code_point);

/// White space as Python's str.split() and str.rstrip() have it: the no-break space and U+001C to
/// U+001F count.
bool is_space(char32_t code_point);

/// Python's str.lower(): full case mapping, with the final sigma. Malformed bytes become U+FFFD.
std::string to_lower(std::string_view text);

/// Python's str.split(): the maximal runs without white space, as views into `text`.
std::vector<std::string_view> split_whitespace(std::string_view text);
template <std::same_as<std::string> Temporary>
std::vector<std::string_view> split_whitespace(Temporary&&) = delete;  // the views would dangle

/// Python's str.rstrip(): `text` without the white space at its end.
std::string_view strip_right(std::string_view text);

}  // namespace attn
