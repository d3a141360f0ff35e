// Section 3.4: the embedding matrices and the pre-softmax projection, shared or separate. Not in
// the paper: embeddings of further indices of source tokens.
#pragma once

#include "kernels/libtorch.h"
#include "model/segments.h"
#include "model/vocabulary.h"

namespace attn {

/// scale · weight_VD[tokens_N], [N, D]; tokens int64.
torch::Tensor scaled_embedding(const torch::Tensor& weight_VD, const torch::Tensor& tokens_N,
                               double scale);

/// Parameters of `owner`; which of them are defined depends on the sharing.
struct EmbeddingMatrices {
  /// Registers them with `owner`, uninitialized. Throws ConfigError if one matrix is shared by both
  /// sides but the vocabulary sizes differ.
  EmbeddingMatrices(torch::nn::Module& owner, EmbeddingSharing sharing,
                    const VocabularySizes& sizes, int64_t width);

  torch::Tensor shared;      ///< "shared_weight" [V, D]; sharing = all
  torch::Tensor source;      ///< "source_weight" [source V, D]; sharing = decoder or none
  torch::Tensor target;      ///< "target_weight" [target V, D]; sharing = decoder or none
  torch::Tensor projection;  ///< "projection_weight" [target V, D]; sharing = none
  torch::Tensor feature;     ///< "feature_weight" [source features, D]; only if there are any

  /// Normal with standard deviation D^-0.5, so that embeddings scaled by √D have unit variance.
  void reset_parameters();

  /// scale times the sum of the feature embeddings of every source row, [N, D]; undefined without
  /// features. TORCH_CHECKs that the rows have features.
  torch::Tensor features_of(const TokenSequences& rows, double scale) const;

  const torch::Tensor& of_source() const { return shared.defined() ? shared : source; }
  const torch::Tensor& of_target() const { return shared.defined() ? shared : target; }
  /// The pre-softmax projection.
  const torch::Tensor& of_output() const { return projection.defined() ? projection : of_target(); }
};

}  // namespace attn
