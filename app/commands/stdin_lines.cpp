#include "app/commands/stdin_lines.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <utility>

#include "base/error.h"

namespace attn {

bool next_line(std::istream& in, std::string& line, size_t limit, bool* cut) {
  thread_local std::vector<char> piece(size_t{1} << 16);
  line.clear();
  if (cut) *cut = false;
  bool found = false, ended = false;
  while (!ended) {
    in.getline(piece.data(), static_cast<std::streamsize>(piece.size()));
    const auto count = static_cast<size_t>(in.gcount());
    ended = in.good();  // the line ending is counted, but not stored
    const size_t stored = ended ? count - 1 : count;
    const size_t room = limit - line.size();
    if (cut && stored > room) *cut = true;
    line.append(piece.data(), std::min(stored, room));
    found = found || count > 0;
    if (ended || in.eof() || in.bad() || count == 0) break;
    in.clear();  // a full piece without a line ending
  }
  if (!found || in.bad()) return false;
  if (line.ends_with('\r')) line.pop_back();
  return true;
}

// std::cin takes an error of the C stream for its end.
bool has_failed(const std::istream& in) {
  return in.bad() || (&in == &std::cin && std::ferror(stdin) != 0);
}

bool next_stdin_line(std::string& line, int64_t number, size_t limit, ByteOrderMark mark) {
  if (next_line(std::cin, line, limit)) {
    if (number == 1) begin_text(line, "standard input", mark);
    return true;
  }
  if (!has_failed(std::cin)) return false;
  throw DataError("cannot read standard input (line " + std::to_string(number) + ")");
}

std::vector<std::string> read_stdin_lines(ByteOrderMark mark) {
  constexpr size_t limit = size_t{1} << 32;  // bytes
  std::vector<std::string> lines;
  size_t size = 0;
  const auto next = [&](std::string& line) {
    return next_stdin_line(line, static_cast<int64_t>(lines.size()) + 1, limit - size + 1, mark);
  };
  for (std::string line; next(line);) {
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
