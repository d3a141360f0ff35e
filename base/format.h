// Numbers and printf into strings: GCC 12 has no std::format.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

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

/// %.*g, but without an exponent for large numbers: 17574.2 with 4 digits is "17574".
inline std::string significant(double value, int digits) {
  const bool large = std::isfinite(value) && std::abs(value) >= std::pow(10.0, digits) - 0.5;
  return large ? format("%.0f", value) : format("%.*g", digits, value);
}

/// %.*f, but with an exponent for numbers of ten million or more; "nan" without a sign.
inline std::string decimal(double value, int digits) {
  if (std::isnan(value)) return "nan";
  return std::abs(value) < 1e7 ? format("%.*f", digits, value) : format("%.3e", value);
}

/// "1 line", "2 lines"; `plural` if it is not the noun with an s.
inline std::string counted(int64_t count, const std::string& noun, const std::string& plural = "") {
  const std::string several = plural.empty() ? noun + "s" : plural;
  return std::to_string(count) + " " + (count == 1 ? noun : several);
}

/// Replaces all occurrences of `from`, which is not empty, in linear time.
inline void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::string out;
  size_t done = 0;
  for (size_t found; (found = text.find(from, done)) != std::string::npos;) {
    out.append(text, done, found - done).append(to);
    done = found + from.size();
  }
  text = out.append(text, done);
}

/// The texts of a range with `separator` between them.
template <class Range>
requires std::convertible_to<decltype(*std::begin(std::declval<const Range&>())), std::string_view>
    std::string joined(const Range& texts, std::string_view separator = " ") {
  std::string out;
  bool first = true;
  for (const std::string_view text : texts) {
    if (!first) out += separator;
    out += text;
    first = false;
  }
  return out;
}

}  // namespace attn
