#include "eval/transformer_decoder.h"

#include "kernels/top_candidates.h"

namespace attn {
namespace {

DecoderState encode(Transformer& model, const TokenSequences& source) {
  const torch::NoGradGuard no_grad;
  return model->start(model->encode(source), source.segments);
}

// On the CPU: vocabularies under a constraint are small.
torch::Tensor moved(const torch::Tensor& logits_RV, std::span<const uint64_t* const> allowed,
                    std::span<const uint64_t* const> groups) {
  const torch::Tensor out_RV = logits_RV.to(torch::kCPU, torch::kFloat32, false, true).contiguous();
  const auto size = static_cast<size_t>(out_RV.size(1));
  for (size_t row = 0; row < groups.size(); ++row) {
    if (groups[row] == nullptr) continue;
    move_mass(std::span(out_RV.data_ptr<float>() + row * size, size), allowed[row], groups[row]);
  }
  return out_RV;
}

}  // namespace

TransformerStepDecoder::TransformerStepDecoder(Transformer model, const TokenSequences& source,
                                               TokenConstraint* constraint)
    : model_(model), state_(encode(model_, source)), constraint_(constraint) {}

void TransformerStepDecoder::step(std::span<const int64_t> parents, std::span<const int32_t> tokens,
                                  std::span<const int64_t> sentences, int64_t candidates,
                                  Candidates& out) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor x_RD = model_->step(state_, parents, tokens, sentences);
  const torch::Tensor logits_RV = model_->project(x_RD);
  out.per_row = std::min<int64_t>(candidates, logits_RV.size(1));
  std::span<const uint64_t* const> allowed;
  if (constraint_ != nullptr) allowed = constraint_->step(parents, tokens, sentences);
  const std::span<const uint64_t* const> groups =
      constraint_ != nullptr ? constraint_->groups() : std::span<const uint64_t* const>{};
  top_candidates(groups.empty() ? logits_RV : moved(logits_RV, allowed, groups), candidates,
                 out.tokens, out.log_probs, allowed);
}

}  // namespace attn
