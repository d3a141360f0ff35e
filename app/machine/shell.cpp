#include "app/machine/shell.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
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

CommandOutput output_of(const std::string& command) {
  CommandOutput output{.exit_code = 127};
  FILE* pipe = ::popen(("(" + command + ") 2>&1 </dev/null").c_str(), "r");
  if (pipe == nullptr) return output;
  char buffer[4096];
  while (const size_t read = std::fread(buffer, 1, sizeof buffer, pipe)) {
    output.text.append(buffer, read);
  }
  if (output.text.ends_with('\n')) output.text.pop_back();
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) output.exit_code = WEXITSTATUS(status);
  return output;
}

}  // namespace attn
