#include "train/muon.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

#include "kernels/compute_scope.h"

namespace attn {
namespace {

std::vector<RateGroup> groups_of(const FlatParameters& parameters, bool hidden_matrices) {
  constexpr double kHidden = 2.0;  // a factor that separates the two kinds
  std::vector<RateGroup> chosen;
  for (const RateGroup& group : rate_groups(parameters, kHidden)) {
    if ((group.factor == kHidden) == hidden_matrices) chosen.push_back({group.range, 1.0});
  }
  return chosen;
}

double scale_of(MuonScale scale, const torch::Tensor& matrix) {
  const auto rows = static_cast<double>(matrix.size(0)),
             columns = static_cast<double>(matrix.size(1));
  switch (scale) {
    case MuonScale::match_rms:
      return 0.2 * std::sqrt(std::max(rows, columns));
    case MuonScale::original:
      return std::sqrt(std::max(1.0, rows / columns));
  }
  TORCH_CHECK(false, "unknown scale of Muon");
}

}  // namespace

torch::Tensor orthogonalized(const torch::Tensor& matrix) {
  constexpr double kA = 3.4445, kB = -4.7750, kC = 2.0315, kMinNorm = 1e-7;
  constexpr int kSteps = 5;
  const bool tall = matrix.size(0) > matrix.size(1);
  torch::Tensor x = tall ? matrix.t() : matrix;  // A is the smaller Gram matrix
  x = x / x.norm().clamp_min(kMinNorm);
  for (int i = 0; i < kSteps; ++i) {
    const torch::Tensor gram = x.mm(x.t());
    x = torch::addmm(x, torch::addmm(gram, gram, gram, kB, kC), x, kA);
  }
  return tall ? x.t() : x;
}

Muon::Muon(const MuonOptions& options, FlatParameters& parameters)
    : Optimizer(parameters, whole_range(parameters), groups_of(parameters, true), {"momentum"}),
      options_(options),
      rest_(options.rest, parameters, groups_of(parameters, false), whole_range(parameters)),
      momentum_(Optimizer::state()[0]) {
  for (const auto& slot : parameters.slots()) {
    if (slot.hidden_matrix) slots_.push_back(&slot);
  }
}

void Muon::update(double learning_rate, int64_t step) {
  rest_.update(learning_rate, step);
  const auto count = static_cast<int64_t>(slots_.size());
  const int64_t grain = on_cpu_path(parameters_.values) ? 1 : count;  // a GPU's all on this thread
  at::parallel_for(0, count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      update_matrix(*slots_[i], options_.rate_scale * learning_rate);
    }
  });
}

void Muon::update_matrix(const FlatParameters::Slot& slot, double learning_rate) {
  const torch::NoGradGuard no_grad;
  torch::Tensor weight = FlatParameters::view(parameters_.values, slot);
  torch::Tensor momentum = FlatParameters::view(momentum_, slot);
  const torch::Tensor gradient = FlatParameters::view(parameters_.gradients, slot);
  momentum.lerp_(gradient, 1 - options_.momentum);
  const torch::Tensor ahead = torch::lerp(gradient, momentum, options_.momentum);  // Nesterov
  if (options_.rest.weight_decay > 0) weight.mul_(1 - learning_rate * options_.rest.weight_decay);
  weight.sub_(orthogonalized(ahead), learning_rate * scale_of(options_.scale, weight));
}

std::vector<torch::Tensor> Muon::state() const {
  std::vector<torch::Tensor> all = rest_.state();
  all.insert(all.begin(), momentum_);
  return all;
}

void Muon::visit_state(const std::vector<torch::Tensor>& whole, const VisitState& visit) const {
  Optimizer::visit_state(whole, visit);
  rest_.visit_state({whole.begin() + 1, whole.end()}, visit);
}

}  // namespace attn
