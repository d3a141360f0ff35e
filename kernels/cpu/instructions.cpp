#include "kernels/cpu/instructions.h"

#include <array>
#include <cstdlib>
#include <string>

#include "base/check.h"
#include "base/enum_names.h"

#ifdef ATTN_AMX_KERNELS
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace attn {

// The values of ATTN_ISA.
template <>
struct EnumNames<cpu::Isa> {
  static constexpr auto values = std::to_array<EnumName<cpu::Isa>>({
      {cpu::Isa::generic, "generic"},
      {cpu::Isa::avx2, "avx2"},
      {cpu::Isa::avx512, "avx512"},
      {cpu::Isa::avx512_bf16, "avx512_bf16"},
      {cpu::Isa::amx, "amx"},
  });
};

// The values of ATTN_PRODUCTS.
template <>
struct EnumNames<cpu::Products> {
  static constexpr auto values = std::to_array<EnumName<cpu::Products>>(
      {{cpu::Products::panels, "panels"}, {cpu::Products::libtorch, "libtorch"}});
};

namespace cpu {
namespace {

#ifdef ATTN_AMX_KERNELS
// Requests permission to use AMX tiles, which Linux requires (arch_prctl).
bool may_use_tiles() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}
#endif

Isa detect() {
#ifdef ATTN_X86_KERNELS
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Isa::generic;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq") ||
      !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512bw")) {
    return Isa::avx2;
  }
#ifdef ATTN_BF16_KERNELS
  if (!__builtin_cpu_supports("avx512bf16")) return Isa::avx512;
#ifdef ATTN_AMX_KERNELS
  if (__builtin_cpu_supports("amx-tile") && __builtin_cpu_supports("amx-bf16") && may_use_tiles()) {
    return Isa::amx;
  }
#endif
  return Isa::avx512_bf16;
#else
  return Isa::avx512;
#endif
#else
  return Isa::generic;
#endif
}

bool is_intel() {
#ifdef ATTN_X86_KERNELS
  __builtin_cpu_init();
  return __builtin_cpu_is("intel");
#else
  return false;
#endif
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

template <class E>
E value_named(const char* option, const std::string& name, const char* remedy) {
  const std::optional<E> value = enum_named<E>(name);
  require(value.has_value(), option, name, remedy);
  return *value;
}

}  // namespace

Isa native_isa() {
  static const Isa isa = detect();
  return isa;
}

std::string name_of(Isa isa) {
  return std::string(enum_name(isa));
}

ChosenIsa isa_named(const std::string& name, Isa native) {
  if (name.empty()) return {native, false};
  const Isa isa =
      value_named<Isa>("ATTN_ISA", name, "expected generic, avx2, avx512, avx512_bf16 or amx");
  require(isa <= native, "ATTN_ISA", name,
          "the best that this processor has is " + std::string(enum_name(native)));
  return {isa, true};
}

ChosenIsa chosen_isa() {
  static const ChosenIsa chosen = isa_named(variable("ATTN_ISA"), native_isa());
  return chosen;
}

Products products_named(const std::string& name, Isa isa, bool intel) {
  if (name.empty()) {
    return isa >= Isa::avx2 && !intel ? Products::panels : Products::libtorch;
  }
  return value_named<Products>("ATTN_PRODUCTS", name, "expected panels or libtorch");
}

Products chosen_products() {
  static const Products chosen =
      products_named(variable("ATTN_PRODUCTS"), chosen_isa().isa, is_intel());
  return chosen;
}

}  // namespace cpu
}  // namespace attn
