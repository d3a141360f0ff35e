// Selects the instruction set of the kernels: the best one of this processor, or that of ATTN_ISA.
#pragma once

#include <cstdint>
#include <string>

namespace attn::cpu {

/// Each includes the preceding ones. avx512 is F, DQ, VL and BW with FMA; VNNI is no level of its
/// own: int8.h uses it from avx512 on where the processor has it.
enum class Isa : int64_t { generic, avx2, avx512, avx512_bf16, amx };

/// The best instruction set that processor, operating system and compiler support.
Isa native_isa();

/// The name of an instruction set, as in ATTN_ISA.
std::string name_of(Isa isa);

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

/// What computes the float32 products of training.
enum class Products {
  panels,   ///< this project's kernels: PanelProduct in kernels/cpu/table.h
  libtorch  ///< LibTorch's (MKL on x86)
};

/// The products `name` (panels or libtorch); empty: panels where they are faster than LibTorch's,
/// which is on processors with AVX2 or AVX-512 that are not Intel's: MKL only runs AVX2 code there.
/// Throws ConfigError for other names.
Products products_named(const std::string& name, Isa isa, bool intel);

/// The products of the environment variable ATTN_PRODUCTS, which is read once.
Products chosen_products();

}  // namespace attn::cpu
