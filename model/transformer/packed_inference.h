// Fast CPU search: the decoder's weights packed once, a few fused kernels per layer. Equals
// TransformerImpl::step and project up to rounding.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kernels/libtorch.h"
#include "kernels/ops/linear.h"
#include "kernels/ops/packed_linear.h"
#include "kernels/ops/residual_norm.h"
#include "model/seq2seq.h"
#include "model/transformer/transformer.h"

namespace attn {

/// Holds copies of the decoder's weights, and from the first session on of the encoder's where its
/// products are packed (bf16, and fp32 with has_packed_products); create a new one when the weights
/// change.
class PackedInference : public InferenceModel {
 public:
  /// Whether the model is supported: float32 on a CPU, without options that it does not compute
  /// (fast_options.h), such as activations other than ReLU and SwiGLU.
  static bool serves(const TransformerImpl& model);
  /// For a model that `serves` accepts. bf16 requires has_bf16_tiles().
  PackedInference(std::shared_ptr<TransformerImpl> model, WeightType weights);
  std::unique_ptr<DecodeSession> start(const TokenSequences& source) const override;

  /// The norm around a sub-layer, with α of its residual connection.
  struct Around {
    NormParameters norm;
    double residual_scale;
  };
  struct Layer {
    PackedLinear self_project, self_output;  ///< fused queries, keys and values
    PackedLinear cross_query, cross_output;
    PackedLinear inner, outer;  ///< with SwiGLU `inner` fuses gate and inner
    Around around_self, around_cross, around_feed_forward;
    RelativeVectors relative;  ///< vectors of self-attention; undefined: none
  };

  std::shared_ptr<TransformerImpl> model;  ///< for the embedding and the memory
  std::vector<Layer> layers;
  std::optional<NormParameters> final_norm;
  PackedLinear projection;
  /// Weights of the encoder and of the cross-attention keys and values.
  std::unique_ptr<PackedWeights> memory_weights;
};

}  // namespace attn
