// The kernel tables under test, and random input for them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "kernels/cpu/table.h"
#include "tests/support/catch.h"

namespace attn::testing {

using Sizes = std::tuple<int64_t, int64_t, int64_t>;

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

/// Runs the test case once for every implementation that the machine supports; the last one is
/// plain C++.
template <class Table>
const Table& each_of(const Table* (*supported)(int64_t)) {
  std::vector<const Table*> tables;
  while (const auto* table = supported(static_cast<int64_t>(tables.size()))) {
    tables.push_back(table);
  }
  REQUIRE(tables.back()->name == std::string("generic"));
  return *GENERATE_COPY(from_range(tables));
}
inline const cpu::Kernels& each_table() {
  return each_of(cpu::supported);
}

inline float of_bf16(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float x;
  std::memcpy(&x, &wide, sizeof x);
  return x;
}

/// To nearest even; not for NaN.
inline uint16_t to_bf16(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace attn::testing
