#include "train/lion.h"

#include <utility>

namespace attn {

Lion::Lion(const LionOptions& options, FlatParameters& parameters, std::vector<RateGroup> groups,
           FlatRange own)
    : Optimizer(parameters, own),
      momentum(zero_state()),
      options_(options),
      groups_(std::move(groups)) {}

void Lion::update(double learning_rate, int64_t /*step*/) {
  update_groups(groups_, [&](int64_t begin, int64_t end, double factor) {
    const torch::NoGradGuard no_grad;
    const auto part = [&](const torch::Tensor& of) { return of.narrow(0, begin, end - begin); };
    torch::Tensor x = part(parameters_.values), m = own_part(momentum, begin, end);
    const torch::Tensor g = part(parameters_.gradients);
    const torch::Tensor direction = torch::lerp(g, m, options_.beta1).sign_();
    if (options_.weight_decay > 0) x.mul_(1 - learning_rate * options_.weight_decay);
    x.sub_(direction, factor * learning_rate);
    m.mul_(options_.beta2).add_(g, 1 - options_.beta2);
  });
}

void Lion::visit_state(const std::vector<torch::Tensor>& whole, const VisitState& visit) const {
  visit_views(visit, "momentum", whole.at(0), groups_);
}

}  // namespace attn
