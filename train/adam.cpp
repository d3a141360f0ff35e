#include "train/adam.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>

#include <algorithm>
#include <cfenv>

namespace attn {
namespace {

// Floats per cache line. LibTorch's kernel splits its work there, so splitting here does not change
// results.
constexpr int64_t kLine = 16;

// RAII guard: this thread flushes subnormals to 0.
class FlushSubnormals {
 public:
  FlushSubnormals() {
    std::fegetenv(&outer_);
    at::globalContext().setFlushDenormal(true);
  }
  ~FlushSubnormals() { std::fesetenv(&outer_); }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  std::fenv_t outer_{};
};

}  // namespace

Adam::Adam(const TrainConfig& config, FlatParameters& parameters)
    : Adam(config, parameters, {0, parameters.values.numel()}) {}

Adam::Adam(const TrainConfig& config, FlatParameters& parameters, FlatRange range)
    : first_moment(torch::zeros({range.size()}, parameters.values.options())),
      second_moment(torch::zeros({range.size()}, parameters.values.options())),
      config_(config),
      parameters_(parameters),
      range_(range) {}

void Adam::update(double learning_rate, int64_t step) {
  const int64_t size = range_.size();
  if (size == 0) return;
  if (!parameters_.values.is_cpu()) {
    update_part(0, size, learning_rate, step);
    return;
  }
  // A grain of one line keeps the kernel from starting threads, which would inherit the flushing
  // mode.
  at::parallel_for(0, (size + kLine - 1) / kLine, 1, [&](int64_t begin, int64_t end) {
    const FlushSubnormals flush;
    update_part(begin * kLine, std::min(end * kLine, size), learning_rate, step);
  });
}

void Adam::update_part(int64_t begin, int64_t end, double learning_rate, int64_t step) {
  const torch::NoGradGuard no_grad;
  const auto part = [&](const torch::Tensor& of, int64_t offset = 0) {
    return std::vector<torch::Tensor>{of.narrow(0, offset + begin, end - begin)};
  };
  // The fused kernels take the step count after the update.
  const std::vector<torch::Tensor> steps{
      torch::full({}, static_cast<double>(step), parameters_.values.options())};
  const auto values = part(parameters_.values, range_.begin),
             gradients = part(parameters_.gradients, range_.begin), first = part(first_moment),
             second = part(second_moment);
  if (config_.weight_decay > 0) {
    at::_fused_adamw_(values, gradients, first, second, {}, steps, learning_rate, config_.beta1,
                      config_.beta2, config_.weight_decay, config_.epsilon, false, false);
  } else {
    at::_fused_adam_(values, gradients, first, second, {}, steps, learning_rate, config_.beta1,
                     config_.beta2, 0.0, config_.epsilon, false, false);
  }
}

}  // namespace attn
