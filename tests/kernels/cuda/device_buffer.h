// Memory of an emulated GPU.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "kernels/cuda/arguments.h"
#include "tests/kernels/tables.h"

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

}  // namespace attn::testing
