// Deterministic attention for parsing (Ma et al. 2017, Liu et al. 2018), not in the paper: the
// decoder input contains the memory row of the next word, which the number of words in the tree so
// far determines (TokenSequences::second_N). Cross-attention stays as it is.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/libtorch.h"
#include "model/layers/linear.h"
#include "model/segments.h"
#include "model/step_rows.h"
#include "model/transformer/config.h"

namespace attn {

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
/// sentence sentences[r]; counts beyond the last word select the row of EOS. words_R: [R] int64,
/// the number of words in the tree so far. TORCH_CHECKs that it is defined, and the sizes.
torch::Tensor select_next_words(const torch::Tensor& projected_MD, const Segments& memory,
                                std::span<const int64_t> sentences, const torch::Tensor& words_R);
/// The same for the rows of a decoding step; undefined if projected_MD is.
torch::Tensor select_next_words(const torch::Tensor& projected_MD, const Segments& memory,
                                const StepRows& rows);

}  // namespace attn
