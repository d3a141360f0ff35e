#include "kernels/cpu/table.h"

#include <vector>

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

namespace {

std::vector<const Kernels*> find_supported() {
  std::vector<const Kernels*> tables;
#ifdef ATTN_X86_KERNELS
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")) {
    tables.push_back(&avx512::table());
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    tables.push_back(&avx2::table());
  }
#endif
  tables.push_back(&generic::table());
  return tables;
}

}  // namespace

std::span<const Kernels* const> supported() {
  static const std::vector<const Kernels*> tables = find_supported();
  return tables;
}

const Kernels& kernels() {
  static const Kernels& best = *supported().front();
  return best;
}

}  // namespace attn::cpu
