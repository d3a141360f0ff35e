// How many sentences beam search has finished, for a progress display.
#pragma once

#include <atomic>
#include <cstdint>

namespace attn {

/// Of this process, on all threads.
inline std::atomic<int64_t> searched_sentences = 0;

}  // namespace attn
