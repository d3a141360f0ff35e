// Words of a POSIX shell.
#pragma once

#include <string>

namespace attn {

/// The text as a single-quoted shell word.
std::string shell_quoted(const std::string& text);

/// The same without quotes where none are needed.
std::string shell_word(const std::string& text);

}  // namespace attn
