// Selects the implementation of search. Apart from transformer.cpp, since the implementations
// depend on the model, not the model on them.
#include "model/step_inference.h"
#include "model/transformer/packed_inference.h"
#include "model/transformer/transformer.h"

namespace attn {

bool TransformerImpl::has_packed_inference() const {
  return PackedInference::serves(*this);
}

std::shared_ptr<const InferenceModel> TransformerImpl::make_inference(
    const SearchBackend& backend) {
  if (backend.path != StepPath::packed || !has_packed_inference()) return step_inference(*this);
  const auto self = std::static_pointer_cast<TransformerImpl>(shared_from_this());
  return std::make_shared<PackedInference>(self, backend.weights);
}

}  // namespace attn
