// Section 3: the whole model, Figure 1.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "kernels/libtorch.h"
#include "model/seq2seq.h"
#include "model/transformer/config.h"
#include "model/transformer/decoder.h"
#include "model/transformer/embedding.h"
#include "model/transformer/encoder.h"

namespace attn {

class TransformerImpl : public Seq2SeqModel {
 public:
  TransformerImpl(const TransformerConfig& config, const VocabularySizes& sizes);
  /// Draws all parameters from torch's generator (model/layers/layer.h).
  void reset_parameters();

  Memory encode(const TokenSequences& source) override;
  /// The last decoder layer's rows.
  torch::Tensor decode(const TokenSequences& target_in, const Memory& memory) override;
  OutputLayer output_layer() const override { return {output_weight()}; }
  /// On a CPU, in float32, for the options that PackedInference has kernels for.
  bool has_packed_inference() const override;
  std::shared_ptr<const InferenceModel> inference(const SearchBackend& backend) override;
  std::shared_ptr<Seq2SeqModel> replica() const override;
  std::optional<int64_t> max_length() const override { return config_.max_length(); }
  int64_t width() const override { return config_.d_model; }

  /// For search: the memory's keys and values, no position decoded yet.
  DecoderState start(const Memory& memory);
  /// Decodes one position and returns [R, D]. At the first one parents are not looked at.
  torch::Tensor step(DecoderState& state, const StepRows& rows);
  /// The decoder's input [R, D] for the tokens of one position: the part of `step` that looks at
  /// no other row.
  torch::Tensor embed_step(const StepRows& rows, int64_t position);

  /// [V, D]: rows of the pre-softmax projection, whichever parameter that is.
  const torch::Tensor& output_weight() const;
  /// [V, D]: the two sides' embeddings.
  const torch::Tensor& source_matrix() const;
  const torch::Tensor& target_matrix() const;
  const TransformerConfig& config() const { return config_; }

  Embedding source_embedding = nullptr, target_embedding = nullptr;
  Encoder encoder = nullptr;
  Decoder decoder = nullptr;
  // Section 3.4: which of these exist says config.embedding_sharing; the others stay undefined.
  torch::Tensor shared_weight;  ///< [V, D], sharing = all
  torch::Tensor source_weight;  ///< [V of the source, D]
  torch::Tensor
      target_weight;  ///< [V of the target, D], the projection's too with sharing = decoder
  torch::Tensor projection_weight;  ///< [V of the target, D], sharing = none

 private:
  TransformerConfig config_;
};
TORCH_MODULE(Transformer);

}  // namespace attn
