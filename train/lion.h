// Lion (Chen et al. 2023, "Symbolic Discovery of Optimization Algorithms", algorithm 2):
// x ← x - η (sign(β₁ m + (1 - β₁) g) + λ x), then m ← β₂ m + (1 - β₂) g.
#pragma once

#include <utility>

#include "train/optimizer.h"

namespace attn {

class Lion : public Optimizer {
 public:
  Lion(const LionOptions& options, FlatParameters& parameters, std::vector<RateGroup> groups,
       FlatRange own)
      : Optimizer(parameters, own, std::move(groups), {"momentum"}), options_(options) {}

  void update(double learning_rate, int64_t /*step*/) override {
    update_parts([&](const Part& part) {
      const auto& [x, g, state, factor] = part;
      const torch::Tensor& m = state[0];
      const torch::Tensor direction = torch::lerp(g, m, options_.beta1).sign_();
      if (options_.weight_decay > 0) x.mul_(1 - learning_rate * options_.weight_decay);
      x.sub_(direction, factor * learning_rate);
      m.mul_(options_.beta2).add_(g, 1 - options_.beta2);
    });
  }

 private:
  LionOptions options_;
};

}  // namespace attn
