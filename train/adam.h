// Section 5.3: Adam (Kingma and Ba 2015) over a flat parameter buffer; with weight decay AdamW
// (Loshchilov and Hutter 2019).
#pragma once

#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>

#include <optional>
#include <utility>

#include "train/optimizer.h"

namespace attn {

/// Its state: the first and the second moment.
class Adam : public Optimizer {
 public:
  Adam(const AdamOptions& options, FlatParameters& parameters, std::vector<RateGroup> groups,
       FlatRange own)
      : Optimizer(parameters, own, std::move(groups), {"first_moment", "second_moment"}),
        options_(options) {}

  void update(double learning_rate, int64_t step) override { queue(learning_rate, step, {}, {}); }
  bool queue(double learning_rate, int64_t step, const torch::Tensor& divisor,
             const torch::Tensor& skip) override {
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
        const double decay = options_.weight_decay / factor;  // the kernel multiplies by the rate
        at::_fused_adamw_(values, gradients, moments[0], moments[1], {}, steps, rate,
                          options_.beta1, options_.beta2, decay, options_.epsilon, false, false,
                          given(divisor), given(skip));
      } else {
        at::_fused_adam_(values, gradients, moments[0], moments[1], {}, steps, rate, options_.beta1,
                         options_.beta2, 0.0, options_.epsilon, false, false, given(divisor),
                         given(skip));
      }
    });
    return true;
  }

 private:
  AdamOptions options_;
};

}  // namespace attn
