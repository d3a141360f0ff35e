// Operations by this project's kernels for a GPU (kernels/cuda): emulated, on a CPU by the GPU's
// path, against LibTorch's and the CPU's; and on a GPU, where there is one.
#include "kernels/compute_scope.h"
#include "kernels/ops/dropout.h"
#include "kernels/ops/gpu_embedding.h"
#include "kernels/ops/residual_norm.h"
#include "kernels/ops/smoothed_loss.h"
#include "tests/support/catch.h"
#include "tests/support/emulated_gpu.h"
#include "tests/support/skip.h"
#include "tests/support/tensors.h"

using namespace attn;
using testing::max_difference;

TEST_CASE("operations by a GPU's kernels are those of LibTorch, in bf16 up to its rounding") {
  const testing::EmulatedGpu gpu;
  torch::manual_seed(3);
  const torch::Tensor x = torch::randn({9, 20}).requires_grad_(),
                      update = torch::randn({9, 20}).to(torch::kBFloat16).requires_grad_(),
                      weight = torch::randn({20}).requires_grad_(),
                      bias = torch::randn({20}).requires_grad_(), d = torch::randn({9, 20});
  REQUIRE(takes_residual_norm(x, 20));
  CHECK_FALSE(takes_residual_norm(x, 21));
  const auto results = [&](const torch::Tensor& out) {
    auto all = torch::autograd::grad({out}, {x, update, weight, bias}, {d});
    all.push_back(out);
    return all;
  };
  const auto got = results(residual_norm(x, update, {weight, bias, 1e-5}, 0.0)),
             expected = results(torch::layer_norm(x + update, {20}, weight, bias, 1e-5));
  for (size_t i = 0; i < got.size(); ++i) {
    CHECK(got[i].scalar_type() == expected[i].scalar_type());
    CHECK(max_difference(got[i], expected[i]) < (i == 1 ? 0.02 : 1e-5));
  }
}

TEST_CASE("the loss by a GPU's kernel is LibTorch's, with rows that have no target") {
  const auto type = GENERATE(torch::kFloat32, torch::kBFloat16);
  torch::manual_seed(4);
  const torch::Tensor x = torch::randn({70, 16}).to(type), w = torch::randn({101, 16});
  torch::Tensor targets = torch::randint(2, 101, {70}, torch::kInt64);
  targets.narrow(0, 60, 10).fill_(-1);
  const cpu::SmoothedTargets q{0.9f, 0.1f / 99, 1, 0.001f};
  const auto results = [&] {
    const torch::Tensor own_x = x.detach().requires_grad_(), own_w = w.detach().requires_grad_();
    const LossSums sums = chunked_smoothed_loss(own_x, own_w, targets, q);
    sums.loss.backward();
    const torch::NoGradGuard no_grad;
    const LossSums without = chunked_smoothed_loss(own_x, own_w, targets, q);
    CHECK(without.loss.item<float>() == Approx(sums.loss.item<float>()).epsilon(1e-6));
    return std::vector<torch::Tensor>{sums.loss.detach(), sums.nll, own_x.grad(), own_w.grad()};
  };
  const auto expected = [&] {
    const testing::DevicePath path(/*gpu=*/true);
    return results();
  }();
  const testing::EmulatedGpu gpu;
  const auto got = results();
  CHECK(gpu.launches() == 2);
  for (size_t i = 0; i < got.size(); ++i) {
    const double scale = expected[i].abs().max().item<double>();
    CHECK(max_difference(got[i], expected[i]) < scale * (type == torch::kFloat32 ? 1e-5 : 0.01));
  }
}

TEST_CASE("dropout as it is read has the masks of a GPU's kernel, and those are the CPU's") {
  const torch::Tensor x = torch::randn({31, 7});
  const auto with = [&](bool factors) {
    const ComputeScope scope({.dropout_seed = 8});
    return factors ? x * dropout_factors(x, 0.4) : fast_dropout(x, 0.4);
  };
  const torch::Tensor expected = with(false);
  const testing::EmulatedGpu gpu;
  CHECK(torch::equal(with(false), expected));
  CHECK(torch::equal(with(true), expected));
}

TEST_CASE("the embedding by a GPU's kernels is LibTorch's, and its gradient is added") {
  const testing::EmulatedGpu gpu;
  torch::manual_seed(6);
  const torch::Tensor table = torch::randn({30, 12}),
                      tokens = torch::randint(0, 9, {77}, torch::kInt64),
                      positions = torch::randint(0, 30, {77}, torch::kInt64),
                      d = torch::randn({77, 12});
  torch::Tensor weight = torch::randn({9, 12}).requires_grad_(),
                other = weight.detach().clone().requires_grad_();
  REQUIRE(takes_gpu_embedding(weight));
  for (int i = 0; i < 2; ++i) {  // the second gradient is added to the first
    const ComputeScope scope({.dropout_seed = 8});
    const torch::Tensor got = gpu_embedding(weight, tokens, 3.0, table, positions, 0.2);
    const ComputeScope again({.dropout_seed = 8});
    const torch::Tensor x =
        torch::embedding(other, tokens) * 3.0 + table.index_select(0, positions);
    const torch::Tensor expected = x * dropout_factors(x, 0.2);
    got.backward(d);
    expected.backward(d);
    CHECK(max_difference(got, expected) < 1e-5);
    CHECK(max_difference(weight.grad(), other.grad()) < 1e-4);
  }
}

TEST_CASE("a GPU's kernels on a GPU have the bits that they have again", "[gpu]") {
  if (!testing::machine_has(torch::cuda::is_available(), "GPU")) return;
  use_gpu_kernels(GpuKernels::on);
  REQUIRE(gpu_kernels_missing(0).empty());
  torch::manual_seed(5);
  const torch::Tensor weight = torch::randn({500, 512}, torch::kCUDA).requires_grad_(),
                      table = torch::randn({64, 512}, torch::kCUDA),
                      tokens = torch::randint(0, 50, {3000}, torch::kInt64).to(torch::kCUDA),
                      positions = torch::randint(0, 64, {3000}, torch::kInt64).to(torch::kCUDA),
                      gamma = torch::randn({512}, torch::kCUDA).requires_grad_(),
                      beta = torch::randn({512}, torch::kCUDA).requires_grad_();
  const auto results = [&] {
    const ComputeScope scope({.device = torch::kCUDA, .dropout_seed = 3});
    const torch::Tensor x = gpu_embedding(weight, tokens, 2.0, table, positions, 0.1);
    const torch::Tensor y = residual_norm(x, x * 2, {gamma, beta, 1e-5}, 0.1);
    auto all = torch::autograd::grad({y.square().sum()}, {weight, gamma, beta});
    all.push_back(y.detach());
    return all;
  };
  const auto first = results(), second = results();
  for (size_t i = 0; i < first.size(); ++i) CHECK(torch::equal(first[i], second[i]));
  use_gpu_kernels(GpuKernels::automatic);
}
