// Which instructions the kernels use: those of this processor, or fewer if the user says so.
#pragma once

#include <cstdint>
#include <string>

namespace attn::cpu {

/// Each has what the ones before it have. avx512 is F, DQ, VL and BW with FMA.
enum class Isa : int64_t { generic, avx2, avx512, avx512_bf16, amx };

/// The best one that this processor, the system and the compiler have.
Isa native_isa();

/// The best one to use, and whether it was named rather than found.
struct ChosenIsa {
  Isa isa;
  bool named;
};

/// What `name` names: generic, avx2, avx512, avx512_bf16 or amx; empty: `native`. Throws
/// ConfigError if it is none of these or better than `native`.
ChosenIsa isa_named(const std::string& name, Isa native);

/// That of the environment variable ATTN_ISA, read once.
ChosenIsa chosen_isa();

}  // namespace attn::cpu
