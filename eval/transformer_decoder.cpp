#include "eval/transformer_decoder.h"

#include "kernels/top_candidates.h"

namespace attn {
namespace {

DecoderState encode(Transformer& model, const TokenSequences& source) {
  const torch::NoGradGuard no_grad;
  return model->start(model->encode(source), source.segments);
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
  top_candidates(logits_RV, candidates, out.tokens, out.log_probs, allowed);
}

}  // namespace attn
