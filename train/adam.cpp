#include "train/adam.h"

#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>

namespace attn {

Adam::Adam(const TrainConfig& config, FlatParameters& parameters)
    : first_moment(torch::zeros_like(parameters.values)),
      second_moment(torch::zeros_like(parameters.values)),
      config_(config),
      parameters_(parameters) {}

void Adam::update(double learning_rate, int64_t step) {
  const torch::NoGradGuard no_grad;
  // The fused kernels take the step as it is after the update.
  const torch::Tensor count =
      torch::full({}, static_cast<double>(step), parameters_.values.options());
  const std::vector<torch::Tensor> values{parameters_.values}, gradients{parameters_.gradients},
      first{first_moment}, second{second_moment}, steps{count};
  if (config_.weight_decay > 0) {
    at::_fused_adamw_(values, gradients, first, second, {}, steps, learning_rate, config_.beta1,
                      config_.beta2, config_.weight_decay, config_.epsilon, false, false);
  } else {
    at::_fused_adam_(values, gradients, first, second, {}, steps, learning_rate, config_.beta1,
                     config_.beta2, 0.0, config_.epsilon, false, false);
  }
}

}  // namespace attn
