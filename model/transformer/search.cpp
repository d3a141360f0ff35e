// Selects the implementation of search. Apart from transformer.cpp, since the implementations
// depend on the model, not the model on them.
#include "kernels/compute_scope.h"
#include "model/step_inference.h"
#include "model/transformer/fast_options.h"
#include "model/transformer/packed_inference.h"
#include "model/transformer/transformer.h"

namespace attn {

bool TransformerImpl::has_packed_inference() const {
  return PackedInference::serves(*this) && ComputeScope::takes(FastPath::packed_search);
}

std::vector<std::string> TransformerImpl::options_as_read() const {
  std::vector<std::string> found;
  for (const FastPath path : {FastPath::attention, FastPath::packed_search}) {
    const std::string option = option_as_read(path, config_);
    if (!option.empty()) {
      found.push_back("model." + option + " is computed as it is read: not by the fast path " +
                      std::string(enum_name(path)));
    }
  }
  return found;
}

std::shared_ptr<const InferenceModel> TransformerImpl::make_inference(WeightType weights) {
  if (!has_packed_inference()) return step_inference(*this, FastPath::transformer_step);
  const auto self = std::static_pointer_cast<TransformerImpl>(shared_from_this());
  return std::make_shared<PackedInference>(self, weights);
}

}  // namespace attn
