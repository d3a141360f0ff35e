#include "app/stdin_lines.h"

#include <iostream>
#include <utility>

#include "base/error.h"

namespace attn {

std::vector<std::string> read_stdin_lines() {
  constexpr size_t limit = size_t{1} << 32;  // bytes
  std::vector<std::string> lines;
  size_t size = 0;
  for (std::string line; std::getline(std::cin, line);) {
    if (line.ends_with('\r')) line.pop_back();
    size += line.size() + 1;
    if (size > limit) {
      throw DataError("<stdin>:" + std::to_string(lines.size() + 1) +
                      ": more than 4 GiB; score it in parts");
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace attn
