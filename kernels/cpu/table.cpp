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

namespace {

const Kernels& kernels_of(Isa isa) {
#ifdef ATTN_X86_KERNELS
  if (isa >= Isa::avx512) return avx512::table();
  if (isa == Isa::avx2) return avx2::table();
#endif
  return generic::table();
}

}  // namespace

const Kernels* supported(int64_t index) {
  for (const Isa isa : {Isa::avx512, Isa::avx2, Isa::generic}) {
    if (isa <= native_isa() && index-- == 0) return &kernels_of(isa);
  }
  return nullptr;
}

const Kernels& kernels() {
  static const Kernels& best = kernels_of(chosen_isa().isa);
  return best;
}

}  // namespace attn::cpu
