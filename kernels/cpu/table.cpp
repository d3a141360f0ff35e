#include "kernels/cpu/table.h"

#include "kernels/cpu/tiles.h"

namespace attn::cpu {

namespace generic {
const Kernels& table();
}
#ifdef ATTN_X86_KERNELS
namespace avx2 {
const Kernels& table();
}
namespace avx512 {
const Kernels& table();
}
#endif
#ifdef ATTN_AMX_KERNELS
namespace amx {
const TileKernels* table();
}
#endif

#ifdef ATTN_X86_KERNELS
namespace {
// All that avx512.cpp is compiled for.
bool has_avx512() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("fma");
}
}  // namespace
#endif

const Kernels* supported(int64_t index) {
#ifdef ATTN_X86_KERNELS
  if (has_avx512() && index-- == 0) return &avx512::table();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && index-- == 0) {
    return &avx2::table();
  }
#endif
  return index == 0 ? &generic::table() : nullptr;
}

const Kernels& kernels() {
  static const Kernels& best = *supported(0);
  return best;
}

bool has_bf16_instructions() {
#ifdef ATTN_X86_KERNELS
  return has_avx512() && __builtin_cpu_supports("avx512bf16");
#else
  return true;
#endif
}

const TileKernels* tile_kernels() {
#ifdef ATTN_AMX_KERNELS
  static const TileKernels* const kernels = has_bf16_instructions() &&
                                                    __builtin_cpu_supports("amx-tile") &&
                                                    __builtin_cpu_supports("amx-bf16")
                                                ? amx::table()
                                                : nullptr;
  return kernels;
#else
  return nullptr;
#endif
}

}  // namespace attn::cpu
