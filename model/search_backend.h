// How search computes a model's decoding step.
#pragma once

#include <array>

#include "base/enum_names.h"
#include "kernels/weight_type.h"

namespace attn {

/// How a step of the decoder is computed.
enum class StepPath {
  packed,  ///< the model's fast inference path, where it has one for its options and device
  modules  ///< by the modules of model/, which define what is right
};

template <>
struct EnumNames<StepPath> {
  static constexpr auto values = std::to_array<EnumName<StepPath>>(
      {{StepPath::packed, "packed"}, {StepPath::modules, "modules"}});
  static constexpr auto former =
      std::to_array<EnumName<StepPath>>({{StepPath::modules, "libtorch"}});
};

/// What search requires of a model's inference path.
struct SearchBackend {
  StepPath path = StepPath::packed;
  WeightType weights = WeightType::fp32;
};

}  // namespace attn
