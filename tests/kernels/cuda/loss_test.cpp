// kernels/cuda/loss.cu, emulated, against the formula in double precision.
#include "tests/kernels/cuda/emulated.h"

using namespace attn;
using testing::DeviceBuffer;

namespace {

struct LossCase {
  int32_t classes;
  bool bf16;
  int32_t excluded = -1;
  float z_loss = 0.0f;
  bool gradient = true;
  float shift = 0.0f;  // of all logits
};

struct RowResult {
  double loss = 0.0, nll = 0.0;
  std::vector<double> gradient;
};

RowResult reference(const float* logits, const LossCase& of, int64_t target, double at_target,
                    double per_class) {
  RowResult out;
  out.gradient.resize(static_cast<size_t>(of.classes));
  if (target < 0) return out;
  double largest = -1e30, sum = 0.0;
  for (int c = 0; c < of.classes; ++c) largest = std::max<double>(largest, logits[c]);
  for (int c = 0; c < of.classes; ++c) sum += std::exp(logits[c] - largest);
  const double log_z = largest + std::log(sum);
  out.loss = double{of.z_loss} * log_z * log_z;
  for (int c = 0; c < of.classes; ++c) {
    const double wanted = c == target ? at_target : c == of.excluded ? 0.0 : per_class;
    const double log_p = logits[c] - log_z;
    out.loss -= wanted * log_p;
    out.gradient[static_cast<size_t>(c)] =
        std::exp(log_p) * (1.0 + 2.0 * double{of.z_loss} * log_z) - wanted;
  }
  out.nll = log_z - logits[target];
  return out;
}

}  // namespace

TEST_CASE("the GPU's loss and its gradient are those of their formula") {
  const auto of =
      GENERATE(LossCase{1, false}, LossCase{2, true}, LossCase{37, true, 3, 0.001f},
               LossCase{1001, false, 0, 0.01f, true, 40.0f}, LossCase{2047, true, 2, 0.0f, false},
               LossCase{4096, true, 4095, 0.001f}, LossCase{4096, false, 1},
               LossCase{4104, true, 7, 0.0f, true, -60.0f}, LossCase{4100, false, -1, 0.01f},
               LossCase{16391, true, 5}, LossCase{16401, false, 2, 0.001f});
  CAPTURE(of.classes, of.bf16, of.excluded, of.z_loss, of.gradient, of.shift);
  Random random(17);
  const int64_t stride = cuda::loss_stride(of.classes), rows = of.classes > 4104 ? 3 : 6;
  REQUIRE(cuda::loss_supports(of.classes, of.bf16));
  std::vector<int64_t> targets{of.classes - 1, -1, 0, std::max(0, of.excluded), of.classes / 2, 0};
  targets.resize(static_cast<size_t>(rows));
  std::vector<float> logits(static_cast<size_t>(rows * stride), 1e30f);  // beyond the classes
  for (int64_t r = 0; r < rows; ++r) {
    for (int32_t c = 0; c < of.classes; ++c) {
      const double x = of.shift + 6 * random.uniform() + (c == targets[r] ? 4 : 0);
      logits[static_cast<size_t>(r * stride + c)] =
          testing::rounded({static_cast<float>(x)}, of.bf16)[0];
    }
  }
  DeviceBuffer device(logits, of.bf16), losses(static_cast<size_t>(rows), false),
      nlls(static_cast<size_t>(rows), false);
  const testing::EmulatedLauncher launcher;
  const float at_target = 0.9f, per_class = 0.1f / static_cast<float>(of.classes);
  cuda::smoothed_loss({&launcher, nullptr},
                      {.logits = device.numbers().data,
                       .stride = stride,
                       .rows = rows,
                       .classes = of.classes,
                       .gradient = of.gradient ? 1 : 0,
                       .targets = targets.data(),
                       .target_probability = at_target,
                       .smoothing_per_class = per_class,
                       .z_loss = of.z_loss,
                       .excluded = of.excluded,
                       .losses = losses.floats(),
                       .nlls = nlls.floats()},
                      of.bf16);
  std::vector<double> expected_losses, expected_nlls;
  for (int64_t r = 0; r < rows; ++r) {
    const float* row = logits.data() + r * stride;
    const RowResult expected = reference(row, of, targets[r], at_target, per_class);
    expected_losses.push_back(expected.loss);
    expected_nlls.push_back(expected.nll);
    double worst = 0.0;
    for (int32_t c = 0; c < of.classes; ++c) {
      const double got = device[static_cast<size_t>(r * stride + c)];
      const double wanted = of.gradient ? expected.gradient[static_cast<size_t>(c)] : row[c];
      const double size =
          of.gradient ? std::abs(wanted) + (of.bf16 ? 1e-7 : 1e-5 * per_class) : 1.0;
      const double apart = std::abs(got - wanted) / size;
      if (!(apart <= worst)) worst = std::isnan(apart) ? INFINITY : apart;
    }
    CAPTURE(r);
    // Where p and the wanted probability nearly cancel out, rounding of p is larger than bf16's.
    CHECK(worst < (of.gradient ? (of.bf16 ? 0.005 : 0.02) : 1e-30));
  }
  CHECK(error_of(losses, expected_losses, 0.1) < 1e-5);
  CHECK(error_of(nlls, expected_nlls, 0.1) < 1e-5);
  for (const DeviceBuffer* buffer : {&device, &losses, &nlls}) CHECK(buffer->margins_are_whole());
}

TEST_CASE("a logit that is not finite shows in the GPU's loss") {
  const float bad = GENERATE(NAN, INFINITY);
  const bool bf16 = GENERATE(false, true);
  std::vector<float> logits(64, 1.0f);
  DeviceBuffer device(logits, bf16), loss(1, false), nll(1, false);
  if (bf16) {
    static_cast<uint16_t*>(device.numbers().data)[6] = std::isnan(bad) ? 0x7fff : 0x7f80;
  } else {
    device.floats()[6] = bad;
  }
  const int64_t target = 2;
  const testing::EmulatedLauncher launcher;
  cuda::smoothed_loss({&launcher, nullptr},
                      {.logits = device.numbers().data,
                       .stride = 64,
                       .rows = 1,
                       .classes = 60,
                       .gradient = 1,
                       .targets = &target,
                       .target_probability = 1.0f,
                       .losses = loss.floats(),
                       .nlls = nll.floats()},
                      bf16);
  CHECK_FALSE(std::isfinite(loss[0]));
}

TEST_CASE("the GPU's loss has instances for vocabularies of up to 40,960 classes") {
  CHECK(cuda::loss_supports(40960, false));
  CHECK(cuda::loss_supports(40960, true));
  CHECK_FALSE(cuda::loss_supports(40961, true));
  CHECK_FALSE(cuda::loss_supports(0, true));
}
