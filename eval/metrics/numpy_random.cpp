#include "eval/metrics/numpy_random.h"

#include <array>
#include <cstddef>

namespace attn {
namespace {

constexpr int kPoolSize = 4;
constexpr int kShift = 16;

/// SeedSequence's hash of one word; updates `constant`.
uint32_t hash_word(uint32_t value, uint32_t& constant, uint32_t multiplier) {
  value ^= constant;
  constant *= multiplier;
  value *= constant;
  return value ^ (value >> kShift);
}

uint32_t mix(uint32_t x, uint32_t y) {
  const uint32_t mixed = 0xca01f9ddU * x - 0x4973f715U * y;
  return mixed ^ (mixed >> kShift);
}

/// `SeedSequence(seed).generate_state(4, uint64)`.
std::array<uint64_t, 4> seed_state(uint64_t seed) {
  std::array<uint32_t, kPoolSize> pool = {static_cast<uint32_t>(seed),
                                          static_cast<uint32_t>(seed >> 32)};
  uint32_t constant = 0x43b0d7e5U;
  for (uint32_t& word : pool) word = hash_word(word, constant, 0x931e8875U);
  for (size_t from = 0; from < kPoolSize; ++from) {
    for (size_t to = 0; to < kPoolSize; ++to) {
      if (from != to) pool[to] = mix(pool[to], hash_word(pool[from], constant, 0x931e8875U));
    }
  }
  std::array<uint64_t, 4> state{};
  constant = 0x8b51f9ddU;
  for (size_t i = 0; i < 8; ++i) {
    const uint64_t word = hash_word(pool[i % kPoolSize], constant, 0x58f38dedU);
    state[i / 2] |= word << (32 * (i % 2));
  }
  return state;
}

}  // namespace

NumpyGenerator::NumpyGenerator(uint64_t seed) {
  const std::array<uint64_t, 4> words = seed_state(seed);
  const Uint128 start = (static_cast<Uint128>(words[0]) << 64) | words[1];
  increment_ = (((static_cast<Uint128>(words[2]) << 64) | words[3]) << 1) | 1;
  next_uint64();
  state_ += start;
  next_uint64();
}

uint64_t NumpyGenerator::next_uint64() {
  const Uint128 multiplier =
      (static_cast<Uint128>(0x2360ed051fc65da4ULL) << 64) | 0x4385df649fccf645ULL;
  state_ = state_ * multiplier + increment_;
  const auto folded = static_cast<uint64_t>(state_ >> 64) ^ static_cast<uint64_t>(state_);
  const auto rotation = static_cast<unsigned>(state_ >> 122);
  return (folded >> rotation) | (folded << ((64 - rotation) % 64));
}

uint32_t NumpyGenerator::next_uint32() {
  if (has_half_) {
    has_half_ = false;
    return half_;
  }
  const uint64_t both = next_uint64();
  half_ = static_cast<uint32_t>(both >> 32);
  has_half_ = true;
  return static_cast<uint32_t>(both);
}

uint32_t NumpyGenerator::below(uint32_t bound) {
  if (bound <= 1) return 0;  // like NumPy, without drawing a number
  uint64_t product = uint64_t{next_uint32()} * bound;
  if (static_cast<uint32_t>(product) < bound) {
    const uint32_t threshold = (0U - bound) % bound;
    while (static_cast<uint32_t>(product) < threshold) product = uint64_t{next_uint32()} * bound;
  }
  return static_cast<uint32_t>(product >> 32);
}

}  // namespace attn
