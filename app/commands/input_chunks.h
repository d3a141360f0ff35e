// Reads standard input in chunks, for translate and parse.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace attn {

/// Calls `answer` with chunks of up to `chunk_size` lines of standard input, and flushes standard
/// output after each call. Within a chunk, lines of similar length share a batch. If standard input
/// is a terminal, a chunk is one line. Invalid UTF-8 is replaced by U+FFFD, with a warning, so that
/// output lines stay aligned with the input. Shows a progress line starting with `what`
/// ("translating") unless standard output is a terminal. Throws DataError if standard output cannot
/// be written.
void for_each_chunk(int64_t chunk_size, const std::string& what,
                    const std::function<void(std::span<const std::string>)>& answer);

}  // namespace attn
