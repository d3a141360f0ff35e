// Search without LibTorch's operations: the decoder's weights packed once, a few kernels a layer.
// What it computes is TransformerImpl::step and project, to rounding.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kernels/libtorch.h"
#include "kernels/ops/bf16.h"
#include "kernels/ops/packed_linear.h"
#include "kernels/ops/residual_norm.h"
#include "model/seq2seq.h"
#include "model/transformer/transformer.h"

namespace attn {

/// Copies the decoder's weights; embedding and encoder stay the model's own (for bf16 the first
/// session copies the encoder's weights, too), so make another one when weights change.
class PackedInference : public InferenceModel {
 public:
  /// Whether there are kernels for this model: none off the CPU, in another type than float32, with
  /// a bias on the attention scores, or with an option that is not handled here, such as another
  /// activation than ReLU or the written-out attention.
  static bool serves(const TransformerImpl& model);
  /// For a model that `serves` accepts. bf16 requires has_bf16_tiles().
  PackedInference(std::shared_ptr<TransformerImpl> model, WeightType weights);
  std::unique_ptr<DecodeSession> start(const TokenSequences& source) const override;

  struct Layer {
    PackedLinear self_project, self_output;  ///< queries, keys and values in one
    PackedLinear cross_query, cross_output;
    PackedLinear inner, outer;
    NormParameters self_norm, cross_norm, feed_forward_norm;
  };

  std::shared_ptr<TransformerImpl> model;  ///< for the embedding and the memory
  std::vector<Layer> layers;
  std::optional<NormParameters> final_norm;
  PackedLinear projection;
  /// What the encoder and the memory's keys and values are computed with; null: float32.
  std::unique_ptr<Bf16Weights> memory_weights;
};

}  // namespace attn
