// The optimizers: Adam and AdamW, Lion, Muon.
#include <ATen/Parallel.h>
#include <ATen/ops/_fused_adamw.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/compute_scope.h"
#include "train/optimizer.h"

namespace attn {
namespace {

// Hidden matrices with the factor `hidden`, the other parameters with `rest`; without those of 0.
std::vector<RateGroup> rate_groups(const FlatParameters& parameters, double hidden,
                                   double rest = 1.0) {
  std::vector<RateGroup> groups;
  const auto& slots = parameters.slots();
  for (size_t i = 0; i < slots.size(); ++i) {
    const int64_t end = i + 1 < slots.size() ? slots[i + 1].offset : parameters.values.numel();
    const double factor = slots[i].hidden_matrix ? hidden : rest;
    if (factor == 0.0) continue;
    const bool adjoins = !groups.empty() && groups.back().range.end == slots[i].offset;
    if (adjoins && groups.back().factor == factor) {
      groups.back().range.end = end;
    } else {
      groups.push_back({{slots[i].offset, end}, factor});
    }
  }
  return groups;
}

// Section 5.3: Adam (Kingma and Ba 2015), whose state are the first and the second moment; with
// weight decay AdamW (Loshchilov and Hutter 2019).
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
      // Decay is multiplied by the rate. With decay 0 the results are those of at::_fused_adam_.
      at::_fused_adamw_(values, gradients, moments[0], moments[1], {}, steps,
                        factor * learning_rate, options_.beta1, options_.beta2,
                        options_.weight_decay / factor, options_.epsilon, false, false,
                        given(divisor), given(skip));
    });
    return true;
  }

 private:
  AdamOptions options_;
};

// Lion (Chen et al. 2023, "Symbolic Discovery of Optimization Algorithms", algorithm 2):
// x ← x - η (sign(β₁ m + (1 - β₁) g) + λ x), then m ← β₂ m + (1 - β₂) g.
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

double scale_of(MuonScale scale, const torch::Tensor& matrix) {
  const auto rows = static_cast<double>(matrix.size(0)),
             columns = static_cast<double>(matrix.size(1));
  return scale == MuonScale::match_rms ? 0.2 * std::sqrt(std::max(rows, columns))
                                       : std::sqrt(std::max(1.0, rows / columns));
}

// Muon (Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks"): momentum
// whose singular values are moved towards 1, for hidden matrices. AdamW updates the rest:
// embeddings, the output projection, biases and gains. The momentum of the former is where the
// latter have their first moment.
class Muon : public Adam {
 public:
  Muon(const MuonOptions& options, FlatParameters& parameters)
      : Adam(options.rest, parameters, rate_groups(parameters, 0.0), whole_range(parameters)),
        options_(options) {
    for (const auto& slot : parameters.slots()) {
      if (slot.hidden_matrix) slots_.push_back(&slot);
    }
  }

  void update(double learning_rate, int64_t step) override {
    Adam::queue(learning_rate, step, {}, {});
    const auto count = static_cast<int64_t>(slots_.size());
    const int64_t grain =
        on_cpu_path(parameters_.values) ? 1 : count;  // a GPU's all on this thread
    at::parallel_for(0, count, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        update_matrix(*slots_[i], options_.rate_scale * learning_rate);
      }
    });
  }
  bool queue(double /*learning_rate*/, int64_t /*step*/, const torch::Tensor& /*divisor*/,
             const torch::Tensor& /*skip*/) override {
    return false;
  }

  void visit_state(const std::vector<torch::Tensor>& whole,
                   const VisitState& visit) const override {
    for (const auto* slot : slots_) {
      visit("momentum." + slot->name, FlatParameters::view(whole.at(0), *slot));
    }
    Adam::visit_state(whole, visit);
  }

 private:
  void update_matrix(const FlatParameters::Slot& slot, double learning_rate) {
    const torch::NoGradGuard no_grad;
    torch::Tensor weight = FlatParameters::view(parameters_.values, slot);
    torch::Tensor momentum = FlatParameters::view(state()[0], slot);
    const torch::Tensor gradient = FlatParameters::view(parameters_.gradients, slot);
    momentum.lerp_(gradient, 1 - options_.momentum);
    const torch::Tensor ahead = torch::lerp(gradient, momentum, options_.momentum);  // Nesterov
    if (options_.rest.weight_decay > 0) weight.mul_(1 - learning_rate * options_.rest.weight_decay);
    weight.sub_(orthogonalized(ahead), learning_rate * scale_of(options_.scale, weight));
  }

  MuonOptions options_;
  std::vector<const FlatParameters::Slot*> slots_;  // of the hidden matrices
};

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

std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config, FlatParameters& parameters,
                                          double hidden_rate, const std::optional<FlatRange>& own) {
  const FlatRange range = own.value_or(whole_range(parameters));
  std::vector<RateGroup> groups = rate_groups(parameters, hidden_rate);
  switch (config.kind) {
    case OptimizerKind::adam:
      return std::make_unique<Adam>(config.adam, parameters, std::move(groups), range);
    case OptimizerKind::adamw:
      return std::make_unique<Adam>(config.adamw, parameters, std::move(groups), range);
    case OptimizerKind::lion:
      return std::make_unique<Lion>(config.lion, parameters, std::move(groups), range);
    case OptimizerKind::muon:
      TORCH_CHECK(hidden_rate == 1.0, "Muon has no factor for hidden matrices");
      TORCH_CHECK(range == whole_range(parameters), "Muon updates whole matrices");
      return std::make_unique<Muon>(config.muon, parameters);
  }
  TORCH_CHECK(false, "unknown optimizer");
}

}  // namespace attn
