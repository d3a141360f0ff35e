// What the tests of emulated kernels share: memory of the GPU, dropout of both devices.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/random.h"
#include "kernels/cpu/table.h"
#include "kernels/cuda/arguments.h"
#include "kernels/cuda/launches.h"
#include "tests/kernels/tables.h"
#include "tests/support/catch.h"
#include "tests/support/emulated_kernels.h"

namespace attn::testing {

/// Float32 or bf16 numbers between margins of NaN, which reading outside brings into the results;
/// NaN at first. The NaNs of a buffer with values are others, so that a copy of one margin in
/// another shows. Starts at a multiple of 16 bytes.
class DeviceBuffer {
 public:
  DeviceBuffer(size_t size, bool bf16, uint32_t margin = 0xffffffffu)
      : size_(size),
        bf16_(bf16),
        margin_(margin),
        words_((size + 2 * kMargin) / 4 + 1, Words{margin, margin, margin, margin}) {}
  DeviceBuffer(const std::vector<float>& values, bool bf16)
      : DeviceBuffer(values.size(), bf16, 0xffeeffeeu) {
    for (size_t i = 0; i < size_; ++i) {
      const uint16_t narrow = to_bf16(values[i]);
      std::memcpy(bytes() + (kMargin + i) * width(),
                  bf16_ ? static_cast<const void*>(&narrow) : &values[i], width());
    }
  }

  cuda::Numbers numbers() { return {bytes() + kMargin * width(), bf16_ ? 1 : 0}; }
  float* floats() { return reinterpret_cast<float*>(bytes() + kMargin * width()); }
  float operator[](size_t i) const { return at(kMargin + i); }
  std::vector<float> values() const {
    std::vector<float> out(size_);
    for (size_t i = 0; i < size_; ++i) out[i] = (*this)[i];
    return out;
  }
  /// Whether nothing was written outside.
  bool margins_are_whole() const {
    const auto is_margin = [&](size_t i) {
      return std::memcmp(bytes() + i * width(), &margin_, width()) == 0;
    };
    for (size_t i = 0; i < kMargin; ++i) {
      if (!is_margin(i) || !is_margin(kMargin + size_ + i)) return false;
    }
    return true;
  }

 private:
  struct alignas(16) Words {
    uint32_t at[4];
  };
  static constexpr size_t kMargin = 64;
  size_t width() const { return bf16_ ? 2 : 4; }
  char* bytes() { return reinterpret_cast<char*>(words_.data()); }
  const char* bytes() const { return reinterpret_cast<const char*>(words_.data()); }
  float at(size_t i) const {
    const char* from = bytes() + i * width();
    uint16_t narrow;
    float wide;
    std::memcpy(bf16_ ? static_cast<void*>(&narrow) : &wide, from, width());
    return bf16_ ? of_bf16(narrow) : wide;
  }

  size_t size_;
  bool bf16_;
  uint32_t margin_;
  std::vector<Words> words_;
};

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
