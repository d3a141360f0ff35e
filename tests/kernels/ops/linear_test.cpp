// linear() on packed weights against LibTorch's, in bf16 on operands that were rounded before.
// Linear layers packed for search against torch::linear, in each type of weight.
#include "kernels/ops/linear.h"

#include <optional>

#include "kernels/compute_scope.h"
#include "kernels/cpu/int8.h"
#include "kernels/ops/gpu_linear.h"
#include "kernels/ops/packed_linear.h"
#include "tests/kernels/tables.h"
#include "tests/support/catch.h"
#include "tests/support/skip.h"
#include "tests/support/tensors.h"

using namespace attn;
using testing::check_close;
using testing::leaf;
using testing::max_difference;
using testing::rounded;

namespace {

// A precision that this machine computes itself.
Precision each_precision() {
  return GENERATE(Precision::fp32, Precision::bf16);
}

bool is_packed(Precision precision) {
  return testing::machine_has(has_packed_products(precision),
                              precision == Precision::bf16 ? "tiles of bf16" : "panels");
}

torch::Tensor rounded_to(const torch::Tensor& x, Precision precision) {
  return precision == Precision::bf16 ? rounded(x) : x.detach().clone();
}

}  // namespace

TEST_CASE("outside a scope linear() is torch::linear") {
  const torch::Tensor x = torch::randn({5, 7}), w = torch::randn({3, 7}), b = torch::randn({3});
  CHECK(torch::equal(linear(x, {w, b}), torch::linear(x, w, b)));
}

TEST_CASE("a linear layer on packed weights: values, gradients and accumulation") {
  const Precision precision = each_precision();
  if (!is_packed(precision)) return;
  torch::manual_seed(2);
  const auto [rows, inputs, outputs] =
      GENERATE(testing::Sizes{1, 1, 1}, testing::Sizes{37, 64, 300}, testing::Sizes{1500, 33, 65},
               testing::Sizes{600, 1100, 31});
  const bool has_bias = GENERATE(true, false), narrow = GENERATE(false, true);
  if (narrow && precision == Precision::fp32) return;
  CAPTURE(enum_name(precision), rows, inputs, outputs, has_bias, narrow);
  const torch::Tensor x = leaf(torch::randn({rows, inputs})),
                      w = leaf(torch::randn({outputs, inputs})),
                      b = has_bias ? leaf(torch::randn({outputs})) : torch::Tensor();
  const torch::Tensor upstream = rounded(torch::randn({rows, outputs}));
  const torch::Tensor plain_x = leaf(rounded_to(x, precision)),
                      plain_w = leaf(rounded_to(w, precision));
  const torch::Tensor plain_b = has_bias ? leaf(b) : torch::Tensor();
  const torch::Tensor plain = torch::linear(plain_x, plain_w, plain_b);
  plain.backward(upstream);

  PackedWeights weights(precision);
  torch::Tensor y;
  w.mutable_grad() = torch::ones_like(w);  // the bias has none yet
  {
    const ComputeScope scope({.precision = precision, .packed_weights = &weights});
    y = linear(narrow ? x.to(torch::kBFloat16) : x, {w, b});
  }
  y.backward(upstream);
  CHECK(y.scalar_type() == torch::kFloat32);
  check_close(y, plain, 1e-5, 1.0);
  check_close(x.grad(), plain_x.grad(), narrow ? 5e-3 : 1e-5, 1.0);  // of a bf16 input in bf16
  check_close(w.grad(), plain_w.grad() + 1, 1e-5, 1.0);
  if (has_bias) check_close(b.grad(), plain_b.grad(), 1e-5, 1.0);
}

TEST_CASE("linear_all and joint_linear equal separate linear layers, with all results or some") {
  const Precision precision = each_precision();
  const bool packed = GENERATE(true, false);
  if (packed && !is_packed(precision)) return;
  if (!packed && precision == Precision::bf16) return;
  torch::manual_seed(4);
  const bool all_used = GENERATE(true, false), biases = GENERATE(true, false);
  const torch::Tensor x = leaf(torch::randn({300, 40}));
  std::vector<LinearWeights> layers;
  std::vector<torch::Tensor> leaves{x};
  for (const int64_t outputs : {30, 70, 40}) {
    layers.push_back({leaf(torch::randn({outputs, 40})),
                      biases ? leaf(torch::randn({outputs})) : torch::Tensor()});
    leaves.push_back(layers.back().weight);
    if (biases) leaves.push_back(layers.back().bias);
  }
  PackedWeights weights(precision);
  std::optional<ComputeScope> scope;
  if (packed)
    scope.emplace(ComputeScope::Options{.precision = precision, .packed_weights = &weights});
  // The results, and the gradients of all leaves.
  const auto run = [&](const std::vector<torch::Tensor>& ys) {
    for (const torch::Tensor& one : leaves) one.mutable_grad() = torch::Tensor();
    torch::Tensor loss = (ys[0] * ys[0]).sum() + ys[2].sum();
    if (all_used) loss = loss + (ys[1] * 3.0).sum();
    loss.backward();
    std::vector<torch::Tensor> found = ys;
    for (const torch::Tensor& one : leaves) found.push_back(one.grad());
    return found;
  };
  const auto separate = run({linear(x, layers[0]), linear(x, layers[1]), linear(x, layers[2])});
  check_close(run(linear_all(x, layers)), separate, 1e-5, 1.0);
  if (packed) return;
  auto joint = run(joint_linear(x, layers));
  for (size_t i = 0; i < joint.size(); ++i) {  // zeros
    if (!separate[i].defined()) joint[i] = torch::Tensor();
  }
  check_close(joint, separate, 1e-5, 1.0);
  layers[1].bias = biases ? torch::Tensor() : torch::zeros({70});
  CHECK_THROWS(joint_linear(x, layers));
}

TEST_CASE("joint_linear in bf16 adds gradients in float32, without rounding them to bf16 before") {
  torch::manual_seed(6);
  const torch::Tensor x = leaf(rounded(torch::randn({300, 12}))), b = leaf(torch::randn({5})),
                      w = leaf(rounded(torch::randn({5, 12}))), frozen = torch::randn({2, 12});
  const torch::Tensor upstream = rounded(torch::randn({300, 7}));
  w.mutable_grad() = torch::ones_like(w);  // the bias has none yet
  {
    const ComputeScope scope({.precision = Precision::bf16, .kernels = false});
    const auto ys = joint_linear(x, std::vector<LinearWeights>{{w, b}, {frozen, torch::ones({2})}});
    CHECK(ys[1].scalar_type() == torch::kBFloat16);
    torch::cat(ys, 1).backward(upstream.to(torch::kBFloat16));
  }
  const torch::Tensor own = upstream.narrow(1, 0, 5), dw = own.t().mm(x).detach();
  check_close(w.grad(), dw + 1, 1e-5, 1.0);
  check_close(b.grad(), own.sum(0), 1e-5, 1.0);
  CHECK_FALSE(frozen.grad().defined());
  check_close(x.grad(), upstream.mm(torch::cat({w, frozen})).detach(), 1e-2, 1.0);
}

TEST_CASE(
    "what is not asked for is left alone: frozen weights, gradients of x alone, no gradients") {
  const Precision precision = each_precision();
  if (!is_packed(precision)) return;
  const torch::Tensor x = leaf(torch::randn({20, 8}));
  const torch::Tensor frozen = torch::randn({5, 8}), b = leaf(torch::randn({5}));
  frozen.mutable_grad() = torch::zeros_like(frozen);
  PackedWeights weights(precision);
  const ComputeScope scope({.precision = precision, .packed_weights = &weights});
  linear(x, {frozen, b}).sum().backward();
  CHECK(frozen.grad().abs().max().item<float>() == 0.0f);
  CHECK(b.grad().min().item<float>() == 20.0f);
  const auto dx = torch::autograd::grad({linear(x, {frozen, b}).sum()}, {x});
  CHECK(max_difference(dx[0], x.grad()) == 0.0);
  CHECK(b.grad().min().item<float>() == 20.0f);
  const torch::NoGradGuard no_grad;
  CHECK_FALSE(linear(x, {frozen, b}).requires_grad());
  CHECK_THROWS(linear(x.to(torch::kFloat64), {frozen, b}));
  CHECK_THROWS(linear(x, {frozen, torch::zeros({4})}));
}

TEST_CASE("operands follow their weights after refresh, and scopes nest") {
  const Precision precision = each_precision();
  if (!is_packed(precision)) return;
  const torch::Tensor x = torch::ones({2, 4}), w = torch::ones({3, 4});
  PackedWeights weights(precision), others(precision);
  const ComputeScope scope({.precision = precision, .packed_weights = &weights});
  CHECK(linear(x, {w, {}})[0][0].item<float>() == 4.0f);
  w.fill_(2.0f);
  {
    const ComputeScope inner({.precision = precision, .packed_weights = &others});
    CHECK(linear(x, {w, {}})[0][0].item<float>() == 8.0f);
  }
  CHECK(linear(x, {w, {}})[0][0].item<float>() == 4.0f);  // as it was when first met
  weights.refresh();
  CHECK(linear(x, {w, {}})[0][0].item<float>() == 8.0f);
}

namespace {

// The levels of a matrix's rows times their scales.
torch::Tensor dequantized(const torch::Tensor& matrix) {
  const torch::Tensor largest = matrix.abs().amax(1, /*keepdim=*/true);
  return torch::round(matrix * (torch::full_like(largest, 127.0f) / largest)) * (largest / 127.0f);
}

}  // namespace

TEST_CASE("a packed linear layer is torch::linear to its type's rounding") {
  const WeightType type = GENERATE(WeightType::fp32, WeightType::bf16, WeightType::int8);
  if (type == WeightType::bf16 && !testing::machine_has(has_bf16_tiles(), "tiles of bf16")) return;
  // The last but one uses several threads, the one before also blocks of inner tiles. Rows of the
  // last are too long for int8: its activations stay in float32.
  const auto [rows, inputs, outputs] =
      GENERATE(testing::Sizes{1, 1, 1}, testing::Sizes{0, 8, 8}, testing::Sizes{5, 33, 257},
               testing::Sizes{17, 128, 3000}, testing::Sizes{70, 1100, 530},
               testing::Sizes{2, cpu::kInt8Inputs + 1, 3});
  const bool has_bias = GENERATE(true, false), relu = GENERATE(true, false);
  CAPTURE(enum_name(type), rows, inputs, outputs, has_bias, relu);
  torch::manual_seed(4);
  const torch::Tensor wide_x = torch::randn({rows, inputs + 3}), x = wide_x.slice(1, 0, inputs);
  const torch::Tensor w = torch::randn({outputs, inputs});
  const torch::Tensor b = has_bias ? torch::randn({outputs}) : torch::Tensor();
  const PackedLinear layer(w, b, type);
  CHECK(layer.inputs() == inputs);
  CHECK(layer.outputs() == outputs);
  const torch::Tensor y = torch::full({rows, outputs + 2}, 7.0f);
  layer.apply(wide_x.const_data_ptr<float>(), inputs + 3, rows, y.mutable_data_ptr<float>(),
              outputs + 2, relu);
  if (rows == 0) return;

  const bool bf16 = type == WeightType::bf16, int8 = type == WeightType::int8;
  const bool int8_rows = int8 && cpu::int8_kernels() != nullptr && inputs <= cpu::kInt8Inputs;
  torch::Tensor plain = torch::linear(bf16        ? rounded(x)
                                      : int8_rows ? dequantized(x)
                                                  : x,
                                      bf16   ? rounded(w)
                                      : int8 ? dequantized(w)
                                             : w,
                                      b);
  if (relu) plain = torch::relu(plain);
  check_close(y.slice(1, 0, outputs), plain, inputs < 10'000 ? 1e-5 : 3e-5, 1.0);
  CHECK(y.slice(1, outputs).eq(7.0f).all().item<bool>());  // nothing beyond a row's end
}
