// Standard input as lines.
#pragma once

#include <string>
#include <vector>

namespace attn {

/// All lines of standard input without their ends ("\n" or "\r\n"). Throws DataError beyond 4 GiB:
/// a pipe need not end.
std::vector<std::string> read_stdin_lines();

}  // namespace attn
