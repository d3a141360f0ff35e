#include "eval/search/session_sampler.h"

#include <limits>
#include <optional>
#include <utility>

namespace attn {
namespace {

// Sets the logits of tokens outside of the masks to -inf.
void forbid(torch::Tensor& logits_RV, std::span<const uint64_t* const> allowed) {
  const int64_t size = logits_RV.size(1);
  float* logit = logits_RV.data_ptr<float>();
  for (const uint64_t* mask : allowed) {
    for (int64_t t = 0; t < size; ++t, ++logit) {
      if (((mask[t / 64] >> (t % 64)) & 1) == 0) *logit = -std::numeric_limits<float>::infinity();
    }
  }
}

}  // namespace

SessionSampler::SessionSampler(CountedSession session, TokenConstraint* constraint,
                               const SearchConfig& config, int32_t bos, int32_t eos)
    : session_(std::move(session)),
      constraint_(constraint),
      bos_(bos),
      eos_(eos),
      temperature_(config.temperature),
      top_k_(config.top_k),
      top_p_(config.top_p) {}

void SessionSampler::step(StepRows rows, std::span<const Draw> draws,
                          std::vector<DrawnToken>& out) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor logits_RV = session_.step(rows).to(torch::kCPU, torch::kFloat32);
  const torch::Tensor log_probs_RV = logits_RV.log_softmax(-1);
  torch::Tensor heated_RV = (log_probs_RV / temperature_).contiguous();
  if (constraint_ != nullptr) {
    forbid(heated_RV, constraint_->step(rows.parents, rows.tokens, rows.sentences));
  }
  if (bos_ != eos_) heated_RV.select(1, bos_).fill_(-std::numeric_limits<float>::infinity());
  // Relative to the highest, which must not underflow.
  const torch::Tensor probs_RV = (heated_RV - heated_RV.amax(-1, true)).exp_();
  const auto size = static_cast<size_t>(probs_RV.size(1));
  const float* log_probs = log_probs_RV.const_data_ptr<float>();
  std::optional<SamplingSet> set;
  int64_t row = -1;
  out.clear();
  for (const Draw& draw : draws) {
    const auto begin = static_cast<size_t>(draw.row) * size;
    if (draw.row != row) {
      row = draw.row;
      set.emplace(std::span(probs_RV.const_data_ptr<float>() + begin, size), top_k_, top_p_);
    }
    const int32_t token = set->draw(draw.uniform);
    out.push_back({token, token < 0 ? 0.0F : log_probs[begin + static_cast<size_t>(token)]});
  }
}

}  // namespace attn
