// Search by the Transformer's own modules, with key/value caches.
#pragma once

#include <memory>

#include "model/seq2seq.h"
#include "model/transformer/transformer.h"

namespace attn {

/// Reads the model's weights as they are at each step. The model should be in evaluation mode.
class ModuleInference : public InferenceModel {
 public:
  explicit ModuleInference(std::shared_ptr<TransformerImpl> model);
  std::unique_ptr<DecodeSession> start(const TokenSequences& source) const override;

 private:
  std::shared_ptr<TransformerImpl> model_;
};

}  // namespace attn
