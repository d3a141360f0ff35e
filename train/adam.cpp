#include "train/adam.h"

#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>

#include <optional>

namespace attn {

bool Adam::queue(double learning_rate, int64_t step, const torch::Tensor& divisor,
                 const torch::Tensor& skip) {
  // The fused kernels take the step count after the update.
  const torch::Tensor steps =
      torch::full({}, static_cast<double>(step), parameters_.values.options());
  const auto given = [](const torch::Tensor& of) {
    return of.defined() ? std::optional(of) : std::nullopt;
  };
  update_parts([&](const Part& part) {
    const auto& [values, gradients, moments, factor] = part;
    const double rate = factor * learning_rate;
    if (options_.weight_decay > 0) {
      const double decay = options_.weight_decay / factor;  // the kernel multiplies it by the rate
      at::_fused_adamw_(values, gradients, moments[0], moments[1], {}, steps, rate, options_.beta1,
                        options_.beta2, decay, options_.epsilon, false, false, given(divisor),
                        given(skip));
    } else {
      at::_fused_adam_(values, gradients, moments[0], moments[1], {}, steps, rate, options_.beta1,
                       options_.beta2, 0.0, options_.epsilon, false, false, given(divisor),
                       given(skip));
    }
  });
  return true;
}

}  // namespace attn
