// Reads an input in chunks, for translate and parse.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "app/commands/output_file.h"

namespace attn {

struct ChunkedInput {
  std::filesystem::path file;  ///< empty or "-": standard input
  int64_t chunk_size = 1024;   ///< lines
  std::string what;            ///< for the progress line: "translating"
};

/// Calls `answer` with chunks of lines of the input, and flushes the output after each call. Within
/// a chunk, lines of similar length share a batch. If the input is a terminal, a chunk is one line.
/// Invalid UTF-8 is replaced by U+FFFD, with a warning, so that output lines stay aligned with the
/// input. Shows a progress line unless the output is a terminal. Throws DataError if the input
/// cannot be read or the output cannot be written.
void for_each_chunk(const ChunkedInput& input, OutputFile& output,
                    const std::function<void(std::span<const std::string>)>& answer);

}  // namespace attn
