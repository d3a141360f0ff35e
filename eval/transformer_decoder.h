// The Transformer as beam search sees it.
#pragma once

#include <vector>

#include "eval/beam_search.h"
#include "eval/token_constraint.h"
#include "model/transformer.h"

namespace attn {

/// Decodes a batch of encoded sentences position by position with key/value caches. The model
/// should be in evaluation mode; gradients are not recorded. The constraint, if any, must outlive
/// this.
class TransformerStepDecoder : public StepDecoder {
 public:
  TransformerStepDecoder(Transformer model, const TokenSequences& source,
                         TokenConstraint* constraint = nullptr);
  void step(std::span<const int64_t> parents, std::span<const int32_t> tokens,
            std::span<const int64_t> sentences, int64_t candidates, Candidates& out) override;

 private:
  Transformer model_;
  DecoderState state_;
  TokenConstraint* constraint_;
};

}  // namespace attn
