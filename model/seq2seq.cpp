#include "model/seq2seq.h"

#include <string>

#include "base/error.h"
#include "kernels/ops/linear.h"

namespace attn {

torch::Tensor Seq2SeqModel::forward(const TokenSequences& source, const TokenSequences& target_in) {
  return decode(target_in, encode(source));
}

void Seq2SeqModel::require_backend(const SearchBackend& backend) const {
  if (backend.weights == WeightType::fp32) return;
  if (backend.path != StepPath::packed || !has_packed_inference()) {
    throw ConfigError("search.weights: " + std::string(enum_name(backend.weights)) +
                      ": requires packed inference, which this model or device does not have; "
                      "use fp32");
  }
  if (backend.weights == WeightType::bf16 && !has_bf16_tiles()) {
    throw ConfigError(
        "search.weights: bf16: this processor has no instructions for it (AVX-512 BF16 or AMX); "
        "use int8 or fp32");
  }
}

std::shared_ptr<const InferenceModel> Seq2SeqModel::inference(const SearchBackend& backend) {
  require_backend(backend);
  return make_inference(backend);
}

torch::Tensor Seq2SeqModel::project(const torch::Tensor& rows_ND) const {
  return linear(rows_ND, {output_layer().weight_VD, {}});
}

}  // namespace attn
