// Quantization and int8 products against the definition, on buffers of exactly the required size.
// All implementations that the machine supports, including plain C++, run the same cases.
#include "kernels/cpu/int8.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "tests/kernels/int8_panels.h"
#include "tests/kernels/tables.h"
#include "tests/support/catch.h"

using namespace attn;
using cpu::int8_words;
using testing::Int8Panels;
using testing::random_floats;

namespace {

const cpu::Int8Kernels& each_int8() {
  std::vector<const cpu::Int8Kernels*> tables;
  while (const auto* table = cpu::supported_int8(static_cast<int64_t>(tables.size()))) {
    tables.push_back(table);
  }
  return *GENERATE_COPY(from_range(tables));
}

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

TEST_CASE("an int8 level is off by at most half a step") {
  const auto [outputs, inputs] =
      GENERATE(std::tuple<int64_t, int64_t>{1, 1}, std::tuple<int64_t, int64_t>{33, 7},
               std::tuple<int64_t, int64_t>{70, 40});
  const int64_t width = GENERATE(8, 32);
  CAPTURE(outputs, inputs, width);
  Random random(9);
  auto w = random_floats(random, outputs * inputs);
  if (outputs > 5) std::fill_n(w.begin() + 5 * inputs, inputs, 0.0f);
  const Int8Panels packed(w, outputs, inputs, width);
  for (int64_t o = 0; o < outputs; ++o) {
    float largest = 0.0f;
    for (int64_t i = 0; i < inputs; ++i) largest = std::max(largest, std::abs(w[o * inputs + i]));
    CHECK(packed.scales[o] == Approx(largest / 127));
    for (int64_t i = 0; i < inputs; ++i) {
      const float kept = static_cast<float>(packed.level(o, i)) * packed.scales[o];
      CHECK(std::abs(kept - w[o * inputs + i]) <= 0.501 * packed.scales[o]);
    }
  }
}

TEST_CASE("rows are quantized by their largest value") {
  const cpu::Int8Kernels& kernels = each_int8();
  const std::string name = kernels.name;
  const int64_t rows = 5, inputs = GENERATE(1, 4, 15, 33, 70), stride = inputs + 3;
  CAPTURE(name, inputs);
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

TEST_CASE("int8 products are those of the levels and write nothing beyond the outputs") {
  const cpu::Int8Kernels& kernels = each_int8();
  const std::string name = kernels.name;
  const auto [rows, inputs, outputs] =
      GENERATE(std::tuple<int64_t, int64_t, int64_t>{1, 1, 1},
               std::tuple<int64_t, int64_t, int64_t>{0, 8, 8},
               std::tuple<int64_t, int64_t, int64_t>{5, 16, 32},
               std::tuple<int64_t, int64_t, int64_t>{12, 40, 15},
               std::tuple<int64_t, int64_t, int64_t>{11, 7, 33},
               std::tuple<int64_t, int64_t, int64_t>{31, 130, 100});
  const bool with_bias = GENERATE(true, false), relu = GENERATE(true, false);
  CAPTURE(name, rows, inputs, outputs, with_bias, relu);
  Random random(8);
  auto x = random_floats(random, rows * inputs);
  // The largest levels of both signs: sums of unsigned products would overflow 16 bits.
  if (rows > 0) std::fill_n(x.begin(), inputs, -1.0f);
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
      CHECK(y[r * (outputs + 2) + o] == Approx(expected).margin(1e-6));
    }
    CHECK(y[r * (outputs + 2) + outputs] == 7.0f);
    CHECK(y[r * (outputs + 2) + outputs + 1] == 7.0f);
  }
}

TEST_CASE("NaN and infinity reach all outputs of their row, and no other") {
  const cpu::Int8Kernels& kernels = each_int8();
  const std::string name = kernels.name;
  const bool relu = GENERATE(true, false);
  CAPTURE(name, relu);
  const int64_t rows = 3, inputs = 20, outputs = 40;
  Random random(2);
  auto x = random_floats(random, rows * inputs);
  x[static_cast<size_t>(inputs + 7)] =
      GENERATE(std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity());
  QuantizedRows quantized(kernels, x, inputs, rows, inputs);
  const Int8Panels packed(random_floats(random, outputs * inputs), outputs, inputs,
                          cpu::kInt8Panel);
  std::vector<float> y(static_cast<size_t>(rows * outputs));
  kernels.multiply({.x = quantized.view(),
                    .panels = packed.panels.data(),
                    .scales = packed.scales.data(),
                    .bias = nullptr,
                    .y = y.data(),
                    .y_stride = outputs,
                    .rows = rows,
                    .inputs = inputs,
                    .outputs = outputs,
                    .relu = relu},
                   0, cpu::int8_panels(outputs, cpu::kInt8Panel));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t o = 0; o < outputs; ++o) CHECK(std::isnan(y[r * outputs + o]) == (r == 1));
  }
}
