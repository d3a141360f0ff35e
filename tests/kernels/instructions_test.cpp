// Which kernels a process uses.
#include <cstdlib>
#include <set>

#include "base/error.h"
#include "kernels/cpu/instructions.h"
#include "kernels/cpu/int8.h"
#include "kernels/cpu/table.h"
#include "kernels/cpu/tiles.h"
#include "kernels/fast_path.h"
#include "tests/support/catch.h"
#include "tests/support/kernels.h"

using namespace attn;
using cpu::Isa;
using testing::contains;

TEST_CASE("the native instruction set is the default, and a lesser one can be selected") {
  CHECK(cpu::isa_named("", Isa::amx).isa == Isa::amx);
  CHECK_FALSE(cpu::isa_named("", Isa::amx).named);
  CHECK(cpu::isa_named("avx2", Isa::avx512).isa == Isa::avx2);
  CHECK(cpu::isa_named("generic", Isa::generic).named);
}

TEST_CASE("an unknown or unsupported instruction set is an error that lists the supported ones") {
  CHECK_THROWS_WITH(cpu::isa_named("sse9", Isa::amx), contains("ATTN_ISA: sse9: expected generic"));
  CHECK_THROWS_WITH(cpu::isa_named("amx", Isa::avx512_bf16),
                    contains("ATTN_ISA: amx: the best that this processor has is avx512_bf16"));
  CHECK_THROWS_AS(cpu::isa_named("AVX2", Isa::amx), ConfigError);
}

TEST_CASE("the kernels in use are the best of those supported, up to what ATTN_ISA names") {
  const auto [isa, named] = cpu::chosen_isa();
  if (named) {
    CHECK((isa != Isa::generic || cpu::kernels().name == std::string("generic")));
    CHECK((isa != Isa::generic || cpu::tile_kernels()->name == std::string("generic")));
    CHECK((isa != Isa::generic || cpu::int8_kernels()->name == std::string("generic")));
    CHECK((isa != Isa::avx2 || cpu::kernels().name == std::string("avx2")));
    CHECK((isa != Isa::avx2 || cpu::int8_kernels()->name == std::string("avx2")));
    return;
  }
  CHECK(&cpu::kernels() == cpu::supported(0));
  const bool bf16 = cpu::native_isa() >= Isa::avx512_bf16;
  CHECK(cpu::tile_kernels() == (bf16 ? cpu::supported_tiles(0) : nullptr));
  const cpu::Int8Kernels* int8 = cpu::supported_int8(0);
  const bool slow = int8->name == std::string(isa >= Isa::avx512 ? "avx2" : "generic");
  CHECK(cpu::int8_kernels() == (slow ? nullptr : int8));
}

TEST_CASE("products run on panels where LibTorch's stay below the processor's instruction set") {
  using cpu::Products;
  CHECK(cpu::products_named("", Isa::avx512, /*intel=*/false) == Products::panels);
  CHECK(cpu::products_named("", Isa::avx512, /*intel=*/true) == Products::libtorch);
  CHECK(cpu::products_named("", Isa::generic, /*intel=*/false) == Products::libtorch);
  CHECK(cpu::products_named("libtorch", Isa::avx512, /*intel=*/false) == Products::libtorch);
  CHECK(cpu::products_named("panels", Isa::generic, /*intel=*/true) == Products::panels);
  CHECK_THROWS_WITH(cpu::products_named("mkl", Isa::amx, true),
                    contains("ATTN_PRODUCTS: mkl: expected panels or libtorch"));
}

TEST_CASE("every fast path computes its formulas as they are read: see tools/formulas") {
  std::set<FastPath> known;
  for (const Formula& formula : formulas()) {
    CAPTURE(enum_name(formula.path), formula.name, formula.place);
    CHECK(formula.followed);
    known.insert(formula.path);
  }
  CHECK(known.size() == EnumNames<FastPath>::values.size());
  for (const FastPath path : known) CHECK(follows_formulas(path));
  CHECK(paths_run_as_read().empty());
}

TEST_CASE("the environment decides on fast paths where the config does not") {
  const char* before = std::getenv("ATTN_KERNELS");
  const std::string kept = before != nullptr ? before : "";
  setenv("ATTN_KERNELS", "strict", 1);
  {
    const testing::KernelUse automatic(Kernels::automatic);
    CHECK(kernels_in_use() == Kernels::strict);
    const testing::KernelUse off(Kernels::off);
    CHECK(kernels_in_use() == Kernels::off);
  }
  setenv("ATTN_KERNELS", "fast", 1);
  CHECK_THROWS_WITH(use_kernels(Kernels::automatic),
                    "ATTN_KERNELS: fast: expected auto, strict or off");
  setenv("ATTN_KERNELS", kept.c_str(), 1);
  use_kernels(Kernels::automatic);
}
