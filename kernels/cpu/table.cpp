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

const Kernels* supported(int64_t index) {
#ifdef ATTN_X86_KERNELS
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") && index-- == 0) {
    return &avx512::table();
  }
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

const TileKernels* tile_kernels() {
#ifdef ATTN_AMX_KERNELS
  __builtin_cpu_init();
  static const bool has = __builtin_cpu_supports("amx-tile") &&
                          __builtin_cpu_supports("amx-bf16") &&
                          __builtin_cpu_supports("avx512bf16");
  return has ? amx::table() : nullptr;
#else
  return nullptr;
#endif
}

}  // namespace attn::cpu
