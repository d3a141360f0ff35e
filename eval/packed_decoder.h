// The decoder's step without LibTorch's operations: weights packed once, a few kernels a layer.
// What it computes is Transformer::step and Transformer::project, to rounding.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "eval/beam_search.h"
#include "eval/token_constraint.h"
#include "kernels/bf16.h"
#include "kernels/libtorch.h"
#include "kernels/packed_linear.h"
#include "model/transformer.h"

namespace attn {

/// A Transformer's decoder as search uses it. Several searches can share it. It copies the
/// decoder's weights; embedding and encoder stay the model's own (for bf16 the first search copies
/// the encoder's weights, too), so make another one when weights change.
class PackedDecoder {
 public:
  /// Whether there is such a path. There is none off the CPU, in another type than float32, with a
  /// bias on the attention scores, or with any knob of the model that it doesn't know, such as
  /// another activation than ReLU or the readable attention.
  static bool knows(Transformer model);
  /// Null for a model that it doesn't know. bf16 needs has_bf16_tiles().
  static std::shared_ptr<const PackedDecoder> make(Transformer model, WeightType weights);

  struct Norm {
    torch::Tensor weight, bias;
    double epsilon;
  };
  struct Layer {
    PackedLinear self_project, self_output;  ///< queries, keys and values in one
    PackedLinear memory_query, memory_output;
    PackedLinear inner, outer;
    Norm self_norm, memory_norm, feed_forward_norm;
  };

  Transformer model;  ///< for the embedding and the memory
  std::vector<Layer> layers;
  std::optional<Norm> final_norm;
  PackedLinear projection;
  /// What the encoder and the memory's keys and values are computed with; null: float32.
  std::unique_ptr<Bf16Weights> memory_weights;

 private:
  PackedDecoder(Transformer of, WeightType weights);
};

/// Decodes a batch position by position. Decoder and constraint (may be null) must outlive this.
class PackedStepDecoder : public StepDecoder {
 public:
  PackedStepDecoder(const PackedDecoder& decoder, const TokenSequences& source,
                    TokenConstraint* constraint);
  ~PackedStepDecoder() override;
  void step(std::span<const int64_t> parents, std::span<const int32_t> tokens,
            std::span<const int64_t> sentences, int64_t candidates, Candidates& out) override;

 private:
  class State;
  std::unique_ptr<State> state_;
  TokenConstraint* constraint_;
};

}  // namespace attn
