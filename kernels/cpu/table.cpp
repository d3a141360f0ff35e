#include "kernels/cpu/table.h"

#include "kernels/cpu/instructions.h"

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

}  // namespace attn::cpu
