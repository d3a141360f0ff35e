#include "model/layers/embedding_matrices.h"

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
}

void EmbeddingMatrices::reset_parameters() {
  const torch::NoGradGuard no_grad;
  for (torch::Tensor* matrix : {&shared, &projection, &source, &target}) {
    if (!matrix->defined()) continue;
    matrix->normal_(0.0, std::pow(static_cast<double>(matrix->size(1)), -0.5));
  }
}

}  // namespace attn
