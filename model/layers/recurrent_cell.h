// Kinds of recurrent cells; without LibTorch, for configs and closed forms.
#pragma once

#include <cstdint>

#include "base/enum_names.h"

namespace attn {

enum class RecurrentCell { lstm, gru };

template <>
struct EnumNames<RecurrentCell> {
  static constexpr auto values = std::to_array<EnumName<RecurrentCell>>(
      {{RecurrentCell::lstm, "lstm"}, {RecurrentCell::gru, "gru"}});
};

/// Weights of one direction of a layer, without its two biases per gate.
constexpr int64_t cell_weights(RecurrentCell cell, int64_t inputs, int64_t hidden) {
  return (cell == RecurrentCell::lstm ? 4 : 3) * hidden * (inputs + hidden);
}

/// Parameters of one direction of a layer.
constexpr int64_t cell_parameters(RecurrentCell cell, int64_t inputs, int64_t hidden) {
  return cell_weights(cell, inputs + 2, hidden);
}

}  // namespace attn
