// What the decoder of a parser is told of the words of the source, not in the paper: how many of
// them the tree has so far, as a further position encoding (model.word_positions, embedding.h), and
// the encoder's output for the next one (model.deterministic_attention: Ma et al. 2017, Liu et al.
// 2018). Cross-attention stays as it is.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/libtorch.h"
#include "model/layers/linear.h"
#include "model/segments.h"
#include "model/step_rows.h"
#include "model/transformer/config.h"

namespace attn {

/// Counts the words (VocabularySizes::target_words) of each target prefix, its last token included.
class WordIndex {
 public:
  /// Keeps a buffer in `owner`, which follows it to a device. Throws ConfigError without words.
  WordIndex(torch::nn::Module& owner, const VocabularySizes& sizes);
  /// [N] int64, of all prefixes of the decoder input.
  torch::Tensor of_rows(const TokenSequences& target_in) const;
  /// [R] int64, of the rows of a decoding step; before_R: of those of the previous step, undefined
  /// at the first.
  torch::Tensor of_step(const StepRows& rows, const torch::Tensor& before_R) const;

 private:
  torch::Tensor is_word_V_;  // int64, 0 or 1
};

/// The projection of memory rows for the decoder input, without a bias.
class DeterministicAttentionImpl : public torch::nn::Module {
 public:
  explicit DeterministicAttentionImpl(const TransformerConfig& config);
  /// Memory rows [M, D] to what they add to the decoder input, [M, D].
  torch::Tensor forward(const torch::Tensor& memory_MD) { return projection(memory_MD); }

  Linear projection = nullptr;  ///< [D, D]
};
TORCH_MODULE(DeterministicAttention);

/// Row r of the result [R, D] is the row in projected_MD [M, D] of word words_R[r] (from 0) of
/// sentence sentences[r]; counts beyond the last word select the row of EOS.
torch::Tensor select_next_words(const torch::Tensor& projected_MD, const Segments& memory,
                                std::span<const int64_t> sentences, const torch::Tensor& words_R);

/// What search keeps of the words; both undefined for models without.
struct WordState {
  torch::Tensor next_words_MD;  ///< with deterministic attention: memory rows, projected
  torch::Tensor index_R;        ///< of the last step's rows; undefined before the first
};

}  // namespace attn
