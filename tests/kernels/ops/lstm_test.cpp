// The LSTM against LibTorch's, by the kernels of the best instruction set; CTest runs them by the
// others, too.
#include "kernels/ops/lstm.h"

#include <vector>

#include "tests/support/catch.h"
#include "tests/support/tensors.h"

using namespace attn;
using testing::check_close;

namespace {

// x, first states, then W, U, b and c of each direction.
using Leaves = std::vector<torch::Tensor>;

// The output, then the gradients of the leaves.
std::vector<torch::Tensor> run(const std::function<torch::Tensor(const Leaves&)>& forward,
                               const Leaves& values, const torch::Tensor& d_out) {
  Leaves leaves;
  for (const torch::Tensor& value : values) leaves.push_back(testing::leaf(value));
  std::vector<torch::Tensor> results = {forward(leaves)};
  results[0].backward(d_out);
  for (const torch::Tensor& leaf : leaves) {
    results.push_back(leaf.grad().defined() ? leaf.grad() : torch::zeros_like(leaf));
  }
  return results;
}

}  // namespace

TEST_CASE("states and gradients of an LSTM are LibTorch's over ragged rows") {
  const auto [sizes, inputs, width] =
      GENERATE(std::tuple<std::vector<int64_t>, int64_t, int64_t>{{1}, 1, 1},
               std::tuple<std::vector<int64_t>, int64_t, int64_t>{{5, 5, 3, 1}, 7, 7},
               std::tuple<std::vector<int64_t>, int64_t, int64_t>{{4, 3, 3, 3, 2, 1, 1}, 16, 32},
               std::tuple<std::vector<int64_t>, int64_t, int64_t>{{130, 100, 99, 2}, 33, 65});
  const bool bidirectional = GENERATE(false, true), has_first = GENERATE(false, true);
  if (bidirectional && has_first) return;  // the models have no such layer
  CAPTURE(sizes, inputs, width, bidirectional, has_first);
  torch::manual_seed(3);
  const torch::Tensor batch_sizes = torch::tensor(sizes, torch::kInt64);
  const int64_t rows = batch_sizes.sum().item<int64_t>(), directions = bidirectional ? 2 : 1;
  const int64_t gates = 4 * width;
  Leaves values = {torch::randn({rows, inputs}), torch::randn({sizes.front(), width})};
  for (int64_t d = 0; d < directions; ++d) {
    values.push_back(0.5 * torch::randn({gates, inputs}));
    values.push_back(0.5 * torch::randn({gates, width}));
    values.push_back(torch::randn({gates}));
    values.push_back(torch::randn({gates}));
  }
  values[4][0] = 120.0;  // a bias that saturates its gate
  const torch::Tensor d_out = torch::randn({rows, directions * width});

  const bool with_first = has_first;  // structured bindings and lambdas: GCC 12 wants copies
  const auto found = run(
      [&](const Leaves& leaves) {
        std::vector<torch::Tensor> states;
        for (size_t at = 2; at < leaves.size(); at += 4) {
          const RecurrenceInput in{torch::linear(leaves[0], leaves[at], leaves[at + 2]),
                                   batch_sizes, with_first ? leaves[1] : torch::Tensor(), at > 2};
          const LinearWeights state{leaves[at + 1], leaves[at + 3]};
          states.push_back(lstm_states(in, state));
        }
        return torch::cat(states, 1);
      },
      values, d_out);
  const auto expected = run(
      [&](const Leaves& leaves) {
        const torch::Tensor zeros = torch::zeros({directions, sizes.front(), width});
        const torch::Tensor first = with_first ? leaves[1].unsqueeze(0) : zeros;
        const Leaves weights(leaves.begin() + 2, leaves.end());
        return std::get<0>(torch::lstm(leaves[0], batch_sizes, {first, zeros}, weights, true, 1,
                                       0.0, true, directions == 2));
      },
      values, d_out);
  check_close(found, expected, 1e-5, 1.0);
}

TEST_CASE("a step of an LSTM and its gradients are those of LibTorch's cell") {
  const int64_t rows = GENERATE(1, 70), inputs = 5, width = GENERATE(1, 37);
  CAPTURE(rows, width);
  torch::manual_seed(4);
  const int64_t gates = 4 * width;
  const Leaves values = {torch::randn({rows, inputs}), torch::randn({rows, width}),
                         torch::randn({rows, width}),  torch::randn({gates, inputs}),
                         torch::randn({gates, width}), torch::randn({gates}),
                         torch::randn({gates})};
  const torch::Tensor d_out = torch::randn({rows, 2 * width});
  const auto found = run(
      [&](const Leaves& l) {
        const torch::Tensor in = torch::linear(l[0], l[3], l[5]);
        const torch::Tensor products = torch::linear(l[1], l[4], l[6]);
        const LstmState after = lstm_step(in, products, l[2]);
        return torch::cat({after.hidden_RH, after.cell_RH}, 1);
      },
      values, d_out);
  const auto expected = run(
      [&](const Leaves& l) {
        const auto [hidden, cell] = torch::lstm_cell(l[0], {l[1], l[2]}, l[3], l[4], l[5], l[6]);
        return torch::cat({hidden, cell}, 1);
      },
      values, d_out);
  check_close(found, expected, 1e-5, 1.0);
}

TEST_CASE("an LSTM without rows has no states, and shapes are checked") {
  const torch::Tensor none = torch::empty({0}, torch::kInt64), weight = torch::zeros({8, 2});
  const torch::Tensor bias = torch::zeros({8});
  CHECK(lstm_states({torch::zeros({0, 8}), none}, {weight, bias}).sizes() ==
        torch::IntArrayRef({0, 2}));
  const torch::Tensor two = torch::tensor({2}, torch::kInt64);
  CHECK_THROWS(lstm_states({torch::zeros({3, 8}), two}, {weight, bias}));
  CHECK_THROWS(lstm_states({torch::zeros({2, 6}), two}, {weight, bias}));
  CHECK_THROWS(lstm_states({torch::zeros({2, 8}), two, torch::zeros({3, 2})}, {weight, bias}));
  CHECK_THROWS(lstm_step(torch::zeros({2, 8}), torch::zeros({3, 8}), torch::zeros({2, 2})));
}
