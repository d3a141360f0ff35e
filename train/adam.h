// Section 5.3: Adam (Kingma and Ba 2015) over a flat parameter buffer; with weight decay AdamW
// (Loshchilov and Hutter 2019).
#pragma once

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
             const torch::Tensor& skip) override;

 private:
  AdamOptions options_;
};

}  // namespace attn
