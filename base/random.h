// A portable seeded generator with a state of one integer, so that streams of batches can be
// resumed.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

namespace attn {

/// The finalizer of splitmix64 (Steele, Lea and Flood 2014): a bijection that mixes all 64 bits.
constexpr uint64_t mix64(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// Splitmix64. Copyable.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  /// Different streams of the same seed are independent.
  Random(uint64_t seed, uint64_t stream)
      : state_(mix64(seed ^ mix64(stream + 0x9e3779b97f4a7c15ULL))) {}

  uint64_t next() { return mix64(advance()); }
  /// Of next() before mix64: the seed plus a constant for each call.
  uint64_t advance() { return state_ += 0x9e3779b97f4a7c15ULL; }
  /// Uniform in [0, n); n > 0. Unbiased, by rejection.
  uint64_t below(uint64_t n) {
    const uint64_t limit = ~uint64_t{0} - (~uint64_t{0} % n + 1) % n;
    uint64_t value = next();
    while (value > limit) value = next();
    return value % n;
  }
  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  /// Fisher-Yates.
  template <class T>
  void shuffle(std::span<T> items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  uint64_t state_;
};

}  // namespace attn
