#include "model/seq2seq.h"

#include <string>

#include "base/error.h"
#include "kernels/compute_scope.h"
#include "kernels/ops/linear.h"

namespace attn {

torch::Tensor Seq2SeqModel::forward(const TokenSequences& source, const TokenSequences& target_in) {
  return decode(target_in, encode(source));
}

std::shared_ptr<Seq2SeqModel> Seq2SeqModel::replica() const {
  return make_model(model_config_, sizes_);
}

void Seq2SeqModel::require_weight_type(WeightType weights) const {
  if (weights == WeightType::fp32) return;
  if (!has_packed_inference()) {
    throw ConfigError("search.weights: " + std::string(enum_name(weights)) +
                      ": requires packed inference, which this model or device does not have, "
                      "or which is off; use fp32");
  }
  if (weights == WeightType::bf16 && !has_bf16_tiles()) {
    throw ConfigError(
        "search.weights: bf16: this processor has no instructions for it (AVX-512 BF16 or AMX); "
        "use int8 or fp32");
  }
}

std::shared_ptr<const InferenceModel> Seq2SeqModel::inference(WeightType weights) {
  require_weight_type(weights);
  return make_inference(weights);
}

torch::Tensor Seq2SeqModel::project(const torch::Tensor& rows_ND) const {
  if (ComputeScope::takes(FastPath::linear)) return linear(rows_ND, {embeddings.of_output(), {}});
  // Formula projection: fast paths linear, loss, packed_search, gpu_linear, gpu_loss.
  return torch::linear(rows_ND, embeddings.of_output());
  // End of formula.
}

}  // namespace attn
