// The kernel tables under test, and random input for them.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "base/random.h"
#include "kernels/cpu/table.h"
#include "tests/support/catch.h"

namespace attn::testing {

/// Uniform in [-1, 1).
inline std::vector<float> random_floats(Random& random, int64_t n) {
  std::vector<float> out(static_cast<size_t>(n));
  for (float& x : out) x = static_cast<float>(2 * random.uniform() - 1);
  return out;
}

/// Dropout of weights with probability `p`; none with 0.
inline cpu::DropoutKey dropout_of(double p) {
  if (p == 0.0) return {};
  return {.key = 77,
          .threshold = static_cast<uint32_t>(p * 4294967296.0),
          .scale = static_cast<float>(1 / (1 - p))};
}

/// Whether a query may attend to a key, as AttentionHead's `causal` and `window` say.
inline bool attends(bool causal, int64_t window, int64_t query, int64_t key) {
  if (causal && key > query) return false;
  if (window == 0) return true;
  return causal ? query - key < window : std::abs(query - key) <= window / 2;
}

/// Runs the test case once for every instruction set that the machine supports.
inline const cpu::Kernels& each_table() {
  std::vector<const cpu::Kernels*> tables;
  while (const auto* table = cpu::supported(static_cast<int64_t>(tables.size()))) {
    tables.push_back(table);
  }
  return *GENERATE_COPY(from_range(tables));
}

}  // namespace attn::testing
