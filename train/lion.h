// Lion (Chen et al. 2023, "Symbolic Discovery of Optimization Algorithms", algorithm 2):
// x ← x - η (sign(β₁ m + (1 - β₁) g) + λ x), then m ← β₂ m + (1 - β₂) g.
#pragma once

#include "train/optimizer.h"

namespace attn {

class Lion : public Optimizer {
 public:
  Lion(const LionOptions& options, FlatParameters& parameters, std::vector<RateGroup> groups,
       FlatRange own);

  void update(double learning_rate, int64_t step) override;
  std::vector<torch::Tensor> state() const override { return {momentum}; }
  void visit_state(const std::vector<torch::Tensor>& whole, const VisitState& visit) const override;

  torch::Tensor momentum;  ///< [own]

 private:
  LionOptions options_;
  std::vector<RateGroup> groups_;
};

}  // namespace attn
