// linear() on packed weights against LibTorch's, in bf16 on operands that were rounded before.
#include "kernels/ops/linear.h"

#include "kernels/compute_scope.h"
#include "tests/support/catch.h"
#include "tests/support/hardware.h"
#include "tests/support/tensors.h"

using namespace attn;
using testing::max_difference;
using testing::rounded;

namespace {

torch::Tensor leaf(torch::Tensor x) {
  return x.detach().requires_grad_();
}

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

double scale(const torch::Tensor& x) {
  return std::max(1.0, x.abs().max().item<double>());
}

}  // namespace

TEST_CASE("outside a scope linear() is torch::linear") {
  const torch::Tensor x = torch::randn({5, 7}), w = torch::randn({3, 7}), b = torch::randn({3});
  CHECK(torch::equal(linear(x, {w, b}), torch::linear(x, w, b)));
  CHECK_THROWS_WITH(linear_relu(x, {w, b}), testing::contains("requires packed weights"));
  CHECK_THROWS_WITH(linear_silu_gate(x, {w, b}, {w, b}),
                    testing::contains("requires packed weights"));
}

TEST_CASE("a linear layer on packed weights: values, gradients and accumulation") {
  const Precision precision = each_precision();
  if (!is_packed(precision)) return;
  torch::manual_seed(2);
  const auto [rows, inputs, outputs] =
      GENERATE(std::tuple<int64_t, int64_t, int64_t>{1, 1, 1},
               std::tuple<int64_t, int64_t, int64_t>{37, 64, 300},
               std::tuple<int64_t, int64_t, int64_t>{1500, 33, 65},
               std::tuple<int64_t, int64_t, int64_t>{600, 1100, 31});
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
  CHECK(max_difference(y, plain) < 1e-5 * scale(plain));
  // To a bf16 input goes a bf16 gradient.
  CHECK(max_difference(x.grad(), plain_x.grad()) < (narrow ? 5e-3 : 1e-5) * scale(plain_x.grad()));
  CHECK(max_difference(w.grad(), plain_w.grad() + 1) < 1e-5 * scale(plain_w.grad()));
  if (has_bias) {
    CHECK(max_difference(b.grad(), plain_b.grad()) < 1e-5 * scale(plain_b.grad()));
  }
}

TEST_CASE("relu on packed weights: gradients pass where the sum was above zero") {
  const Precision precision = each_precision();
  if (!is_packed(precision)) return;
  torch::manual_seed(3);
  const torch::Tensor x = leaf(rounded(torch::randn({700, 48}))),
                      w = leaf(rounded(torch::randn({90, 48}))), b = leaf(torch::randn({90}));
  const torch::Tensor upstream = rounded(torch::randn({700, 90}));
  const torch::Tensor plain_x = leaf(x), plain_w = leaf(w), plain_b = leaf(b);
  torch::relu(torch::linear(plain_x, plain_w, plain_b)).backward(upstream);
  PackedWeights weights(precision);
  torch::Tensor y;
  {
    const ComputeScope scope({.precision = precision, .packed_weights = &weights});
    y = linear_relu(x, {w, b});
  }
  const auto type = precision == Precision::bf16 ? torch::kBFloat16 : torch::kFloat32;
  CHECK(y.scalar_type() == type);
  CHECK(y.to(torch::kFloat32).min().item<float>() == 0.0f);
  y.backward(upstream.to(type));
  CHECK(max_difference(x.grad(), plain_x.grad()) < 1e-5 * scale(plain_x.grad()));
  CHECK(max_difference(w.grad(), plain_w.grad()) < 1e-5 * scale(plain_w.grad()));
  CHECK(max_difference(b.grad(), plain_b.grad()) < 1e-5 * scale(plain_b.grad()));
}

TEST_CASE("SwiGLU on packed weights: values and gradients of both layers") {
  const Precision precision = each_precision();
  if (!is_packed(precision)) return;
  torch::manual_seed(6);
  const bool has_bias = GENERATE(true, false);
  const auto [rows, inputs, outputs] = GENERATE(std::tuple<int64_t, int64_t, int64_t>{1, 1, 1},
                                                std::tuple<int64_t, int64_t, int64_t>{700, 48, 90},
                                                std::tuple<int64_t, int64_t, int64_t>{65, 70, 300});
  CAPTURE(enum_name(precision), rows, inputs, outputs, has_bias);
  const auto parameters = [&, outputs = outputs, inputs = inputs] {
    return LinearWeights{leaf(rounded(torch::randn({outputs, inputs}))),
                         has_bias ? leaf(torch::randn({outputs})) : torch::Tensor()};
  };
  const torch::Tensor x = leaf(rounded(torch::randn({rows, inputs})));
  const LinearWeights gate = parameters(), inner = parameters();
  std::vector<torch::Tensor> leaves{x, gate.weight, inner.weight};
  if (has_bias) leaves.insert(leaves.end(), {gate.bias, inner.bias});
  const torch::Tensor plain = torch::silu(torch::linear(x, gate.weight, gate.bias)) *
                              torch::linear(x, inner.weight, inner.bias);
  const torch::Tensor upstream = rounded(torch::randn({rows, outputs}));
  const auto expected = torch::autograd::grad({plain}, leaves, {upstream});
  PackedWeights weights(precision);
  torch::Tensor y;
  {
    const ComputeScope scope({.precision = precision, .packed_weights = &weights});
    y = linear_silu_gate(x, gate, inner);
  }
  const bool bf16 = precision == Precision::bf16;
  const auto type = bf16 ? torch::kBFloat16 : torch::kFloat32;
  CHECK(y.scalar_type() == type);
  CHECK(max_difference(y.to(torch::kFloat32), plain) < (bf16 ? 4e-3 : 1e-5) * scale(plain));
  y.backward(upstream.to(type));
  for (size_t i = 0; i < leaves.size(); ++i) {
    CAPTURE(i);
    // In bf16 the gradients of both products are rounded.
    CHECK(max_difference(leaves[i].grad(), expected[i]) <
          (bf16 ? 8e-3 : 1e-5) * scale(expected[i]));
  }
}

TEST_CASE("linear_all equals separate linear layers, also where one result is not used") {
  const Precision precision = each_precision();
  if (!is_packed(precision)) return;
  torch::manual_seed(4);
  const bool all_used = GENERATE(true, false);
  const torch::Tensor x = leaf(torch::randn({300, 40}));
  std::vector<LinearWeights> layers;
  for (const int64_t outputs : {30, 70, 40}) {
    layers.push_back({leaf(torch::randn({outputs, 40})), leaf(torch::randn({outputs}))});
  }
  PackedWeights weights(precision);
  const ComputeScope scope({.precision = precision, .packed_weights = &weights});
  std::vector<torch::Tensor> sums;
  for (const bool together : {true, false}) {
    const auto ys = together
                        ? linear_all(x, layers)
                        : std::vector<torch::Tensor>{linear(x, layers[0]), linear(x, layers[1]),
                                                     linear(x, layers[2])};
    torch::Tensor loss = (ys[0] * ys[0]).sum() + ys[2].sum();
    if (all_used) loss = loss + (ys[1] * 3.0).sum();
    loss.backward();
    sums.push_back(x.grad().clone());
    sums.push_back(layers[0].weight.grad().clone());
    if (all_used) sums.push_back(layers[1].weight.grad().clone());
    CHECK(layers[1].weight.grad().defined() == all_used);
    sums.push_back(layers[2].bias.grad().clone());
    for (const auto& layer : layers) {
      layer.weight.mutable_grad() = torch::Tensor();
      layer.bias.mutable_grad() = torch::Tensor();
    }
    x.mutable_grad() = torch::Tensor();
  }
  const size_t kinds = sums.size() / 2;
  for (size_t i = 0; i < kinds; ++i) {
    CHECK(max_difference(sums[i], sums[kinds + i]) < 1e-5 * scale(sums[i]));
  }
}

TEST_CASE("joint_linear equals separate linear layers, with and without biases") {
  torch::manual_seed(5);
  const bool biases = GENERATE(true, false);
  const torch::Tensor x = leaf(torch::randn({30, 12}));
  std::vector<LinearWeights> layers;
  for (const int64_t outputs : {8, 24, 16}) {
    layers.push_back({leaf(torch::randn({outputs, 12})),
                      biases ? leaf(torch::randn({outputs})) : torch::Tensor()});
  }
  std::vector<torch::Tensor> leaves{x};
  for (const LinearWeights& layer : layers) {
    leaves.push_back(layer.weight);
    if (biases) leaves.push_back(layer.bias);
  }
  const auto loss = [](const std::vector<torch::Tensor>& ys) {
    return (ys[0] * ys[0]).sum() + (ys[1] * 3.0).sum() + ys[2].pow(3).sum();
  };
  const auto joint = joint_linear(x, layers), separate = linear_all(x, layers);
  REQUIRE(joint.size() == layers.size());
  for (size_t i = 0; i < layers.size(); ++i) {
    CHECK(joint[i].sizes() == separate[i].sizes());
    CHECK(max_difference(joint[i], separate[i]) < 1e-5 * scale(separate[i]));
  }
  const auto expected = torch::autograd::grad({loss(separate)}, leaves);
  const auto gradients = torch::autograd::grad({loss(joint)}, leaves);
  for (size_t i = 0; i < leaves.size(); ++i) {
    CHECK(max_difference(gradients[i], expected[i]) < 1e-5 * scale(expected[i]));
  }
  layers[1].bias = biases ? torch::Tensor() : torch::zeros({24});
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
  CHECK(max_difference(w.grad(), dw + 1) < 1e-5 * scale(dw));
  CHECK(max_difference(b.grad(), own.sum(0)) < 1e-5 * scale(own.sum(0)));
  CHECK_FALSE(frozen.grad().defined());
  const torch::Tensor dx = upstream.mm(torch::cat({w, frozen})).detach();
  CHECK(max_difference(x.grad(), dx) < 1e-2 * scale(dx));
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
