// Normal draws for simulations.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include "base/random.h"
#include "report/seed_tests.h"

namespace attn::testing {

/// By Box and Muller's transform.
inline std::vector<double> normal_draws(int64_t count, double mean, double deviation,
                                        Random& random) {
  std::vector<double> out;
  for (int64_t i = 0; i < count; ++i) {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - random.uniform()));
    out.push_back(mean + deviation * radius * std::cos(2 * std::numbers::pi * random.uniform()));
  }
  return out;
}

/// Mean and deviation of normal draws.
inline SeedMean drawn(int64_t seeds, double mean, double deviation, Random& random) {
  return *seed_mean(normal_draws(seeds, mean, deviation, random));
}

}  // namespace attn::testing
