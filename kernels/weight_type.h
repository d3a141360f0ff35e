// How a weight that is only read is kept.
#pragma once

#include "base/enum_names.h"

namespace attn {

enum class WeightType {
  fp32,
  bf16,  ///< on processors that multiply tiles of it; what it is multiplied with is rounded, too
  int8   ///< 8 bits a weight and a scale for each output; what it is multiplied with stays fp32
};

template <>
struct EnumNames<WeightType> {
  static constexpr auto values = std::to_array<EnumName<WeightType>>(
      {{WeightType::fp32, "fp32"}, {WeightType::bf16, "bf16"}, {WeightType::int8, "int8"}});
};

}  // namespace attn
