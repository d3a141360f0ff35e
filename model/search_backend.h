// How search computes a model's decoding step.
#pragma once

#include <array>

#include "base/enum_names.h"
#include "kernels/weight_type.h"

namespace attn {

/// The implementation of a decoding step.
enum class StepPath {
  packed,  ///< packed inference, where the model has it for its options and device
  modules  ///< the modules of training: the reference implementation
};

template <>
struct EnumNames<StepPath> {
  static constexpr auto values = std::to_array<EnumName<StepPath>>(
      {{StepPath::packed, "packed"}, {StepPath::modules, "modules"}});
  static constexpr auto deprecated =
      std::to_array<EnumName<StepPath>>({{StepPath::modules, "libtorch"}});
};

/// What search requires of a model's inference path.
struct SearchBackend {
  StepPath path = StepPath::packed;
  WeightType weights = WeightType::fp32;
};

}  // namespace attn
