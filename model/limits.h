// Limits of the options of all architectures; larger sizes are probably typos.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/check.h"

namespace attn {

inline constexpr int64_t kMaxLayers = 100;     ///< of one side or stack; Transformers may be deeper
inline constexpr int64_t kMaxWidth = 1 << 20;  ///< dimensions, or distances between positions
inline constexpr int64_t kMaxKernel = 1000;    ///< widths of convolutions

/// Throws ConfigError unless the value is at least 0 and below 1.
inline void require_dropout(std::string_view name, double value) {
  require(value >= 0.0 && value < 1.0, name, value, "must be at least 0 and below 1");
}

}  // namespace attn
