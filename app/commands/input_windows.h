// Standard input for commands that answer line by line.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "app/commands/stdin_progress.h"

namespace attn {

/// Calls `answer` with up to `window` lines of standard input at a time (see next_stdin_line), and
/// flushes standard output after each call. Windows let lines of like length share a batch; a
/// person at a terminal gets every line at once. A line that is no UTF-8 comes with U+FFFD in place
/// of its bad bytes, and a message, so that the order of lines is kept. `progress` counts what was
/// read. Throws DataError when standard output cannot be written.
void for_each_window(int64_t window,
                     const std::function<void(std::span<const std::string>)>& answer,
                     StdinProgress* progress = nullptr);

}  // namespace attn
