// Section 3: the whole model, Figure 1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/libtorch.h"
#include "model/config.h"
#include "model/decoder.h"
#include "model/embedding.h"
#include "model/encoder.h"
#include "model/segments.h"

namespace attn {

class TransformerImpl : public torch::nn::Module {
 public:
  /// Parameters are initialised from torch's generator (model/init.h).
  TransformerImpl(const ModelConfig& config, const ModelVocabulary& vocabulary);

  /// Source tokens to memory rows [N, D].
  torch::Tensor encode(const TokenSequences& source);
  /// Target input (bos first) and memory to the last decoder layer's rows [N, D]: what the
  /// projection takes.
  torch::Tensor decode(const TokenSequences& target, const torch::Tensor& memory_ND,
                       const Segments& memory);
  /// encode, then decode.
  torch::Tensor forward(const TokenSequences& source, const TokenSequences& target);
  /// Rows [N, D] to logits [N, V of the target].
  torch::Tensor project(const torch::Tensor& x_ND);

  /// For search: the memory's keys and values, no position decoded yet.
  DecoderState start(const torch::Tensor& memory_ND, const Segments& memory);
  /// Decodes one position: row r continues row parents[r] of the position before with token
  /// tokens[r]; rows of one sentence stand together in the order of `sentences`. At the first
  /// position parents are not looked at. Returns [R, D].
  torch::Tensor step(DecoderState& state, std::span<const int64_t> parents,
                     std::span<const int32_t> tokens, std::span<const int64_t> sentences);

  /// The decoder's input [R, D] for the tokens of one position: the part of `step` that looks at
  /// no other row. `word_counts` is what count_words says of it.
  torch::Tensor embed_step(std::span<const int32_t> tokens, int64_t position,
                           std::span<const int64_t> word_counts);
  /// For each row its number of words so far: `before` is the same of the position before, empty at
  /// the first one. Empty without word positions.
  std::vector<int64_t> count_words(std::span<const int64_t> before,
                                   std::span<const int64_t> parents,
                                   std::span<const int32_t> tokens) const;

  /// [V, D]: rows of the pre-softmax projection, whichever parameter that is.
  const torch::Tensor& output_weight() const;
  /// [V, D]: the two sides' embeddings.
  const torch::Tensor& source_matrix() const;
  const torch::Tensor& target_matrix() const;
  const ModelConfig& config() const { return config_; }
  const ModelVocabulary& vocabulary() const { return vocabulary_; }
  torch::Device device() const { return output_weight().device(); }

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
  ModelConfig config_;
  ModelVocabulary vocabulary_;
  // Which target tokens stand for a word, here and where the model is; only with word positions.
  std::vector<uint8_t> is_word_;
  torch::Tensor is_word_V_;  // int64, 0 or 1
};
TORCH_MODULE(Transformer);

}  // namespace attn
