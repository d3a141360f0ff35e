#include "eval/search/candidates.h"

#include "kernels/ops/top_k.h"

namespace attn {
namespace {

// On the CPU: vocabularies under a constraint are small.
torch::Tensor renormalized(const torch::Tensor& logits_RV, std::span<const uint64_t* const> allowed,
                           std::span<const uint64_t* const> groups) {
  const torch::Tensor out_RV = logits_RV.to(torch::kCPU, torch::kFloat32, false, true).contiguous();
  const auto size = static_cast<size_t>(out_RV.size(1));
  for (size_t row = 0; row < groups.size(); ++row) {
    if (groups[row] == nullptr) continue;
    renormalize(std::span(out_RV.data_ptr<float>() + row * size, size), allowed[row], groups[row]);
  }
  return out_RV;
}

}  // namespace

void select_candidates(const torch::Tensor& logits_RV, const StepRows& rows,
                       TokenConstraint* constraint, int64_t candidates, Candidates& out) {
  out.per_row = std::min<int64_t>(candidates, logits_RV.size(1));
  if (constraint == nullptr) {
    top_k(logits_RV, candidates, out.tokens, out.log_probs);
    return;
  }
  const auto allowed = constraint->step(rows.parents, rows.tokens, rows.sentences);
  const auto groups = constraint->groups();
  top_k(groups.empty() ? logits_RV : renormalized(logits_RV, allowed, groups), candidates,
        out.tokens, out.log_probs, allowed);
}

}  // namespace attn
