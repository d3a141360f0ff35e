#include "eval/search/session_search.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/stop_signal.h"
#include "eval/search/sample_search.h"
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

class SessionDecoder : public StepDecoder {
 public:
  SessionDecoder(DecodeSession& session, TokenConstraint* constraint)
      : session_(session), constraint_(constraint) {}

  void step(std::span<const int64_t> parents, std::span<const int32_t> tokens,
            std::span<const int64_t> sentences, int64_t candidates, Candidates& out) override {
    throw_if_stopped();
    const torch::Tensor logits_RV = session_.step({parents, tokens, sentences});
    out.per_row = std::min<int64_t>(candidates, logits_RV.size(1));
    if (constraint_ == nullptr) {
      top_k(logits_RV, candidates, out.tokens, out.log_probs);
      return;
    }
    const auto allowed = constraint_->step(parents, tokens, sentences);
    const auto groups = constraint_->groups();
    top_k(groups.empty() ? logits_RV : renormalized(logits_RV, allowed, groups), candidates,
          out.tokens, out.log_probs, allowed);
  }

 private:
  DecodeSession& session_;
  TokenConstraint* constraint_;
};

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

// Never draws BOS, unless it is EOS.
class SessionSampler : public StepSampler {
 public:
  SessionSampler(DecodeSession& session, TokenConstraint* constraint, const SearchConfig& config,
                 const Tokenizer& target)
      : session_(session), constraint_(constraint), config_(config), target_(target) {}

  void step(StepRows rows, std::span<const Draw> draws, std::vector<DrawnToken>& out) override {
    const torch::NoGradGuard no_grad;
    throw_if_stopped();
    const torch::Tensor logits_RV = session_.step(rows).to(torch::kCPU, torch::kFloat32);
    const torch::Tensor log_probs_RV = logits_RV.log_softmax(-1);
    torch::Tensor heated_RV = (log_probs_RV / config_.temperature).contiguous();
    if (constraint_ != nullptr) {
      forbid(heated_RV, constraint_->step(rows.parents, rows.tokens, rows.sentences));
    }
    if (target_.bos() != target_.eos()) {
      heated_RV.select(1, target_.bos()).fill_(-std::numeric_limits<float>::infinity());
    }
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
        set.emplace(std::span(probs_RV.const_data_ptr<float>() + begin, size), config_.top_k,
                    config_.top_p);
      }
      const int32_t token = set->draw(draw.uniform);
      out.push_back({token, token < 0 ? 0.0F : log_probs[begin + static_cast<size_t>(token)]});
    }
  }

 private:
  DecodeSession& session_;
  TokenConstraint* constraint_;
  const SearchConfig& config_;
  const Tokenizer& target_;
};

}  // namespace

std::vector<std::vector<Hypothesis>> search_session(
    DecodeSession& session, TokenConstraint* constraint, std::span<const int64_t> source_lengths,
    std::span<const uint64_t> streams, const SearchConfig& config, const Tokenizer& target) {
  if (config.method == SearchMethod::beam) {
    SessionDecoder decoder(session, constraint);
    return beam_search(decoder, source_lengths, config, target.bos(), target.eos());
  }
  SessionSampler sampler(session, constraint, config, target);
  return sample_search(sampler, source_lengths, streams, config, target.bos(), target.eos());
}

}  // namespace attn
