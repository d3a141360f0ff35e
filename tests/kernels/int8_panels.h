// A weight packed by pack_int8.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu/int8.h"

namespace attn::testing {

struct Int8Panels {
  Int8Panels(const std::vector<float>& weight, int64_t outputs, int64_t inputs, int64_t panel_width)
      : width(panel_width), words(cpu::int8_words(inputs)) {
    const int64_t padded = cpu::int8_panels(outputs, width) * width;
    panels.resize(static_cast<size_t>(padded * words));
    scales.resize(static_cast<size_t>(padded));
    cpu::pack_int8(weight.data(), outputs, inputs, width, panels.data(), scales.data());
  }

  int64_t level(int64_t output, int64_t input) const {
    const int64_t word = (output / width * words + input / 4) * width + output % width;
    return static_cast<int8_t>(panels[static_cast<size_t>(word)] >> (8 * (input % 4)));
  }

  int64_t width, words;
  std::vector<uint32_t> panels;
  std::vector<float> scales;
};

}  // namespace attn::testing
