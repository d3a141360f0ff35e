// The median of measured times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace attn {

/// The upper median of at least one time; reorders them.
inline double median(std::vector<double>& times) {
  const auto middle = times.begin() + static_cast<int64_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace attn
