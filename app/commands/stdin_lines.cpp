#include "app/commands/stdin_lines.h"

#include <cstdio>
#include <iostream>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"

namespace attn {

bool next_line(std::istream& in, std::string& line, int64_t number) {
  if (!std::getline(in, line)) return false;
  if (line.ends_with('\r')) line.pop_back();
  if (number == 1) drop_byte_order_mark(line);
  return true;
}

// std::cin takes an error of the C stream for its end.
bool has_failed(const std::istream& in) {
  return in.bad() || (&in == &std::cin && std::ferror(stdin) != 0);
}

bool next_stdin_line(std::string& line, int64_t number) {
  if (next_line(std::cin, line, number)) return true;
  if (!has_failed(std::cin)) return false;
  throw DataError("standard input:" + std::to_string(number) + ": cannot be read");
}

std::vector<std::string> read_stdin_lines() {
  constexpr size_t limit = size_t{1} << 32;  // bytes
  std::vector<std::string> lines;
  size_t size = 0;
  for (std::string line; next_stdin_line(line, static_cast<int64_t>(lines.size()) + 1);) {
    size += line.size() + 1;
    if (size > limit) {
      throw DataError("<stdin>:" + std::to_string(lines.size() + 1) +
                      ": more than 4 GiB; split the input");
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace attn
