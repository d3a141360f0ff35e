// Instruction sets of this processor, at run time.
#pragma once

namespace attn::cpu {

#ifdef ATTN_X86_KERNELS
/// Everything that avx512.cpp is compiled for.
inline bool has_avx512() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("fma");
}
#endif

}  // namespace attn::cpu
