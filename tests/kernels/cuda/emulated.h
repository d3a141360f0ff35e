// What the tests of emulated kernels share.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "kernels/cpu/table.h"
#include "kernels/cuda/launches.h"
#include "tests/kernels/cuda/device_buffer.h"
#include "tests/kernels/tables.h"
#include "tests/support/catch.h"
#include "tests/support/emulated_kernels.h"

namespace attn::testing {

/// One key for both devices.
struct DropoutKeys {
  cpu::DropoutKey cpu;
  cuda::Dropout gpu;
};

/// The second key that a ComputeScope with this seed draws; none for p = 0. The seed must outlive
/// the result.
inline DropoutKeys dropout_keys(double p, const uint64_t& seed) {
  if (p == 0.0) return {};
  Random random(seed);
  random.next();
  cpu::DropoutKey key = dropout_of(p);
  key.key = random.next();
  return {key,
          {.seed = &seed,
           .draw = 2 * 0x9e3779b97f4a7c15ull,
           .threshold = key.threshold,
           .scale = key.scale}};
}

/// The CPU's factors of dropout for `count` elements.
inline std::vector<float> cpu_factors(int64_t count, const cpu::DropoutKey& key) {
  std::vector<float> factors(static_cast<size_t>(count), 1.0f);
  if (key.threshold != 0) {
    cpu::kernels().dropout(factors.data(), factors.data(), 0, count, key);
  }
  return factors;
}

/// The values as they are in a buffer of this type.
inline std::vector<float> rounded(std::vector<float> values, bool bf16) {
  if (bf16) {
    for (float& x : values) x = of_bf16(to_bf16(x));
  }
  return values;
}

/// The largest difference, relative to the expected value or to `scale` where that is larger; NaN
/// counts as infinite.
inline double error_of(const DeviceBuffer& got, const std::vector<double>& expected,
                       double scale = 1.0) {
  double worst = 0.0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double apart = std::abs(got[i] - expected[i]) / std::max(std::abs(expected[i]), scale);
    if (!(apart <= worst)) worst = std::isnan(apart) ? INFINITY : apart;
  }
  return worst;
}

/// Rounding of sums in float32, and of a result to bf16.
inline double bound(bool bf16) {
  return bf16 ? 0.00392 : 5e-6;
}

}  // namespace attn::testing
