// How a sum over processes is divided, and in which order it adds.
#pragma once

#include <algorithm>
#include <cstdint>

namespace attn {

/// Calls add(i, j), "part i += part j", for the pairwise tree ((p0 + p1) + (p2 + p3)) + …; the sum
/// ends in part 0. The sums of 2^k consecutive parts are nodes of this tree, so it does not matter
/// which parts were added by threads of one process and which by different processes.
template <class Add>
void tree_sum(int64_t parts, Add&& add) {
  for (int64_t stride = 1; stride < parts; stride *= 2) {
    for (int64_t i = 0; i + stride < parts; i += 2 * stride) add(i, i + stride);
  }
}

/// Floats whose squares are summed before they enter a norm (train/parallel/gradient_sum.h).
inline constexpr int64_t kNormBlock = 4096;

/// A range of a flat buffer.
struct FlatRange {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
  bool operator==(const FlatRange&) const = default;
};

/// The shard of a process of a flat buffer: it adds this part of all gradients and, with
/// runtime.shard_optimizer, updates it. Shards begin at multiples of kNormBlock; the last ones may
/// be shorter, or empty.
inline FlatRange shard_of(int64_t floats, int64_t rank, int64_t processes) {
  const int64_t blocks = (floats + kNormBlock - 1) / kNormBlock,
                each = (blocks + processes - 1) / processes * kNormBlock;
  return {std::min(rank * each, floats), std::min((rank + 1) * each, floats)};
}

}  // namespace attn
