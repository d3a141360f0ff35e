// Chunked standard input for translate and parse.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace attn {

/// Calls `answer` with chunks of up to `window` lines of standard input, and flushes standard
/// output after each call. Within a chunk lines of similar length share a batch; on a terminal a
/// chunk is one line. Invalid UTF-8 is replaced by U+FFFD, with a warning, to keep the order of
/// lines. Shows a progress line that begins with `what` ("translating") where the output is not
/// on the terminal itself. Throws DataError if standard output cannot be written.
void for_each_window(int64_t window, const std::string& what,
                     const std::function<void(std::span<const std::string>)>& answer);

}  // namespace attn
