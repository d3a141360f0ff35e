// Numbers in files and on the command line, independent of the locale.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace attn {

/// The number that the whole of `text` is, as std::from_chars reads it (no leading spaces, no
/// '+'); none if it is anything else, is empty or does not fit into T.
template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

}  // namespace attn
