// Number of sentences finished by beam search, for progress displays.
#pragma once

#include <atomic>
#include <cstdint>

namespace attn {

/// Total of this process, over all threads.
inline std::atomic<int64_t> searched_sentences = 0;

}  // namespace attn
