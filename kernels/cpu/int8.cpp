#include "kernels/cpu/int8.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/instructions.h"

namespace attn::cpu {

namespace generic {
const Int8Kernels* int8_table();
}
#ifdef ATTN_X86_KERNELS
namespace avx2_int8 {
const Int8Kernels* table();
}
#endif
#ifdef ATTN_VNNI_KERNELS
namespace avx512_vnni {
const Int8Kernels* table();
}
#endif

namespace {

// The nearest level of a value; 0 for NaN and infinity.
int32_t int8_level(float value, float inverse_scale) {
  const float level = std::rint(value * inverse_scale);
  return level >= -127.0f && level <= 127.0f ? static_cast<int32_t>(level) : 0;
}

const Int8Kernels* vnni_kernels() {
#ifdef ATTN_VNNI_KERNELS
  __builtin_cpu_init();
  if (native_isa() >= Isa::avx512 && __builtin_cpu_supports("avx512vnni")) {
    return avx512_vnni::table();
  }
#endif
  return nullptr;
}

const Int8Kernels* avx2_kernels() {
#ifdef ATTN_X86_KERNELS
  if (native_isa() >= Isa::avx2) return avx2_int8::table();
#endif
  return nullptr;
}

}  // namespace

void pack_int8(const float* weight, int64_t outputs, int64_t inputs, int64_t panel_outputs,
               uint32_t* panels, float* scales) {
  const int64_t words = int8_words(inputs);
  for (int64_t first = 0; first < outputs; first += panel_outputs) {
    for (int64_t o = first; o < first + panel_outputs; ++o, ++scales) {
      const int64_t count = o < outputs ? inputs : 0;
      const float* row = weight + o * inputs;
      float largest = 0.0f;
      bool finite = true;
      for (int64_t i = 0; i < count; ++i) {
        finite = finite && std::isfinite(row[i]);
        largest = std::max(largest, std::abs(row[i]));
      }
      *scales = finite ? largest / 127.0f : std::numeric_limits<float>::quiet_NaN();
      const float inverse = largest > 0.0f ? 127.0f / largest : 0.0f;
      for (int64_t w = 0; w < words; ++w) {
        uint32_t word = 0;
        for (int64_t i = 4 * w; i < std::min(count, 4 * w + 4); ++i) {
          word |= (static_cast<uint32_t>(int8_level(row[i], inverse)) & 0xffu) << (8 * (i % 4));
        }
        panels[w * panel_outputs + o - first] = word;
      }
    }
    panels += words * panel_outputs;
  }
}

const Int8Kernels* supported_int8(int64_t index) {
  for (const Int8Kernels* const fast : {vnni_kernels(), avx2_kernels()}) {
    if (fast != nullptr && index-- == 0) return fast;
  }
  return index == 0 ? generic::int8_table() : nullptr;
}

const Int8Kernels* int8_kernels() {
  static const Int8Kernels* const kernels = [] {
    const auto [isa, named] = chosen_isa();
    // With AVX-512 but without VNNI, float32 products are as fast as AVX2's of int8.
    if (isa >= Isa::avx512) return vnni_kernels();
    if (isa == Isa::avx2) return avx2_kernels();
    // Plain C++ is slower than float32 products and only used in tests.
    return isa == Isa::generic && named ? generic::int8_table() : nullptr;
  }();
  return kernels;
}

}  // namespace attn::cpu
