#include "eval/transformer_decoder.h"

#include "eval/candidates.h"

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
  choose(model_->project(x_RD), {parents, tokens, sentences}, constraint_, candidates, out);
}

}  // namespace attn
