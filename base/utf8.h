// Decoding and validation of UTF-8.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// Offset of the first byte that is not part of well-formed UTF-8 (overlong forms, surrogates and
/// code points above U+10FFFF are malformed); std::nullopt if all of the text is well-formed.
std::optional<size_t> find_invalid_utf8(std::string_view text);

/// Code points of well-formed text; a malformed byte becomes U+FFFD.
std::vector<char32_t> decode_utf8(std::string_view text);

/// The text without a byte order mark at its start. Only for the start of a file or stream, since
/// elsewhere U+FEFF is a character.
std::string_view without_byte_order_mark(std::string_view text);

/// ASCII white space: space, tab, line feed, vertical tab, form feed, carriage return.
constexpr bool is_ascii_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/// Appends one code point as UTF-8.
void append_utf8(std::string& out, char32_t code_point);

}  // namespace attn
