// Kinds of normalization; without LibTorch, for configs and closed forms.
#pragma once

#include <cstdint>

#include "base/enum_names.h"

namespace attn {

enum class NormKind {
  layer,  ///< the paper's: (x - mean) / √(variance + ε) · g + b
  rms,    ///< x / √(mean x² + ε) · g (Zhang and Sennrich 2019)
  scale  ///< ScaleNorm: x / ‖x‖ · g with one number g, at first √width (Nguyen and Salazar 2019)
};

template <>
struct EnumNames<NormKind> {
  static constexpr auto values = std::to_array<EnumName<NormKind>>(
      {{NormKind::layer, "layer"}, {NormKind::rms, "rms"}, {NormKind::scale, "scale"}});
};

/// Number of parameters of one norm.
constexpr int64_t norm_parameters(NormKind kind, int64_t width) {
  switch (kind) {
    case NormKind::layer:
      return 2 * width;
    case NormKind::rms:
      return width;
    case NormKind::scale:
      break;
  }
  return 1;
}

}  // namespace attn
