// Search with the modules of the Transformer and a KV cache.
#pragma once

#include <memory>

#include "model/seq2seq.h"
#include "model/transformer/transformer.h"

namespace attn {

/// Uses the weights of the model without copies. The model should be in evaluation mode.
class ModuleInference : public InferenceModel {
 public:
  explicit ModuleInference(std::shared_ptr<TransformerImpl> model);
  std::unique_ptr<DecodeSession> start(const TokenSequences& source) const override;

 private:
  std::shared_ptr<TransformerImpl> model_;
};

}  // namespace attn
