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

namespace attn {

class DeterministicAttentionImpl : public torch::nn::Module {
 public:
  explicit DeterministicAttentionImpl(int64_t d_model);

  /// Memory rows [M, D] to what they add to the decoder input, [M, D].
  torch::Tensor forward(const torch::Tensor& memory_MD) { return projection(memory_MD); }

  Linear projection = nullptr;
};
TORCH_MODULE(DeterministicAttention);

/// [R, D]: of a decoder row in sentence sentences[r] with words_R[r] words (int64) before it, the
/// row of the next word in projected_MD; after the last word that of the end of sentence.
torch::Tensor select_next_words(const torch::Tensor& projected_MD, const Segments& memory,
                                std::span<const int64_t> sentences, const torch::Tensor& words_R);
/// The same for the rows of a decoding step; undefined if projected_MD is.
torch::Tensor select_next_words(const torch::Tensor& projected_MD, const Segments& memory,
                                const StepRows& rows);

}  // namespace attn
