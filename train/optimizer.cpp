#include "train/optimizer.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cfenv>

#include "kernels/compute_scope.h"

namespace attn {
namespace {

// Floats per cache line. LibTorch's fused kernels split their work there, so splitting here does
// not change results.
constexpr int64_t kLine = 16;

// RAII guard: this thread flushes subnormals to 0.
class FlushSubnormals {
 public:
  FlushSubnormals() {
    std::fegetenv(&outer_);
    at::globalContext().setFlushDenormal(true);
  }
  ~FlushSubnormals() { std::fesetenv(&outer_); }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  std::fenv_t outer_{};
};

}  // namespace

void Optimizer::visit_views(const VisitState& visit, const std::string& kind,
                            const torch::Tensor& flat, const std::vector<RateGroup>& groups) const {
  for (const FlatParameters::Slot& slot : parameters_.slots()) {
    const bool has = std::any_of(groups.begin(), groups.end(), [&](const RateGroup& group) {
      return slot.offset >= group.range.begin && slot.offset < group.range.end;
    });
    if (has) visit(kind + "." + slot.name, FlatParameters::view(flat, slot));
  }
}

void Optimizer::update_groups(
    const std::vector<RateGroup>& groups,
    const std::function<void(int64_t begin, int64_t end, double factor)>& work) const {
  for (const RateGroup& group : groups) {
    update_in_parts(parameters_.values, intersection(own_, group.range),
                    [&](int64_t begin, int64_t end) { work(begin, end, group.factor); });
  }
}

std::vector<RateGroup> rate_groups(const FlatParameters& parameters, double hidden) {
  std::vector<RateGroup> groups;
  const auto& slots = parameters.slots();
  for (size_t i = 0; i < slots.size(); ++i) {
    const int64_t end = i + 1 < slots.size() ? slots[i + 1].offset : parameters.values.numel();
    const double factor = slots[i].hidden_matrix ? hidden : 1.0;
    if (!groups.empty() && groups.back().factor == factor) {
      groups.back().range.end = end;
    } else {
      groups.push_back({{slots[i].offset, end}, factor});
    }
  }
  return groups;
}

void update_in_parts(const torch::Tensor& flat, FlatRange range,
                     const std::function<void(int64_t begin, int64_t end)>& work) {
  if (range.begin >= range.end) return;
  if (!on_cpu_path(flat)) {
    work(range.begin, range.end);
    return;
  }
  // A grain of one line keeps LibTorch's operations from starting threads, which would inherit the
  // flushing mode.
  const int64_t size = range.end - range.begin;
  at::parallel_for(0, (size + kLine - 1) / kLine, 1, [&](int64_t begin, int64_t end) {
    const FlushSubnormals flush;
    work(range.begin + begin * kLine, range.begin + std::min(end * kLine, size));
  });
}

FlatRange intersection(FlatRange a, FlatRange b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

}  // namespace attn
