// Section 5.3: Adam (Kingma and Ba 2015) over a flat parameter buffer; with weight decay AdamW
// (Loshchilov and Hutter 2019).
#pragma once

#include "train/optimizer.h"

namespace attn {

class Adam : public Optimizer {
 public:
  /// Updates only the parameters of `groups` that are in `own`.
  Adam(const AdamOptions& options, FlatParameters& parameters, std::vector<RateGroup> groups,
       FlatRange own);
  Adam(const AdamOptions& options, FlatParameters& parameters)
      : Adam(options, parameters, rate_groups(parameters), whole_range(parameters)) {}

  void update(double learning_rate, int64_t step) override { queue(learning_rate, step, {}, {}); }
  bool queue(double learning_rate, int64_t step, const torch::Tensor& divisor,
             const torch::Tensor& skip) override;
  std::vector<torch::Tensor> state() const override { return {first_moment, second_moment}; }
  void visit_state(const std::vector<torch::Tensor>& whole, const VisitState& visit) const override;

  torch::Tensor first_moment, second_moment;  ///< [own], in the layout of the parameters

 private:
  AdamOptions options_;
  std::vector<RateGroup> groups_;
};

}  // namespace attn
