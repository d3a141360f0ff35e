// NumPy's default random generator, bit for bit, for the same resamples as sacreBLEU.
#pragma once

#include <cstdint>

namespace attn {

/// `numpy.random.default_rng(seed)`: PCG64 (O'Neill, 2014; 128-bit state, XSL-RR output), seeded
/// through NumPy's SeedSequence. Only implements what resampling needs.
class NumpyGenerator {
 public:
  explicit NumpyGenerator(uint64_t seed);

  /// The next value of `integers(0, bound)` or `choice(bound, replace=True)`: uniform in [0, bound)
  /// for 1 <= bound < 2^32, by the method of Lemire (2019).
  uint32_t below(uint32_t bound);

 private:
  __extension__ using Uint128 = unsigned __int128;

  uint64_t next_uint64();
  uint32_t next_uint32();

  Uint128 state_ = 0;
  Uint128 increment_ = 0;
  bool has_half_ = false;  // a 64-bit draw serves two 32-bit ones, its low half first
  uint32_t half_ = 0;
};

}  // namespace attn
