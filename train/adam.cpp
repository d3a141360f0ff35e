#include "train/adam.h"

#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>

#include <optional>
#include <utility>

namespace attn {

Adam::Adam(const AdamOptions& options, FlatParameters& parameters, std::vector<RateGroup> groups,
           FlatRange own)
    : Optimizer(parameters, own),
      first_moment(zero_state()),
      second_moment(zero_state()),
      options_(options),
      groups_(std::move(groups)) {}

bool Adam::queue(double learning_rate, int64_t step, const torch::Tensor& divisor,
                 const torch::Tensor& skip) {
  // The fused kernels take the step count after the update.
  const std::vector<torch::Tensor> steps{
      torch::full({}, static_cast<double>(step), parameters_.values.options())};
  const auto given = [](const torch::Tensor& of) {
    return of.defined() ? std::optional(of) : std::nullopt;
  };
  update_groups(groups_, [&](int64_t begin, int64_t end, double factor) {
    const torch::NoGradGuard no_grad;
    const double rate = factor * learning_rate;
    const auto part = [&](const torch::Tensor& of) {
      return std::vector<torch::Tensor>{of.narrow(0, begin, end - begin)};
    };
    const auto moment = [&](const torch::Tensor& of) {
      return std::vector<torch::Tensor>{own_part(of, begin, end)};
    };
    const auto values = part(parameters_.values), gradients = part(parameters_.gradients),
               first = moment(first_moment), second = moment(second_moment);
    if (options_.weight_decay > 0) {
      const double decay = options_.weight_decay / factor;  // the kernel multiplies it by the rate
      at::_fused_adamw_(values, gradients, first, second, {}, steps, rate, options_.beta1,
                        options_.beta2, decay, options_.epsilon, false, false, given(divisor),
                        given(skip));
    } else {
      at::_fused_adam_(values, gradients, first, second, {}, steps, rate, options_.beta1,
                       options_.beta2, 0.0, options_.epsilon, false, false, given(divisor),
                       given(skip));
    }
  });
  return true;
}

void Adam::visit_state(const std::vector<torch::Tensor>& whole, const VisitState& visit) const {
  visit_views(visit, "first_moment", whole.at(0), groups_);
  visit_views(visit, "second_moment", whole.at(1), groups_);
}

}  // namespace attn
