// Norms against PyTorch's. Golden values of RMSNorm are from tools/goldens/rms_rotary.py; LayerNorm
// is tested as part of whole layers (pytorch_layers_test.cpp).
#include "model/layers/norm.h"

#include "tests/support/catch.h"
#include "tests/support/golden.h"
#include "tests/support/tensors.h"

using namespace attn;
using testing::Golden;
using testing::max_difference;

TEST_CASE("RMSNorm computes what PyTorch's computes behind a residual sum") {
  const Golden golden("model/data/rms_rotary.safetensors", "rms.");
  NormLayer norm(NormKind::rms, 12);
  REQUIRE(norm->parameters().size() == 1);
  {
    const torch::NoGradGuard no_grad;
    norm->weight.copy_(golden("weight"));
  }
  const torch::Tensor x = golden("x").requires_grad_(), update = golden("update").requires_grad_();
  const torch::Tensor out = norm->after_residual(x, update, Dropout(0.0));
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
    const ComputeScope scope({.kernels = fused});
    const torch::Tensor out =
        fused ? norm->after_residual(x, update, Dropout(0.0)) : norm(x + update);
    out.backward(upstream);
    results.push_back({out.detach(), x.grad().clone(), update.grad().clone()});
    for (const auto& parameter : norm->parameters()) {
      results.back().push_back(parameter.grad().clone());
    }
  }
  CHECK_THROWS(norm(x.narrow(1, 0, width - 1)));
  testing::check_close(results[1], results[0], 1e-5, 1.0);
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
