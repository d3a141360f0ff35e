// Products on panels against the definition, for every supported instruction set.
#include <algorithm>
#include <tuple>
#include <vector>

#include "base/random.h"
#include "kernels/cpu/table.h"
#include "tests/kernels/int8_panels.h"
#include "tests/kernels/tables.h"
#include "tests/support/catch.h"

using namespace attn;
using testing::each_table;
using testing::Int8Panels;
using testing::random_floats;

TEST_CASE("packed weights give the product and write nothing beyond the outputs") {
  const cpu::Kernels& kernels = each_table();
  const auto [rows, inputs, outputs] = GENERATE(std::tuple<int64_t, int64_t, int64_t>{1, 1, 1},
                                                std::tuple<int64_t, int64_t, int64_t>{5, 16, 32},
                                                std::tuple<int64_t, int64_t, int64_t>{11, 7, 33},
                                                std::tuple<int64_t, int64_t, int64_t>{12, 40, 15},
                                                std::tuple<int64_t, int64_t, int64_t>{31, 128, 100},
                                                std::tuple<int64_t, int64_t, int64_t>{0, 8, 8});
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
                                  .int8_panels = nullptr,
                                  .scales = nullptr,
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

TEST_CASE("a product with int8 weights is that with their levels times their scales") {
  const cpu::Kernels& kernels = each_table();
  const auto [rows, inputs, outputs] = GENERATE(std::tuple<int64_t, int64_t, int64_t>{1, 1, 1},
                                                std::tuple<int64_t, int64_t, int64_t>{11, 7, 33},
                                                std::tuple<int64_t, int64_t, int64_t>{13, 40, 70});
  CAPTURE(rows, inputs, outputs);
  Random random(9);
  const auto x = random_floats(random, rows * inputs), w = random_floats(random, outputs * inputs),
             bias = random_floats(random, outputs);
  const Int8Panels packed(w, outputs, inputs, kernels.panel_outputs);
  std::vector<float> y(static_cast<size_t>(rows * outputs));
  kernels.multiply_panels({.x = x.data(),
                           .x_stride = inputs,
                           .panels = nullptr,
                           .int8_panels = packed.panels.data(),
                           .scales = packed.scales.data(),
                           .bias = bias.data(),
                           .y = y.data(),
                           .y_stride = outputs,
                           .rows = rows,
                           .inputs = inputs,
                           .outputs = outputs,
                           .relu = false},
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
