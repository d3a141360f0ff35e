#include "model/embedding_matrices.h"

#include <cmath>

#include "base/check.h"

namespace attn {

EmbeddingMatrices::EmbeddingMatrices(torch::nn::Module& owner, EmbeddingSharing sharing,
                                     const VocabularySizes& sizes, int64_t width) {
  require(sharing != EmbeddingSharing::all || sizes.source == sizes.target,
          "model.embedding_sharing", "all", "requires data.shared_vocabulary");
  // Matrices are initialized in the order of registration, on which the random numbers depend.
  const auto matrix = [&](const char* name, int64_t rows) {
    return owner.register_parameter(name, torch::empty({rows, width}));
  };
  switch (sharing) {
    case EmbeddingSharing::all:
      shared = matrix("shared_weight", sizes.target);
      break;
    case EmbeddingSharing::none:
      projection = matrix("projection_weight", sizes.target);
      [[fallthrough]];
    case EmbeddingSharing::decoder:
      source = matrix("source_weight", sizes.source);
      target = matrix("target_weight", sizes.target);
      break;
  }
  if (sizes.source_features > 0) feature = matrix("feature_weight", sizes.source_features);
}

torch::Tensor EmbeddingMatrices::features_of(const TokenSequences& rows, double scale) const {
  if (!feature.defined()) return {};
  const RowFeatures& features = rows.features;
  TORCH_CHECK(features.ids_F.defined() && features.offsets_N1.numel() == rows.tokens_N.numel() + 1,
              "the model has source features, the rows have none");
  return std::get<0>(torch::embedding_bag(feature, features.ids_F, features.offsets_N1,
                                          /*scale_grad_by_freq=*/false, /*mode=*/0,
                                          /*sparse=*/false, /*per_sample_weights=*/{},
                                          /*include_last_offset=*/true)) *
         scale;
}

torch::Tensor scaled_embedding(const torch::Tensor& weight_VD, const torch::Tensor& tokens_N,
                               double scale) {
  // Formula embedding: fast path gpu_embedding.
  return torch::embedding(weight_VD, tokens_N) * scale;
  // End of formula.
}

void EmbeddingMatrices::reset_parameters() {
  const torch::NoGradGuard no_grad;
  for (torch::Tensor* matrix : {&shared, &projection, &source, &target, &feature}) {
    if (!matrix->defined()) continue;
    matrix->normal_(0.0, std::pow(static_cast<double>(matrix->size(1)), -0.5));
  }
}

}  // namespace attn
