// Operations by this project's kernels for a GPU (kernels/cuda): emulated, on a CPU by the GPU's
// path, against LibTorch's and the CPU's; and on a GPU, where there is one.
#include "kernels/compute_scope.h"
#include "kernels/ops/dropout.h"
#include "kernels/ops/gpu_embedding.h"
#include "kernels/ops/gpu_linear.h"
#include "kernels/ops/gpu_norm.h"
#include "kernels/ops/linear.h"
#include "kernels/ops/residual_norm.h"
#include "kernels/ops/smoothed_loss.h"
#include "tests/support/catch.h"
#include "tests/support/emulated_gpu.h"
#include "tests/support/skip.h"
#include "tests/support/tensors.h"

using namespace attn;
using testing::check_close;
using testing::leaf;
using testing::max_difference;
using testing::rounded;

TEST_CASE("linear layers by copies of their weights in bf16: values, gradients, two batches") {
  const testing::EmulatedGpu gpu;
  torch::manual_seed(8);
  const bool biases = GENERATE(true, false), relu = GENERATE(false, true);
  CAPTURE(biases, relu);
  std::vector<LinearWeights> layers, plain;  // of odd sizes
  for (const int64_t outputs : relu ? std::vector<int64_t>{33} : std::vector<int64_t>{30, 7, 41}) {
    const torch::Tensor bias = biases ? torch::randn({outputs}) : torch::Tensor();
    layers.push_back({leaf(torch::randn({outputs, 23})), biases ? leaf(bias) : bias});
    plain.push_back({leaf(rounded(layers.back().weight)), biases ? leaf(rounded(bias)) : bias});
  }
  PackedWeights copies(Precision::bf16);
  const auto outputs = [&](const torch::Tensor& x) {
    const ComputeScope scope({.precision = Precision::bf16, .packed_weights = &copies});
    REQUIRE(weight_copies(x) == &copies);
    return torch::cat(relu ? std::vector{joint_relu(x, layers[0])} : linear_all(x, layers), 1);
  };
  for (const int64_t rows : {37, 1}) {
    const torch::Tensor x = leaf(torch::randn({rows, 23})), rounded_x = leaf(rounded(x));
    const torch::Tensor got = outputs(x);
    std::vector<torch::Tensor> parts;
    for (const auto& [w, b] : plain) parts.push_back(torch::linear(rounded_x, w, b));
    const torch::Tensor sums = torch::cat(parts, 1), expected = relu ? torch::relu(sums) : sums;
    CHECK(got.scalar_type() == torch::kBFloat16);
    check_close(got, expected, 0.004);
    const torch::Tensor upstream = rounded(torch::randn(got.sizes()));
    got.backward(upstream.to(torch::kBFloat16));
    expected.backward(upstream);
    check_close(x.grad(), rounded_x.grad(), 0.004);
  }
  for (size_t i = 0; i < layers.size(); ++i) {  // of both batches, added in float32
    check_close(layers[i].weight.grad(), plain[i].weight.grad(), 1e-5);
    if (biases) check_close(layers[i].bias.grad(), plain[i].bias.grad(), 1e-5);
  }
}

TEST_CASE("copies of weights follow them after refresh, at the same address, and only if taken") {
  const testing::EmulatedGpu gpu;
  const torch::Tensor x = torch::ones({2, 4});
  torch::Tensor w = torch::ones({3, 4}).requires_grad_(),
                other = torch::ones({2, 4}).requires_grad_();
  PackedWeights copies(Precision::bf16);
  const ComputeScope::Options options{.precision = Precision::bf16, .packed_weights = &copies};
  const auto results = [&](const ComputeScope::Options& how) {
    const ComputeScope scope(how);
    const auto ys = linear_all(x, std::vector<LinearWeights>{{w, {}}, {other, {}}});
    return std::pair{ys[0][0][0].item<float>(), ys[1][0][0].item<float>()};
  };
  CHECK(results(options) == std::pair{4.0f, 4.0f});
  const void* address = copies.bf16_copy({w, other}).data_ptr();
  {
    const torch::NoGradGuard no_grad;
    w.fill_(2.0f);
    other.fill_(3.0f);
  }
  CHECK(results(options) == std::pair{4.0f, 4.0f});  // as they were
  const std::pair now{8.0f, 12.0f};
  auto as_read = options, in_fp32 = options;
  as_read.kernels = false;
  in_fp32.precision = Precision::fp32;
  CHECK(results(as_read) == now);
  CHECK(results(in_fp32) == now);
  use_gpu_kernels(GpuKernels::norm);  // of which linear layers are no part
  CHECK(results(options) == now);
  use_gpu_kernels(GpuKernels::linear);
  CHECK(results(options) == std::pair{4.0f, 4.0f});
  use_gpu_kernels(GpuKernels::automatic);
  copies.refresh();
  CHECK(results(options) == now);
  CHECK(copies.bf16_copy({w, other}).data_ptr() == address);
}

TEST_CASE("operations by a GPU's kernels are those of LibTorch, in bf16 up to its rounding") {
  const testing::EmulatedGpu gpu;
  torch::manual_seed(3);
  const torch::Tensor x = leaf(torch::randn({9, 20})), weight = leaf(torch::randn({20})),
                      update = leaf(torch::randn({9, 20}).to(torch::kBFloat16)),
                      bias = leaf(torch::randn({20})), d = torch::randn({9, 20});
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

TEST_CASE("a norm beside its residual connection, by a GPU's kernels, is LibTorch's") {
  const testing::EmulatedGpu gpu;
  torch::manual_seed(9);
  const double p = GENERATE(0.0, 0.3);
  const auto type = GENERATE(torch::kFloat32, torch::kBFloat16);
  CAPTURE(p, toString(type));
  const torch::Tensor x = torch::randn({9, 20}).requires_grad_(),
                      inner = torch::randn({20, 20}).requires_grad_(),
                      weight = torch::randn({20}).requires_grad_(),
                      bias = torch::randn({20}).requires_grad_(), d = torch::randn({9, 20});
  REQUIRE(takes_residual_norm(x, 20));
  CHECK_FALSE(takes_residual_norm(x, 21));
  const auto results = [&](bool kernels) {
    const ComputeScope scope({.dropout_seed = 8});
    torch::Tensor out;
    if (kernels) {
      const auto [normed, own] = gpu::norm_beside(x, {weight, bias, 1e-5});
      out = gpu::residual_sum(own, normed.mm(inner).to(type), p);
    } else {
      const torch::Tensor update = torch::layer_norm(x, {20}, weight, bias, 1e-5).mm(inner);
      out = x + update.to(type) * (p > 0 ? dropout_factors(update, p) : torch::ones({}));
    }
    auto all = torch::autograd::grad({out}, {x, inner, weight, bias}, {d});
    all.push_back(out);
    return all;
  };
  const auto got = results(true), expected = results(false);
  for (size_t i = 0; i < got.size(); ++i) {
    CHECK(got[i].scalar_type() == torch::kFloat32);
    CHECK(max_difference(got[i], expected[i]) < (type == torch::kBFloat16 ? 0.1 : 1e-4));
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
    const torch::Tensor own_x = leaf(x), own_w = leaf(w);
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
  check_close(got, expected, type == torch::kFloat32 ? 1e-5 : 0.01);
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
  torch::Tensor weight = torch::randn({9, 12}).requires_grad_(), other = leaf(weight);
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
