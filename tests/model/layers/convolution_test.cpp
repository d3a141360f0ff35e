#include "model/layers/convolution.h"

#include "kernels/compute_scope.h"
#include "tests/support/catch.h"
#include "tests/support/tensors.h"

using namespace attn;
using testing::max_difference;

namespace {

const std::vector<int64_t> kLengths = {5, 1, 0, 3};

std::vector<ConvolutionShape> shapes() {
  return {{.kernel = 1},
          {.kernel = 3},
          {.kernel = 3, .dilation = 2},
          {.kernel = 5},
          {.kernel = 2, .causal = true},
          {.kernel = 3, .dilation = 2, .causal = true},
          {.kernel = 4, .dilation = 3, .causal = true}};
}

}  // namespace

TEST_CASE("shifted rows stay in their sentence, forward and backward") {
  const Segments rows(kLengths);
  for (const ConvolutionShape& shape : shapes()) {
    CAPTURE(shape.kernel, shape.dilation, shape.causal);
    torch::manual_seed(3);
    const torch::Tensor x = torch::randn({rows.rows(), 4}).requires_grad_();
    const torch::Tensor y = x.detach().clone().requires_grad_();
    const torch::Tensor out = shifted_rows(x, rows, shape);
    const ComputeScope as_read({.kernels = false});
    const torch::Tensor expected = shifted_rows(y, rows, shape);
    CHECK(torch::equal(out, expected));
    const torch::Tensor upstream = torch::randn_like(out);
    out.backward(upstream);
    expected.backward(upstream);
    CHECK(max_difference(x.grad(), y.grad()) < 1e-6);
  }
}

TEST_CASE("a product of shifted rows is LibTorch's convolution of each sentence") {
  const Segments rows(kLengths);
  for (const ConvolutionShape& shape : shapes()) {
    CAPTURE(shape.kernel, shape.dilation, shape.causal);
    torch::manual_seed(4);
    const torch::Tensor x = torch::randn({rows.rows(), 4});
    const torch::Tensor weight_OKD = torch::randn({6, shape.kernel, 4});
    const torch::Tensor out = torch::linear(shifted_rows(x, rows, shape), weight_OKD.flatten(1));
    const int64_t reach = (shape.kernel - 1) * shape.dilation;
    for (int64_t b = 0; b < rows.count(); ++b) {
      if (rows.length(b) == 0) continue;
      const torch::Tensor sentence = x.narrow(0, rows.offset(b), rows.length(b)).t().unsqueeze(0);
      const int64_t left = shape.causal ? reach : reach / 2;
      const torch::Tensor expected =
          torch::conv1d(torch::constant_pad_nd(sentence, {left, reach - left}),
                        weight_OKD.transpose(1, 2), torch::Tensor(), at::IntArrayRef{1},
                        at::IntArrayRef{0}, at::IntArrayRef{shape.dilation})
              .squeeze(0)
              .t();
      CHECK(max_difference(out.narrow(0, rows.offset(b), rows.length(b)), expected) < 1e-5);
    }
  }
}

TEST_CASE("the window of a step is the shifted row of the hypothesis, through reorderings") {
  const ConvolutionShape shape{.kernel = 3, .dilation = 2, .causal = true};
  const std::vector<std::vector<int64_t>> parents = {{0, 1}, {0, 0, 1}, {2, 1, 0},
                                                     {1, 1}, {1, 0},    {0, 1, 1}};
  torch::manual_seed(5);
  StepAncestors ancestors(shape.past());
  StepInputs inputs;
  std::vector<torch::Tensor> histories(2, torch::zeros({0, 3}));
  for (const auto& step : parents) {
    ancestors.advance(step, torch::kCPU);
    const torch::Tensor x = torch::randn({static_cast<int64_t>(step.size()), 3});
    const torch::Tensor window = inputs.window(x, ancestors, shape);
    std::vector<torch::Tensor> grown;
    for (size_t r = 0; r < step.size(); ++r) {
      const auto row = static_cast<int64_t>(r);
      grown.push_back(torch::cat({histories[static_cast<size_t>(step[r])], x.narrow(0, row, 1)}));
      const std::vector<int64_t> length = {grown.back().size(0)};
      CHECK(torch::equal(window[row], shifted_rows(grown.back(), Segments(length), shape)[-1]));
    }
    histories = grown;
  }
}

TEST_CASE("an even kernel that is not causal is an error") {
  const Segments rows(kLengths);
  CHECK_THROWS_WITH(shifted_rows(torch::zeros({9, 2}), rows, {.kernel = 2}),
                    testing::contains("must be odd"));
}
