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
#include "model/transformer/word_index.h"

namespace attn {

class TransformerImpl : public Seq2SeqModel {
 public:
  TransformerImpl(const TransformerConfig& config, const VocabularySizes& sizes);
  /// Initializes all parameters from torch's default generator (model/layers/layer.h).
  void reset_parameters();

  Memory encode(const TokenSequences& source) override;
  /// Output of the decoder (with µP divided by the width ratio), [N, D].
  torch::Tensor decode(const TokenSequences& target_in, const Memory& memory) override;
  /// See PackedInference::serves.
  bool has_packed_inference() const override;
  std::vector<std::string> options_as_read() const override;
  /// With µP that of the base, for which the learning rate was chosen.
  int64_t width() const override { return config_.base_width(); }
  /// µP: 1 / width ratio, as for Adam (Yang et al. 2021, table 8).
  double hidden_rate() const override { return 1.0 / config_.width_ratio(); }

  using State = DecoderState;
  /// Starts incremental decoding: projects the memory; the KV cache is empty.
  State start(const Memory& memory);
  /// One decoding step: [R, D]. Ignores parents at the first step.
  torch::Tensor step(State& state, const StepRows& rows);
  WordState start_words(const torch::Tensor& memory_MD);
  /// The decoder input of one decoding step, [R, D]; updates the word index of its rows.
  torch::Tensor embed_step(const StepRows& rows, int64_t position, const Segments& memory,
                           WordState& words);

  const TransformerConfig& config() const { return config_; }

  Embedding source_embedding = nullptr, target_embedding = nullptr;
  Encoder encoder = nullptr;
  Decoder decoder = nullptr;
  DeterministicAttention deterministic_attention = nullptr;  ///< only with that option
  std::optional<WordIndex> word_index;                       ///< where one of the two needs it

 private:
  std::shared_ptr<const InferenceModel> make_inference(WeightType weights) override;
  // The decoder's output as input of the output layer: µP divides logits by the width ratio.
  torch::Tensor output_rows(const torch::Tensor& x_ND) const;

  TransformerConfig config_;
};
TORCH_MODULE(Transformer);

}  // namespace attn
