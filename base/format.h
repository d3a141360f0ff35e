// printf into a string: GCC 12 has no std::format.
#pragma once

#include <cstdio>
#include <string>

namespace attn {

/// The text that printf would print, of any length.
template <class... Values>
std::string format(const char* pattern, Values... values) {
  const int size = std::snprintf(nullptr, 0, pattern, values...);
  std::string text(size > 0 ? static_cast<size_t>(size) : 0, '\0');
  // The string has room for the closing zero that snprintf writes behind it.
  std::snprintf(text.data(), text.size() + 1, pattern, values...);
  return text;
}

}  // namespace attn
