// Selects the implementation of search. Not in transformer.cpp, since both implementations include
// it.
#include "model/transformer/inference.h"
#include "model/transformer/packed_inference.h"
#include "model/transformer/transformer.h"

namespace attn {

bool TransformerImpl::has_packed_inference() const {
  return PackedInference::serves(*this);
}

std::shared_ptr<const InferenceModel> TransformerImpl::inference(const SearchBackend& backend) {
  require_backend(backend);
  const auto self = std::static_pointer_cast<TransformerImpl>(shared_from_this());
  if (backend.path == StepPath::packed && has_packed_inference()) {
    return std::make_shared<PackedInference>(self, backend.weights);
  }
  return std::make_shared<ModuleInference>(self);
}

}  // namespace attn
