// The limit of --threads.
#pragma once

namespace attn {

inline constexpr int kMaxThreads = 4096;

}  // namespace attn
