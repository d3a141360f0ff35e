// printf into a string: GCC 12 has no std::format.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <string>

namespace attn {

/// Formats like printf, to a string of any length.
#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
inline std::string
format(const char* pattern, ...) {
  va_list values, again;
  va_start(values, pattern);
  va_copy(again, values);
  const int size = std::vsnprintf(nullptr, 0, pattern, values);
  std::string text(size > 0 ? static_cast<size_t>(size) : 0, '\0');
  // std::string has room for the terminating null character.
  std::vsnprintf(text.data(), text.size() + 1, pattern, again);
  va_end(again);
  va_end(values);
  return text;
}

}  // namespace attn
