#include "train/optimizer.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <utility>

#include "kernels/compute_scope.h"
#include "kernels/ops/flush_subnormals.h"

namespace attn {
namespace {

// Floats per cache line. LibTorch's fused kernels split their work there, so splitting here does
// not change results.
constexpr int64_t kLine = 16;

}  // namespace

Optimizer::Optimizer(FlatParameters& parameters, FlatRange own, std::vector<RateGroup> groups,
                     std::vector<std::string> state_names)
    : parameters_(parameters),
      own_(own),
      groups_(std::move(groups)),
      state_names_(std::move(state_names)) {
  for (size_t i = 0; i < state_names_.size(); ++i) {
    state_.push_back(torch::zeros({own.size()}, parameters.values.options()));
  }
}

void Optimizer::visit_state(const std::vector<torch::Tensor>& whole,
                            const VisitState& visit) const {
  for (size_t i = 0; i < state_names_.size(); ++i) {
    for (const FlatParameters::Slot& slot : parameters_.slots()) {
      const bool has = std::ranges::any_of(groups_, [&](const RateGroup& group) {
        return slot.offset >= group.range.begin && slot.offset < group.range.end;
      });
      if (has) visit(state_names_[i] + "." + slot.name, FlatParameters::view(whole.at(i), slot));
    }
  }
}

void Optimizer::update_parts(const std::function<void(const Part&)>& work) const {
  for (const RateGroup& group : groups_) {
    const int64_t first = std::max(own_.begin, group.range.begin),
                  size = std::min(own_.end, group.range.end) - first;
    if (size <= 0) continue;
    const auto update = [&](int64_t begin, int64_t end) {
      const torch::NoGradGuard no_grad;
      Part part{.values = parameters_.values.slice(0, begin, end),
                .gradients = parameters_.gradients.slice(0, begin, end),
                .state = {},
                .factor = group.factor};
      for (const torch::Tensor& all : state_) {
        part.state.push_back(all.slice(0, begin - own_.begin, end - own_.begin));
      }
      work(part);
    };
    if (!on_cpu_path(parameters_.values)) {
      update(first, first + size);
      continue;
    }
    // A grain of one line keeps LibTorch's operations from starting threads, which would inherit
    // the flushing mode.
    at::parallel_for(0, (size + kLine - 1) / kLine, 1, [&](int64_t begin, int64_t end) {
      const FlushSubnormals flush;
      update(first + begin * kLine, first + std::min(end * kLine, size));
    });
  }
}

}  // namespace attn
