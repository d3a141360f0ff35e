#include "app/machine/shell.h"

#include <algorithm>
#include <string_view>

namespace attn {

std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string shell_word(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](const char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view("_-+=.,:/@%").find(c) != std::string_view::npos;
  });
  return plain && !text.empty() ? text : shell_quoted(text);
}

}  // namespace attn
