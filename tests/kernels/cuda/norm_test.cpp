// kernels/cuda/norm.cu and dropout.cu, emulated, against the formulas in double precision, with the
// CPU's dropout.
#include "tests/kernels/cuda/emulated.h"

using namespace attn;
using testing::DeviceBuffer;

namespace {

struct NormCase {
  int64_t rows, width;
  bool bias, update;
  double p;
  bool bf16;               // of the update, and of its gradient
  bool bf16_rows = false;  // of x and of the output
  bool residual = false;   // whether x has a gradient of its own, of its type
};

class NormReference {
 public:
  explicit NormReference(const NormCase& one)
      : of(one),
        count(static_cast<size_t>(of.rows * of.width)),
        keys(testing::dropout_keys(of.p, seed)) {
    Random random(static_cast<uint64_t>(of.rows * 131 + of.width));
    x = testing::rounded(testing::random_floats(random, of.rows * of.width), of.bf16_rows);
    for (float& value : x) value += 0.5f;
    x = testing::rounded(x, of.bf16_rows);
    update = testing::rounded(testing::random_floats(random, of.rows * of.width), of.bf16);
    d_output = testing::random_floats(random, of.rows * of.width);
    d_residual = testing::rounded(testing::random_floats(random, of.rows * of.width), of.bf16_rows);
    weight = testing::random_floats(random, of.width);
    bias = testing::random_floats(random, of.width);
    factors = testing::cpu_factors(of.rows * of.width, keys.cpu);
    for (size_t i = 0; i < count; ++i) {
      sum.push_back(x[i] + (of.update ? double{update[i]} * factors[i] : 0.0));
    }
    for (int64_t r = 0; r < of.rows; ++r) add_row(static_cast<size_t>(r * of.width));
  }

  const NormCase of;
  const size_t count;
  const uint64_t seed = 11;
  const testing::DropoutKeys keys;
  const float epsilon = 0.01f;
  std::vector<float> x, update, d_output, d_residual, weight, bias, factors;
  std::vector<double> sum, output, mean, rstd, d_x, d_update, d_weight, d_bias;

 private:
  void add_row(size_t first) {
    const auto width = static_cast<size_t>(of.width);
    double total = 0.0, squares = 0.0;
    for (size_t c = 0; c < width; ++c) total += sum[first + c];
    mean.push_back(of.bias ? total / of.width : 0.0);
    for (size_t c = 0; c < width; ++c) squares += std::pow(sum[first + c] - mean.back(), 2);
    rstd.push_back(1.0 / std::sqrt(squares / of.width + epsilon));
    d_weight.resize(width);
    d_bias.resize(width);
    double scaled = 0.0, products = 0.0;
    std::vector<double> normal(width);
    for (size_t c = 0; c < width; ++c) {
      const double d = d_output[first + c];
      normal[c] = (sum[first + c] - mean.back()) * rstd.back();
      output.push_back(normal[c] * weight[c] + (of.bias ? bias[c] : 0.0f));
      scaled += d * weight[c];
      products += d * weight[c] * normal[c];
      d_weight[c] += d * normal[c];
      d_bias[c] += d;
    }
    for (size_t c = 0; c < width; ++c) {
      d_x.push_back((of.residual ? d_residual[first + c] : 0.0f) +
                    rstd.back() *
                        (double{d_output[first + c]} * weight[c] -
                         (of.bias ? scaled / of.width : 0.0) - normal[c] * products / of.width));
      d_update.push_back(d_x.back() * factors[first + c]);
    }
  }
};

}  // namespace

TEST_CASE("the GPU's norm is that of its formula, with the CPU's dropout") {
  const auto of = GENERATE(
      NormCase{1, 4, true, true, 0.0, false}, NormCase{5, 36, true, true, 0.3, false},
      NormCase{9, 128, true, true, 0.1, true}, NormCase{6, 132, false, true, 0.5, true},
      NormCase{7, 256, true, false, 0.0, false}, NormCase{3, 512, true, true, 0.3, true, true},
      NormCase{2, 1000, false, false, 0.0, false, true}, NormCase{5, 1024, true, true, 0.1, false});
  CAPTURE(of.rows, of.width, of.bias, of.update, of.p, of.bf16, of.bf16_rows);
  const NormReference expected(of);
  const testing::EmulatedLauncher launcher;
  DeviceBuffer x(expected.x, of.bf16_rows), update(expected.update, of.bf16),
      weight(expected.weight, false), bias(expected.bias, false);
  DeviceBuffer output(expected.count, of.bf16_rows), sum(expected.count, false),
      mean(static_cast<size_t>(of.rows), false), rstd(static_cast<size_t>(of.rows), false);
  cuda::norm_forward({&launcher, nullptr},
                     {.x = x.numbers(),
                      .update = of.update ? update.numbers() : cuda::Numbers{},
                      .output = output.numbers(),
                      .sum = of.update ? sum.floats() : nullptr,
                      .mean = mean.floats(),
                      .rstd = rstd.floats(),
                      .weight = weight.floats(),
                      .bias = of.bias ? bias.floats() : nullptr,
                      .rows = of.rows,
                      .width = static_cast<int32_t>(of.width),
                      .epsilon = expected.epsilon,
                      .dropout = expected.keys.gpu});
  CHECK(launcher.launches() == 1);
  CHECK(error_of(output, expected.output) < testing::bound(of.bf16_rows));
  CHECK(error_of(mean, expected.mean) < 1e-6);
  CHECK(error_of(rstd, expected.rstd) < 1e-5);
  if (of.update) CHECK(error_of(sum, expected.sum) < 1e-6);
  for (const DeviceBuffer* buffer : {&output, &sum, &mean, &rstd}) {
    CHECK(buffer->margins_are_whole());
  }
}

TEST_CASE("the gradients of the GPU's norm are those of its formula") {
  const auto of = GENERATE(
      NormCase{1, 4, true, true, 0.0, false}, NormCase{65, 36, true, true, 0.3, false},
      NormCase{150, 128, true, true, 0.1, true}, NormCase{70, 132, false, true, 0.5, true},
      NormCase{63, 256, true, false, 0.0, false}, NormCase{9, 512, true, true, 0.3, true, true},
      NormCase{2, 1000, false, false, 0.0, false},
      NormCase{70, 1000, true, false, 0.0, false, false, true},
      NormCase{11, 68, false, false, 0.0, false, true, true},
      NormCase{64, 1024, true, true, 0.1, false});
  CAPTURE(of.rows, of.width, of.bias, of.update, of.p, of.bf16, of.bf16_rows, of.residual);
  const NormReference expected(of);
  const testing::EmulatedLauncher launcher;
  std::vector<float> sums(expected.sum.begin(), expected.sum.end()),
      means(expected.mean.begin(), expected.mean.end()),
      rstds(expected.rstd.begin(), expected.rstd.end());
  DeviceBuffer d_output(expected.d_output, false), sum(sums, false), mean(means, false),
      rstd(rstds, false), weight(expected.weight, false),
      d_residual(expected.d_residual, of.bf16_rows);
  DeviceBuffer d_x(expected.count, of.bf16_rows), d_update(expected.count, of.bf16);
  const int64_t blocks = cuda::norm_partial_rows(of.rows);
  const auto width = static_cast<size_t>(of.width);
  DeviceBuffer partial(static_cast<size_t>(blocks) * width * (of.bias ? 2 : 1), false);
  cuda::norm_backward({&launcher, nullptr},
                      {.d_output = d_output.numbers(),
                       .sum = sum.numbers(),
                       .d_residual = of.residual ? d_residual.numbers() : cuda::Numbers{},
                       .mean = mean.floats(),
                       .rstd = rstd.floats(),
                       .weight = weight.floats(),
                       .d_x = d_x.numbers(),
                       .d_update = of.update ? d_update.numbers() : cuda::Numbers{},
                       .partial = partial.floats(),
                       .rows = of.rows,
                       .width = static_cast<int32_t>(of.width),
                       .has_bias = of.bias ? 1 : 0,
                       .dropout = expected.keys.gpu});
  CHECK(error_of(d_x, expected.d_x) < testing::bound(of.bf16_rows));
  if (of.update) CHECK(error_of(d_update, expected.d_update) < testing::bound(of.bf16));
  std::vector<float> d_parameters(width * (of.bias ? 2 : 1));
  for (size_t i = 0; i < d_parameters.size(); ++i) {
    const size_t begin = i / width * static_cast<size_t>(blocks) * width + i % width;
    for (int64_t block = 0; block < blocks; ++block) {
      d_parameters[i] += partial[begin + static_cast<size_t>(block) * width];
    }
  }
  std::vector<double> all = expected.d_weight;
  if (of.bias) all.insert(all.end(), expected.d_bias.begin(), expected.d_bias.end());
  CHECK(error_of(DeviceBuffer(d_parameters, false), all) < 2e-5);
  for (const DeviceBuffer* buffer : {&d_x, &d_update, &partial}) {
    CHECK(buffer->margins_are_whole());
  }
}

TEST_CASE("the GPU's dropout has the CPU's masks beyond 2^32 elements, too") {
  const uint64_t seed = 5;
  const testing::DropoutKeys keys = testing::dropout_keys(0.5, seed);
  for (const int64_t first : {int64_t{0}, (int64_t{1} << 32) + 5, (int64_t{7} << 32) - 100}) {
    std::vector<float> factors(100, 1.0f);
    cpu::kernels().dropout_row(factors.data(), factors.data(), 100, keys.cpu,
                               static_cast<uint64_t>(first));
    for (int64_t i = 0; i < 100; ++i) {
      const float expected = factors[static_cast<size_t>(i)];
      CHECK(attn_emulated_dropout_factor(&keys.gpu, first + i) == expected);
      cuda::Dropout of_host = keys.gpu;  // the seed is part of `draw`
      of_host.seed = nullptr;
      of_host.draw += seed;
      CHECK(attn_emulated_dropout_factor(&of_host, first + i) == expected);
    }
  }
}

TEST_CASE("the GPU's dropout is the CPU's of elements, to which others may be added") {
  const bool from_bf16 = GENERATE(false, true), to_bf16 = GENERATE(false, true);
  const bool added = GENERATE(false, true);
  const int64_t count = GENERATE(1, 7, 1030, 2048);
  CAPTURE(from_bf16, to_bf16, added, count);
  Random random(3);
  const auto x = testing::rounded(testing::random_floats(random, count), from_bf16);
  const auto more = testing::random_floats(random, count);
  const uint64_t seed = 5;
  const testing::DropoutKeys keys = testing::dropout_keys(0.4, seed);
  const std::vector<float> factors = testing::cpu_factors(count, keys.cpu);
  std::vector<double> expected;
  for (size_t i = 0; i < x.size(); ++i) {
    expected.push_back(double{x[i]} * factors[i] + (added ? more[i] : 0.0f));
  }
  DeviceBuffer in(x, from_bf16), other(more, false), out(x.size(), to_bf16);
  const testing::EmulatedLauncher launcher;
  cuda::drop_elements({&launcher, nullptr}, {.in = in.numbers(),
                                             .added = added ? other.numbers() : cuda::Numbers{},
                                             .out = out.numbers(),
                                             .count = count,
                                             .dropout = keys.gpu});
  CHECK(error_of(out, expected) < (to_bf16 ? 0.00392 : 2e-7));
  CHECK(out.margins_are_whole());
}
