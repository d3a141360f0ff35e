// Standard input, and other streams, as lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string>
#include <vector>

#include "base/file.h"

namespace attn {

/// Reads the next line of a stream, without the line ending ("\n" or "\r\n"). Bytes of a line after
/// the first `limit` are read and dropped; `cut` receives whether there were any. Returns false at
/// the end of the input.
bool next_line(std::istream& in, std::string& line, size_t limit = std::string::npos,
               bool* cut = nullptr);

/// Whether reading ended with an error. `in` is a file or std::cin.
bool has_failed(const std::istream& in);

/// next_line for standard input, with begin_text (base/file.h) for line `number` 1. Throws
/// DataError if it cannot be read.
bool next_stdin_line(std::string& line, int64_t number, size_t limit = std::string::npos,
                     ByteOrderMark mark = ByteOrderMark::drop);

/// Reads all lines in the same way. Throws DataError also for more than 4 GiB, since a pipe may be
/// endless.
std::vector<std::string> read_stdin_lines(ByteOrderMark mark = ByteOrderMark::drop);

}  // namespace attn
