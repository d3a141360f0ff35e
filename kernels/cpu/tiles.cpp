#include "kernels/cpu/tiles.h"

#include "kernels/cpu/instructions.h"

namespace attn::cpu {

#ifdef ATTN_AMX_KERNELS
namespace amx {
const TileKernels* table();
}
#endif

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
