// Relative positions for the CPU kernels.
#pragma once

#include <algorithm>

#include "kernels/cpu/table.h"
#include "kernels/ops/attention_options.h"

namespace attn {

/// The rows for distances of at most `farthest`, from the given columns on; none if undefined.
/// `vectors`: float32 and contiguous.
inline cpu::RelativeRows relative_rows(const RelativeVectors& vectors, int64_t farthest,
                                       int64_t key_column = 0, int64_t value_column = 0) {
  if (!vectors.defined()) return {};
  const int64_t clip = std::min(vectors.clip(), farthest), first = vectors.clip() - clip;
  const int64_t key_stride = vectors.keys.size(1), value_stride = vectors.values.size(1);
  return {.key = vectors.keys.const_data_ptr<float>() + first * key_stride + key_column,
          .value = vectors.values.const_data_ptr<float>() + first * value_stride + value_column,
          .key_stride = key_stride,
          .value_stride = value_stride,
          .clip = clip};
}

}  // namespace attn
