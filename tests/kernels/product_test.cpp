// Products on panels against the definition, for every supported instruction set.
// Quantization and int8 products against the definition, on buffers of exactly the required size.
// All implementations that the machine supports, including plain C++, run the same cases.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/random.h"
#include "kernels/cpu/int8.h"
#include "kernels/cpu/table.h"
#include "tests/kernels/tables.h"
#include "tests/support/catch.h"

using namespace attn;
using cpu::int8_words;
using testing::each_table;
using testing::random_floats;

namespace {

/// A weight packed by pack_int8.
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

}  // namespace

TEST_CASE("packed weights give the product and write nothing beyond the outputs") {
  const cpu::Kernels& kernels = each_table();
  const auto [rows, inputs, outputs] =
      GENERATE(testing::Sizes{1, 1, 1}, testing::Sizes{5, 16, 32}, testing::Sizes{11, 7, 33},
               testing::Sizes{12, 40, 15}, testing::Sizes{31, 128, 100}, testing::Sizes{0, 8, 8});
  const bool with_bias = GENERATE(true, false), relu = GENERATE(true, false);
  const bool tiled = GENERATE(false, true), add = GENERATE(false, true);
  CAPTURE(rows, inputs, outputs, with_bias, relu, tiled, add);
  Random random(8);
  // x is stored as [rows, inputs + 3], or as [inputs, rows + 3] and packed into tiles; w as
  // [outputs, inputs], and as [inputs, outputs + 1].
  const int64_t x_stride = (tiled ? rows : inputs) + 3, turned_stride = outputs + 1;
  const auto x = random_floats(random, (tiled ? inputs : rows) * x_stride),
             w = random_floats(random, outputs * inputs), bias = random_floats(random, outputs);
  const auto size = static_cast<size_t>(kernels.panels(outputs) * kernels.panel_outputs * inputs);
  std::vector<float> panels(size), same(size), turned(static_cast<size_t>(inputs * turned_stride));
  kernels.pack_panels(w.data(), outputs, inputs, panels.data());
  for (int64_t o = 0; o < outputs; ++o) {
    for (int64_t i = 0; i < inputs; ++i) turned[i * turned_stride + o] = w[o * inputs + i];
  }
  kernels.pack_columns(turned.data(), turned_stride, inputs, outputs, same.data());
  CHECK(same == panels);
  std::vector<float> tiles(static_cast<size_t>(rows * inputs));
  if (tiled) kernels.pack_tiles(x.data(), x_stride, inputs, rows, tiles.data());
  std::vector<float> y(static_cast<size_t>(rows * (outputs + 2)), 7.0f);
  const cpu::PanelProduct product{.x = tiled ? tiles.data() : x.data(),
                                  .x_stride = x_stride,
                                  .panels = panels.data(),
                                  .bias = with_bias ? bias.data() : nullptr,
                                  .y = y.data(),
                                  .y_stride = outputs + 2,
                                  .rows = rows,
                                  .inputs = inputs,
                                  .outputs = outputs,
                                  .relu = relu,
                                  .tiled = tiled,
                                  .add = add};
  const int64_t half = kernels.panels(outputs) / 2;
  kernels.multiply_panels(product, 0, half);
  kernels.multiply_panels(product, half, kernels.panels(outputs));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t o = 0; o < outputs; ++o) {
      double sum = (with_bias ? bias[o] : 0.0) + (add ? 7.0 : 0.0);
      for (int64_t i = 0; i < inputs; ++i) {
        sum += (tiled ? x[i * x_stride + r] : x[r * x_stride + i]) *
               static_cast<double>(w[o * inputs + i]);
      }
      if (relu) sum = std::max(sum, 0.0);
      CHECK(y[r * (outputs + 2) + o] == Approx(sum).margin(1e-5));
    }
    CHECK(y[r * (outputs + 2) + outputs] == 7.0f);
    CHECK(y[r * (outputs + 2) + outputs + 1] == 7.0f);
  }
}

TEST_CASE(
    "a product with int8 weights is that of their levels, which are off by at most half a step") {
  const cpu::Kernels& kernels = each_table();
  const auto [rows, inputs, outputs] =
      GENERATE(testing::Sizes{1, 1, 1}, testing::Sizes{11, 7, 33}, testing::Sizes{13, 40, 70});
  CAPTURE(rows, inputs, outputs);
  Random random(9);
  const auto x = random_floats(random, rows * inputs), bias = random_floats(random, outputs);
  auto w = random_floats(random, outputs * inputs);
  if (outputs > 5) std::fill_n(w.begin() + 5 * inputs, inputs, 0.0f);
  const Int8Panels packed(w, outputs, inputs, kernels.panel_outputs);
  for (int64_t o = 0; o < outputs; ++o) {
    float largest = 0.0f;
    for (int64_t i = 0; i < inputs; ++i) largest = std::max(largest, std::abs(w[o * inputs + i]));
    CHECK(packed.scales[o] == Approx(largest / 127));
    for (int64_t i = 0; i < inputs; ++i) {
      const float kept = static_cast<float>(packed.level(o, i)) * packed.scales[o];
      CHECK(std::abs(kept - w[o * inputs + i]) <= 0.501 * packed.scales[o]);
    }
  }
  std::vector<float> y(static_cast<size_t>(rows * outputs));
  kernels.multiply_panels({.x = x.data(),
                           .x_stride = inputs,
                           .int8_panels = packed.panels.data(),
                           .scales = packed.scales.data(),
                           .bias = bias.data(),
                           .y = y.data(),
                           .y_stride = outputs,
                           .rows = rows,
                           .inputs = inputs,
                           .outputs = outputs},
                          0, kernels.panels(outputs));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t o = 0; o < outputs; ++o) {
      double sum = bias[o];
      for (int64_t i = 0; i < inputs; ++i) {
        sum += x[r * inputs + i] * (packed.level(o, i) * static_cast<double>(packed.scales[o]));
      }
      CHECK(y[r * outputs + o] == Approx(sum).margin(1e-5));
    }
  }
}

namespace {

// Rows quantized from x [rows, stride].
struct QuantizedRows {
  QuantizedRows(const cpu::Int8Kernels& kernels, const std::vector<float>& x, int64_t stride,
                int64_t rows, int64_t inputs)
      : words_of_row(int8_words(inputs)),
        words(static_cast<size_t>(rows * words_of_row), 0xffffffff),
        scales(static_cast<size_t>(rows)),
        sums(static_cast<size_t>(rows)) {
    kernels.quantize(x.data(), stride, rows, inputs, view());
  }
  cpu::Int8Rows view() { return {words.data(), scales.data(), sums.data()}; }
  int64_t level(int64_t row, int64_t input) const {
    const uint32_t word = words[static_cast<size_t>(row * words_of_row + input / 4)];
    return static_cast<int8_t>(word >> (8 * (input % 4)));
  }
  int64_t words_of_row;
  std::vector<uint32_t> words;
  std::vector<float> scales;
  std::vector<int32_t> sums;
};

}  // namespace

TEST_CASE("rows are quantized by their largest value") {
  const cpu::Int8Kernels& kernels = testing::each_of(cpu::supported_int8);
  const int64_t rows = 5, inputs = GENERATE(1, 4, 15, 33, 70), stride = inputs + 3;
  CAPTURE(kernels.name, inputs);
  Random random(3);
  auto x = random_floats(random, rows * stride);
  std::fill_n(x.begin() + stride, inputs, 0.0f);
  const float unusual =
      GENERATE(std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity());
  x[static_cast<size_t>(2 * stride + inputs - 1)] = unusual;
  x[static_cast<size_t>(3 * stride + inputs)] = unusual;  // beyond the row
  std::fill_n(x.begin() + 4 * stride, inputs, 1e-40f);    // its reciprocal is infinite
  const QuantizedRows kept(kernels, x, stride, rows, inputs);
  CHECK(kept.scales[1] == 0.0f);
  CHECK(std::isnan(kept.scales[2]));
  CHECK(kept.scales[4] < 1e-40f);
  CHECK(kept.sums[4] == 0);
  for (int64_t i = 0; i < inputs; ++i) CHECK(kept.level(4, i) == 0);
  for (const int64_t r : {int64_t{0}, int64_t{1}, int64_t{3}}) {
    float largest = 0.0f;
    for (int64_t i = 0; i < inputs; ++i) largest = std::max(largest, std::abs(x[r * stride + i]));
    CHECK(kept.scales[r] == Approx(largest / 127));
    int64_t sum = 0;
    for (int64_t i = 0; i < inputs; ++i) {
      sum += kept.level(r, i);
      const float value = static_cast<float>(kept.level(r, i)) * kept.scales[r];
      CHECK(std::abs(value - x[r * stride + i]) <= 0.501f * kept.scales[r]);
    }
    CHECK(kept.sums[r] == sum);
    for (int64_t i = inputs; i < 4 * kept.words_of_row; ++i) CHECK(kept.level(r, i) == 0);
  }
}

TEST_CASE("int8 products are those of the levels, and NaN and infinity stay in their row") {
  const cpu::Int8Kernels& kernels = testing::each_of(cpu::supported_int8);
  const auto [rows, inputs, outputs] =
      GENERATE(testing::Sizes{1, 1, 1}, testing::Sizes{0, 8, 8}, testing::Sizes{5, 16, 32},
               testing::Sizes{12, 40, 15}, testing::Sizes{11, 7, 33}, testing::Sizes{31, 130, 100});
  const bool with_bias = GENERATE(true, false), relu = GENERATE(true, false);
  const float unusual = GENERATE(0.0f, std::numeric_limits<float>::quiet_NaN(),
                                 std::numeric_limits<float>::infinity());
  CAPTURE(kernels.name, rows, inputs, outputs, with_bias, relu);
  Random random(8);
  auto x = random_floats(random, rows * inputs);
  // The largest levels of both signs: sums of unsigned products would overflow 16 bits.
  if (rows > 0) std::fill_n(x.begin(), inputs, -1.0f);
  if (rows > 1) x[static_cast<size_t>(inputs)] = unusual;
  auto w = random_floats(random, outputs * inputs);
  std::fill_n(w.begin(), inputs, 1.0f);
  const auto bias = random_floats(random, outputs);
  QuantizedRows quantized(kernels, x, inputs, rows, inputs);
  const Int8Panels packed(w, outputs, inputs, cpu::kInt8Panel);
  std::vector<float> y(static_cast<size_t>(rows * (outputs + 2)), 7.0f);
  const cpu::Int8Product product{.x = quantized.view(),
                                 .panels = packed.panels.data(),
                                 .scales = packed.scales.data(),
                                 .bias = with_bias ? bias.data() : nullptr,
                                 .y = y.data(),
                                 .y_stride = outputs + 2,
                                 .rows = rows,
                                 .inputs = inputs,
                                 .outputs = outputs,
                                 .relu = relu};
  const int64_t panels = cpu::int8_panels(outputs, cpu::kInt8Panel), half = panels / 2;
  kernels.multiply(product, 0, half);
  kernels.multiply(product, half, panels);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t o = 0; o < outputs; ++o) {
      int64_t sum = 0;
      for (int64_t i = 0; i < inputs; ++i) sum += quantized.level(r, i) * packed.level(o, i);
      double expected = static_cast<double>(sum) * quantized.scales[r] * packed.scales[o];
      if (with_bias) expected += bias[o];
      if (relu) expected = std::max(expected, 0.0);
      const float found = y[r * (outputs + 2) + o];
      const bool lost = r == 1 && unusual != 0.0f;
      CHECK(std::isnan(found) == lost);
      if (!lost) CHECK(found == Approx(expected).margin(1e-6));
    }
    CHECK(y[r * (outputs + 2) + outputs] == 7.0f);
    CHECK(y[r * (outputs + 2) + outputs + 1] == 7.0f);
  }
}
