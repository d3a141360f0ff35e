// The kernels of LSTM and GRU steps against their formulas in double precision, by every
// instruction set.
#include <array>
#include <cmath>
#include <vector>

#include "tests/kernels/tables.h"

using namespace attn;
using testing::each_table;
using testing::random_floats;

namespace {

struct CellState {
  double hidden, cell;
};

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

/// The sums of the gates input, forget, update and output, and the cell before.
CellState lstm_formula(const std::array<double, 5>& x) {
  const double cell = sigmoid(x[1]) * x[4] + sigmoid(x[0]) * std::tanh(x[2]);
  return {sigmoid(x[3]) * std::tanh(cell), cell};
}

/// W x + b of reset, update and new state, U h + c of the same, and the state before.
double gru_formula(const std::array<double, 7>& x) {
  const double z = sigmoid(x[1] + x[4]);
  return (1 - z) * std::tanh(x[2] + sigmoid(x[0] + x[3]) * x[5]) + z * x[6];
}

}  // namespace

TEST_CASE("an LSTM step is its formula and its gradients are the slopes") {
  const cpu::Kernels& kernels = each_table();
  const int64_t rows = 3, width = GENERATE(1, 7, 16, 37);
  CAPTURE(kernels.name, width);
  Random random(5);
  const int64_t cells = rows * width;
  auto inputs = random_floats(random, 4 * cells), products = random_floats(random, 4 * cells);
  for (float& x : inputs) x *= 4;  // also where the gates are saturated
  inputs[0] = 120.0F;
  const auto before = random_floats(random, cells), d_output = random_floats(random, cells),
             d_hidden = random_floats(random, cells), d_cell_after = random_floats(random, cells);

  std::vector<float> gates = products, cell(before.size()), hidden(before.size());
  kernels.lstm_cells({.rows = rows,
                      .width = width,
                      .inputs = inputs.data(),
                      .gates = gates.data(),
                      .before = before.data(),
                      .cell = cell.data(),
                      .hidden = hidden.data()});
  std::vector<float> d_cell = d_cell_after, d_gates(gates.size());
  kernels.lstm_cells_backward({.rows = rows,
                               .width = width,
                               .gates = gates.data(),
                               .before = before.data(),
                               .cell = cell.data(),
                               .d_output = d_output.data(),
                               .d_hidden = d_hidden.data(),
                               .d_cell = d_cell.data(),
                               .d_gates = d_gates.data()});

  for (int64_t i = 0; i < cells; ++i) {
    const auto gate = [&](int64_t g) { return i / width * 4 * width + g * width + i % width; };
    std::array<double, 5> x{};
    for (int64_t g = 0; g < 4; ++g) {
      x[g] = static_cast<double>(inputs[gate(g)]) + products[gate(g)];
    }
    x[4] = before[i];
    const CellState found = lstm_formula(x);
    CHECK(hidden[i] == Approx(found.hidden).margin(1e-6));
    CHECK(cell[i] == Approx(found.cell).margin(1e-6));
    for (int64_t g = 0; g < 5; ++g) {
      constexpr double kStep = 1e-5;
      auto above = x, below = x;
      above[g] += kStep;
      below[g] -= kStep;
      const CellState high = lstm_formula(above), low = lstm_formula(below);
      const double slope =
          ((static_cast<double>(d_output[i]) + d_hidden[i]) * (high.hidden - low.hidden) +
           d_cell_after[i] * (high.cell - low.cell)) /
          (2 * kStep);
      CHECK((g == 4 ? d_cell[i] : d_gates[gate(g)]) == Approx(slope).margin(1e-5));
    }
  }
}

TEST_CASE("a GRU step is its formula and its gradients are the slopes") {
  const cpu::Kernels& kernels = each_table();
  const int64_t rows = 3, width = GENERATE(1, 7, 16, 37);
  CAPTURE(kernels.name, width);
  Random random(6);
  const int64_t cells = rows * width;
  auto inputs = random_floats(random, 3 * cells);
  const auto products = random_floats(random, 3 * cells), before = random_floats(random, cells),
             d_output = random_floats(random, cells), d_hidden = random_floats(random, cells),
             d_kept_after = random_floats(random, cells);
  for (float& x : inputs) x *= 4;  // also where the gates are saturated
  inputs[0] = 120.0F;

  std::vector<float> gates = products, product(before.size()), hidden(before.size());
  kernels.gru_cells({.rows = rows,
                     .width = width,
                     .inputs = inputs.data(),
                     .gates = gates.data(),
                     .product = product.data(),
                     .before = before.data(),
                     .hidden = hidden.data()});
  std::vector<float> d_kept = d_kept_after, d_inputs(gates.size()), d_products(gates.size());
  kernels.gru_cells_backward({.rows = rows,
                              .width = width,
                              .gates = gates.data(),
                              .product = product.data(),
                              .before = before.data(),
                              .d_output = d_output.data(),
                              .d_hidden = d_hidden.data(),
                              .d_kept = d_kept.data(),
                              .d_inputs = d_inputs.data(),
                              .d_products = d_products.data()});

  for (int64_t i = 0; i < cells; ++i) {
    const auto gate = [&](int64_t g) { return i / width * 3 * width + g * width + i % width; };
    std::array<double, 7> x{};
    for (int64_t g = 0; g < 3; ++g) x[g] = inputs[gate(g)], x[3 + g] = products[gate(g)];
    x[6] = before[i];
    CHECK(hidden[i] == Approx(gru_formula(x)).margin(1e-6));
    const double d = static_cast<double>(d_output[i]) + d_hidden[i] + d_kept_after[i];
    const auto slope = [&](int64_t v) {
      constexpr double kStep = 1e-5;
      auto above = x, below = x;
      above[v] += kStep;
      below[v] -= kStep;
      return d * (gru_formula(above) - gru_formula(below)) / (2 * kStep);
    };
    for (int64_t g = 0; g < 3; ++g) {
      CHECK(d_inputs[gate(g)] == Approx(slope(g)).margin(1e-5));
      CHECK(d_products[gate(g)] == Approx(slope(3 + g)).margin(1e-5));
    }
    CHECK(d_kept[i] == Approx(slope(6)).margin(1e-5));
  }
}
