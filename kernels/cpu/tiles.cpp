#include "kernels/cpu/tiles.h"

#include "kernels/cpu/instructions.h"

namespace attn::cpu {

namespace generic {
const TileKernels* bf16_table();
}
#ifdef ATTN_BF16_KERNELS
namespace avx512_bf16 {
const TileKernels* table();
}
#endif
#ifdef ATTN_AMX_KERNELS
namespace amx {
const TileKernels* table();
}
#endif

namespace {

const TileKernels* tiles_of(Isa isa) {
  if (isa == Isa::generic) return generic::bf16_table();
#ifdef ATTN_BF16_KERNELS
  if (isa == Isa::avx512_bf16) return avx512_bf16::table();
#endif
#ifdef ATTN_AMX_KERNELS
  if (isa == Isa::amx) return amx::table();
#endif
  return nullptr;
}

}  // namespace

bool has_bf16_instructions() {
#ifdef ATTN_X86_KERNELS
  return tile_kernels() != nullptr;
#else
  return true;
#endif
}

const TileKernels* supported_tiles(int64_t index) {
  for (auto isa = static_cast<int64_t>(native_isa()); isa >= 0; --isa) {
    const TileKernels* kernels = tiles_of(static_cast<Isa>(isa));
    if (kernels != nullptr && index-- == 0) return kernels;
  }
  return nullptr;
}

const TileKernels* tile_kernels() {
  static const TileKernels* const kernels = [] {
    const auto [isa, named] = chosen_isa();
    // Plain C++ bf16 products are slower than float32 ones and only used in tests.
    return isa == Isa::generic && !named ? nullptr : tiles_of(isa);
  }();
  return kernels;
}

}  // namespace attn::cpu
