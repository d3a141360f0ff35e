#include "train/loss.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/compute_scope.h"
#include "kernels/ops/linear.h"
#include "tests/support/catch.h"
#include "tests/support/golden_json.h"
#include "tests/support/scopes.h"
#include "tests/support/skip.h"
#include "tests/support/tensors.h"
#include "train/static_batch.h"

using namespace attn;
using testing::max_difference;
using testing::rounded;

namespace {

/// Sums of a loss, and the gradients of a half of it.
struct Result {
  double loss, nll;
  torch::Tensor dx, dw;
};

template <class Loss>
Result result_of(Loss&& loss, const torch::Tensor& rows, const torch::Tensor& weight,
                 const torch::Tensor& targets, const cpu::SmoothedTargets& q) {
  const torch::Tensor x = testing::leaf(rows), w = testing::leaf(weight);
  const LossSums sums = loss(x, w, targets, q);
  (sums.loss * 0.5).backward();
  return {sums.loss.item<double>(), sums.nll.item<double>(), x.grad(), w.grad()};
}

LossSums definition(const torch::Tensor& x, const torch::Tensor& w, const torch::Tensor& targets,
                    const cpu::SmoothedTargets& q) {
  return smoothed_loss(torch::linear(x, w), targets, q);
}

/// Gradients to `tolerance` of their largest element.
void check_close(const Result& found, const Result& expected, double sums, double tolerance) {
  CHECK(found.loss == Approx(expected.loss).epsilon(sums));
  CHECK(found.nll == Approx(expected.nll).epsilon(sums));
  testing::check_close({found.dx, found.dw}, {expected.dx, expected.dw}, tolerance);
}

}  // namespace

TEST_CASE("the chunked loss equals the definition in all three forms, values and gradients") {
  const auto chunked = GENERATE(chunked_smoothed_loss, libtorch_smoothed_loss);
  const Smoothing form = GENERATE(Smoothing::wrong, Smoothing::wrong_no_pad, Smoothing::all);
  const double epsilon = GENERATE(0.0, 0.1);
  const int64_t classes = GENERATE(11, 1000);
  CAPTURE(enum_name(form), epsilon, classes);
  torch::manual_seed(5);
  const int64_t rows = 1500;  // several chunks
  const torch::Tensor x = torch::randn({rows, 8}), w = torch::randn({classes, 8});
  // Class 1 is the one that wrong_no_pad excludes because it is never a target.
  const torch::Tensor targets = torch::randint(2, classes, {rows}, torch::kInt64);
  const double z_loss = GENERATE(0.0, 0.01);
  const auto q = smoothed_targets({.label_smoothing = epsilon, .smoothing = form, .z_loss = z_loss},
                                  classes, 1);
  const Result plain = result_of(definition, x, w, targets, q);
  check_close(result_of(chunked, x, w, targets, q), plain, 1e-5, 1e-5);
  const torch::NoGradGuard no_grad;
  CHECK(chunked(x, w, targets, q).loss.item<double>() == Approx(plain.loss).epsilon(1e-5));
}

TEST_CASE("rows without a target have neither loss nor gradient, and change no other row's") {
  torch::manual_seed(8);
  const double z_loss = GENERATE(0.0, 0.01);
  const auto q = smoothed_targets({.smoothing = Smoothing::wrong_no_pad, .z_loss = z_loss}, 50, 1);
  const auto type = GENERATE(torch::kFloat32, torch::kBFloat16);
  const torch::Tensor targets = torch::randint(2, 50, {40}, torch::kInt64), all = targets.clone();
  const torch::Tensor own = torch::arange(40).remainder(3).ne(0).nonzero().flatten();
  all.index_fill_(0, torch::arange(0, 40, 3), kNoTarget);
  const torch::Tensor x = torch::randn({40, 8}).to(type).requires_grad_(),
                      some = x.detach().index_select(0, own).requires_grad_();
  const torch::Tensor w = torch::randn({50, 8}).requires_grad_(),
                      w_some = w.detach().clone().requires_grad_();
  const LossSums got = libtorch_smoothed_loss(x, w, all, q),
                 expected = libtorch_smoothed_loss(some, w_some, targets.index_select(0, own), q);
  (got.loss * 0.25).backward();
  (expected.loss * 0.25).backward();
  CHECK(got.loss.item<double>() == Approx(expected.loss.item<double>()).epsilon(1e-6));
  CHECK(got.nll.item<double>() == Approx(expected.nll.item<double>()).epsilon(1e-6));
  CHECK(torch::equal(x.grad().index_select(0, own), some.grad()));
  CHECK(x.grad().index_select(0, torch::arange(0, 40, 3)).abs().max().item<float>() == 0.0f);
  CHECK(max_difference(w.grad(), w_some.grad()) < 1e-5);
}

TEST_CASE("the z-loss is that of PyTorch's autograd, with label smoothing and without") {
  const std::string form = GENERATE("logits", "chunked", "LibTorch's");
  CAPTURE(form);
  const Json all = testing::golden_json("train/data/training.json");
  for (const Json& golden : all.at("z_loss")) {
    const auto matrix = [&](const char* name) {
      std::vector<torch::Tensor> rows;
      for (const Json& row : golden.at(name)) {
        rows.push_back(torch::tensor(row.get<std::vector<float>>()));
      }
      return torch::stack(rows);
    };
    // Rows of the identity as inputs: the weights are the logits.
    const torch::Tensor logits = matrix("logits"), expected = matrix("gradient");
    const int64_t count = logits.size(0), classes = logits.size(1);
    const torch::Tensor x = torch::eye(count), w = logits.t().contiguous().requires_grad_();
    const torch::Tensor targets =
        torch::tensor(golden.at("targets").get<std::vector<int64_t>>(), torch::kInt64);
    const auto q = smoothed_targets({.label_smoothing = golden.at("smoothing").get<double>(),
                                     .smoothing = Smoothing::all,
                                     .z_loss = golden.at("weight").get<double>()},
                                    classes);
    const LossSums sums = form == "logits"    ? smoothed_loss(torch::linear(x, w), targets, q)
                          : form == "chunked" ? chunked_smoothed_loss(x, w, targets, q)
                                              : libtorch_smoothed_loss(x, w, targets, q);
    sums.loss.backward();
    CHECK(sums.loss.item<double>() == Approx(golden.at("loss").get<double>()).epsilon(1e-5));
    CHECK(max_difference(w.grad().t(), expected) < 1e-5);
  }
}

TEST_CASE("the gradient at the target is exact however large the logits are") {
  const auto chunked = GENERATE(chunked_smoothed_loss, libtorch_smoothed_loss);
  const float offset = GENERATE(0.0f, 100.0f, 1000.0f);
  CAPTURE(offset);
  constexpr int64_t kClasses = 1000, kTarget = 7;
  const torch::Tensor x = torch::ones({1, 1}), w = torch::full({kClasses, 1}, offset);
  w[kTarget] += 16.0f;
  w.requires_grad_();
  const LossSums sums = chunked(x, w, torch::full({1}, kTarget, torch::kInt64),
                                smoothed_targets({.label_smoothing = 0.0}, kClasses));
  sums.loss.backward();
  const double rest = (kClasses - 1) * std::exp(-16.0), expected = -rest / (1.0 + rest);
  CHECK(w.grad()[kTarget].item<double>() == Approx(expected).epsilon(0.01));
  CHECK(sums.nll.item<double>() == Approx(std::log1p(rest)).epsilon(0.01));
}

TEST_CASE("the chunked loss by LibTorch's operations supports bf16 rows") {
  const int64_t excluded = GENERATE(-1, 1);
  torch::manual_seed(5);
  const torch::Tensor x = torch::randn({300, 16}).to(torch::kBFloat16),
                      w = rounded(torch::randn({500, 16}));
  const torch::Tensor targets = torch::randint(2, 500, {300}, torch::kInt64);
  const auto q = smoothed_targets({.smoothing = Smoothing::wrong_no_pad}, 500, excluded);
  const Result fast = result_of(libtorch_smoothed_loss, x, w, targets, q);
  CHECK(fast.dx.scalar_type() == torch::kBFloat16);
  // Logits and their gradient are rounded to 8 bits.
  check_close(fast, result_of(definition, x.to(torch::kFloat32), w, targets, q), 1e-3, 2e-2);
}

TEST_CASE("target distributions sum to one") {
  for (const Smoothing form : {Smoothing::wrong, Smoothing::wrong_no_pad, Smoothing::all}) {
    const auto q = smoothed_targets({.smoothing = form}, 50, 1);
    const double others = q.excluded >= 0 ? 48 : 49;
    CHECK(q.target_probability + others * q.smoothing_per_class == Approx(1.0).epsilon(1e-5));
  }
}

TEST_CASE("a loss that overflows is reported as not finite, not hidden") {
  torch::Tensor x = torch::randn({4, 8});
  x[2][3] = std::numeric_limits<float>::quiet_NaN();
  const auto chunked = GENERATE(chunked_smoothed_loss, libtorch_smoothed_loss);
  const auto sums =
      chunked(x, torch::randn({30, 8}), torch::zeros({4}, torch::kInt64), smoothed_targets({}, 30));
  CHECK(!std::isfinite(sums.loss.item<double>()));
}

TEST_CASE("the loss on packed weights equals the definition on rounded operands") {
  const Precision precision = GENERATE(Precision::fp32, Precision::bf16);
  if (!testing::machine_has(has_packed_products(precision), "packed products")) return;
  const Smoothing form = GENERATE(Smoothing::wrong, Smoothing::wrong_no_pad, Smoothing::all);
  const int64_t classes = GENERATE(11, 1000);
  const testing::Threads threads(GENERATE(1, 2));
  CAPTURE(enum_name(precision), enum_name(form), classes);
  torch::manual_seed(5);
  const torch::Tensor x = rounded(torch::randn({700, 40})),
                      w = rounded(torch::randn({classes, 40}) * 0.3);
  const torch::Tensor targets = torch::randint(2, classes, {700}, torch::kInt64);
  const auto q = smoothed_targets({.smoothing = form}, classes, 1);
  Result plain = result_of(definition, x, w, targets, q);
  plain.dw += 1;  // gradients are added to what is there
  const auto packed = [&](const torch::Tensor& rows, const torch::Tensor& weight, auto&&... rest) {
    weight.mutable_grad() = torch::ones_like(weight);
    return chunked_smoothed_loss(rows, weight, rest...);
  };
  PackedWeights weights(precision);
  const ComputeScope scope({.precision = precision, .packed_weights = &weights});
  // In bf16 the gradient of the logits is rounded to 8 bits before its products.
  check_close(result_of(packed, x, w, targets, q), plain, 1e-5,
              precision == Precision::bf16 ? 1e-2 : 1e-5);
}
