// Precision of matrix products, and of weights in search.
#pragma once

#include "base/enum_names.h"

namespace attn {

enum class Precision { fp32, bf16 };

template <>
struct EnumNames<Precision> {
  static constexpr auto values =
      std::to_array<EnumName<Precision>>({{Precision::fp32, "fp32"}, {Precision::bf16, "bf16"}});
};

/// Precision of weights in search.
enum class WeightType {
  fp32,
  bf16,  ///< both operands in bf16; needs AVX-512 BF16 or AMX
  int8   ///< int8 weights with a scale per output; on AVX2 and AVX-512 VNNI, activations, too
};

template <>
struct EnumNames<WeightType> {
  static constexpr auto values = std::to_array<EnumName<WeightType>>(
      {{WeightType::fp32, "fp32"}, {WeightType::bf16, "bf16"}, {WeightType::int8, "int8"}});
};

}  // namespace attn
