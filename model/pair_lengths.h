#pragma once

#include <cstdint>

namespace attn {

/// Lengths of one sentence pair in tokens, EOS included.
struct PairLengths {
  int64_t source = 0;
  int64_t target = 0;
};

}  // namespace attn
