// Norms against PyTorch's. Golden values of RMSNorm are from tools/goldens/rms_rotary.py; LayerNorm
// is tested as part of whole layers (pytorch_layers_test.cpp).
#include "model/layers/norm.h"

#include "kernels/compute_scope.h"
#include "model/layers/convolution.h"
#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/tensors.h"

using namespace attn;
using testing::Golden;
using testing::max_difference;

TEST_CASE("RMSNorm computes what PyTorch's computes, alone and behind a residual sum") {
  const bool fused = GENERATE(false, true);
  CAPTURE(fused);
  const Golden golden("model/data/rms_rotary.safetensors", "rms.");
  NormLayer norm(NormKind::rms, 12);
  REQUIRE(norm->parameters().size() == 1);
  {
    const torch::NoGradGuard no_grad;
    norm->weight.copy_(golden("weight"));
  }
  const torch::Tensor x = golden("x").requires_grad_(), update = golden("update").requires_grad_();
  const torch::Tensor out =
      fused ? norm->after_residual(x, update, Dropout(0.0)) : norm(x + update);
  CHECK(max_difference(out, golden("output")) < 1e-5);
  out.backward(golden("upstream"));
  CHECK(max_difference(x.grad(), golden("x_gradient")) < 1e-5);
  CHECK(max_difference(update.grad(), golden("x_gradient")) < 1e-5);
  CHECK(max_difference(norm->weight.grad(), golden("weight_gradient")) < 1e-5);
}

TEST_CASE("the fused norms are their operations, for rows of any width and gradients too") {
  const NormKind kind = GENERATE(NormKind::layer, NormKind::rms, NormKind::scale);
  const int64_t rows = GENERATE(1, 700), width = GENERATE(7, 128);
  CAPTURE(enum_name(kind), rows, width);
  torch::manual_seed(1);
  NormLayer norm(kind, width);
  {
    const torch::NoGradGuard no_grad;
    for (auto& parameter : norm->parameters()) parameter.normal_();
  }
  const torch::Tensor x = torch::randn({rows, width}, torch::requires_grad());
  const torch::Tensor update = torch::randn({rows, width}, torch::requires_grad());
  const torch::Tensor upstream = torch::randn({rows, width});
  std::vector<std::vector<torch::Tensor>> results;
  for (const bool fused : {false, true}) {
    norm->zero_grad();
    x.mutable_grad() = update.mutable_grad() = torch::Tensor();
    const torch::Tensor out =
        fused ? norm->after_residual(x, update, Dropout(0.0)) : norm(x + update);
    out.backward(upstream);
    results.push_back({out.detach(), x.grad().clone(), update.grad().clone()});
    for (const auto& parameter : norm->parameters()) {
      results.back().push_back(parameter.grad().clone());
    }
  }
  CHECK_THROWS(norm(x.narrow(1, 0, width - 1)));
  for (size_t i = 0; i < results[0].size(); ++i) {
    CHECK(max_difference(results[0][i], results[1][i]) <
          1e-5 * std::max(1.0, results[0][i].abs().max().item<double>()));
  }
}

TEST_CASE(
    "dropout before a norm drops the same elements forward and backward, and only in training") {
  const NormKind kind = GENERATE(NormKind::layer, NormKind::rms, NormKind::scale);
  CAPTURE(enum_name(kind));
  torch::manual_seed(2);
  NormLayer norm(kind, 32);
  Dropout dropout(0.4);
  const torch::Tensor x = torch::zeros({64, 32}, torch::requires_grad());
  const torch::Tensor update = torch::randn({64, 32}, torch::requires_grad());
  const torch::Tensor out = norm->after_residual(x, update, dropout);
  (out * torch::randn({64, 32})).sum().backward();
  const torch::Tensor dropped = update.grad() == 0;
  CHECK(dropped.to(torch::kFloat).mean().item<float>() == Approx(0.4).margin(0.05));
  // What was dropped has the value that zero has in its row.
  const torch::Tensor kept = (update / 0.6).masked_fill(dropped, 0.0);
  CHECK(max_difference(out, norm(kept)) < 1e-5);
  dropout->eval();
  CHECK(max_difference(norm->after_residual(x, update, dropout), norm(update)) < 1e-5);
}

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
