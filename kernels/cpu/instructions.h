// Selects the instruction set of the kernels: the best one of this processor, or that of ATTN_ISA.
#pragma once

#include <cstdint>
#include <string>

namespace attn::cpu {

/// Each includes the preceding ones. avx512 is F, DQ, VL and BW with FMA.
enum class Isa : int64_t { generic, avx2, avx512, avx512_bf16, amx };

/// The best instruction set that processor, operating system and compiler support.
Isa native_isa();

/// The best instruction set to use, and whether it was set by the user.
struct ChosenIsa {
  Isa isa;
  bool named;
};

/// The instruction set `name`: generic, avx2, avx512, avx512_bf16 or amx; empty: `native`. Throws
/// ConfigError for other names and for one that is better than `native`.
ChosenIsa isa_named(const std::string& name, Isa native);

/// The instruction set of the environment variable ATTN_ISA, which is read once.
ChosenIsa chosen_isa();

}  // namespace attn::cpu
