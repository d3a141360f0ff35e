// Standard input as lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attn {

/// The next line of standard input, without its end ("\n" or "\r\n") and, if it is the first
/// (`number` 1), without a byte order mark; false at the end.
bool next_stdin_line(std::string& line, int64_t number);

/// All lines of standard input, in the same way. Throws DataError beyond 4 GiB:
/// a pipe need not end.
std::vector<std::string> read_stdin_lines();

}  // namespace attn
