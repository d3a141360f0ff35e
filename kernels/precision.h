// Precision of matrix products, and of gradients on the wire.
#pragma once

#include "base/enum_names.h"

namespace attn {

enum class Precision { fp32, bf16 };

template <>
struct EnumNames<Precision> {
  static constexpr auto values =
      std::to_array<EnumName<Precision>>({{Precision::fp32, "fp32"}, {Precision::bf16, "bf16"}});
};

}  // namespace attn
