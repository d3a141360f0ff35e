// int8.h in plain C++: the reference for the others, and the fallback in tests.
#include <cmath>
#include <limits>

#include "kernels/cpu/int8.h"

namespace attn::cpu::generic {
namespace {

int32_t level_of(const uint32_t* words, int64_t i) {
  return static_cast<int8_t>(words[i / 4] >> (8 * (i % 4)));
}

void quantize(const float* x, int64_t x_stride, int64_t rows, int64_t inputs, const Int8Rows& out) {
  const int64_t words = int8_words(inputs);
  for (int64_t r = 0; r < rows; ++r, x += x_stride) {
    float largest = 0.0f;
    bool finite = true;
    for (int64_t i = 0; i < inputs; ++i) {
      finite = finite && std::isfinite(x[i]);
      largest = std::fmax(largest, std::fabs(x[i]));
    }
    // Infinite for a row of zeros or of the smallest values, whose levels are then 0.
    const float ratio = 127.0f / largest;
    const float inverse = finite && ratio <= std::numeric_limits<float>::max() ? ratio : 0.0f;
    uint32_t* row = out.words + r * words;
    for (int64_t w = 0; w < words; ++w) row[w] = 0;
    out.sums[r] = 0;
    for (int64_t i = 0; i < inputs && finite; ++i) {
      const auto level = static_cast<int32_t>(std::rint(x[i] * inverse));
      row[i / 4] |= (static_cast<uint32_t>(level) & 0xffu) << (8 * (i % 4));
      out.sums[r] += level;
    }
    out.scales[r] = finite ? largest / 127.0f : std::numeric_limits<float>::quiet_NaN();
  }
}

void multiply(const Int8Product& p, int64_t first_panel, int64_t last_panel) {
  const int64_t words = int8_words(p.inputs);
  for (int64_t r = 0; r < p.rows; ++r) {
    for (int64_t o = first_panel * kInt8Panel; o < last_panel * kInt8Panel && o < p.outputs; ++o) {
      const uint32_t* panel = p.panels + o / kInt8Panel * kInt8Panel * words + o % kInt8Panel;
      int32_t sum = 0;
      for (int64_t i = 0; i < p.inputs; ++i) {
        sum += level_of(p.x.words + r * words, i) * level_of(panel + i / 4 * kInt8Panel, i % 4);
      }
      float y = static_cast<float>(sum) * (p.x.scales[r] * p.scales[o]);
      if (p.bias != nullptr) y += p.bias[o];
      p.y[r * p.y_stride + o] = p.relu && y < 0.0f ? 0.0f : y;
    }
  }
}

}  // namespace

const Int8Kernels* int8_table();  // for int8.cpp

const Int8Kernels* int8_table() {
  static constexpr Int8Kernels kTable = {"generic", quantize, multiply};
  return &kTable;
}

}  // namespace attn::cpu::generic
