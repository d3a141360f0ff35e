// Words and commands of a POSIX shell.
#pragma once

#include <string>

namespace attn {

/// The text as a single-quoted shell word.
std::string shell_quoted(const std::string& text);

/// The same without quotes where none are needed.
std::string shell_word(const std::string& text);

struct CommandOutput {
  int exit_code = 0;  ///< 127: not found
  std::string text;   ///< stdout and stderr, without the last line's end
};

/// Runs a command line of the shell.
CommandOutput output_of(const std::string& command);

}  // namespace attn
