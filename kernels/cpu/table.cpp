#include "kernels/cpu/table.h"

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

const Kernels& kernels() {
#ifdef ATTN_X86_KERNELS
  static const Kernels& best = [&]() -> const Kernels& {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) {
      return avx512::table();
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::table();
    return generic::table();
  }();
  return best;
#else
  return generic::table();
#endif
}

}  // namespace attn::cpu
