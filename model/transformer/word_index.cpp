#include "model/transformer/word_index.h"

#include <vector>

#include "base/check.h"

namespace attn {

WordIndex::WordIndex(torch::nn::Module& owner, const VocabularySizes& sizes) {
  require(!sizes.target_words.empty(), "model.word_positions or model.deterministic_attention",
          "true", "the target vocabulary has no leaves of the form data.tree_form to count");
  is_word_V_ = owner.register_buffer("is_word", torch::zeros({sizes.target}, torch::kInt64));
  for (const int32_t token : sizes.target_words) is_word_V_[token] = 1;
}

torch::Tensor WordIndex::of_rows(const TokenSequences& target_in) const {
  // Formula transformer: fast paths packed_search, transformer_step.
  const torch::Tensor words_N = is_word_V_.index_select(0, target_in.tokens_N);
  const torch::Tensor before_N = words_N.cumsum(0) - words_N;  // in all earlier rows of the batch
  const torch::Tensor& positions_N = target_in.segments.positions();
  const torch::Tensor first_N =
      torch::arange(positions_N.size(0), positions_N.options()) - positions_N;
  return before_N + words_N - before_N.index_select(0, first_N);
  // End of formula.
}

torch::Tensor WordIndex::of_step(const StepRows& rows, const torch::Tensor& before_R) const {
  const torch::Device device = is_word_V_.device();
  const torch::Tensor words_R = is_word_V_.index_select(0, int64_tensor(rows.tokens, device));
  if (!before_R.defined()) return words_R;
  return words_R + before_R.index_select(0, int64_tensor(rows.parents, device));
}

DeterministicAttentionImpl::DeterministicAttentionImpl(const TransformerConfig& config) {
  projection = register_module(
      "projection", Linear(torch::nn::LinearOptions(config.d_model, config.d_model).bias(false)));
  projection->unit_fan_in = config.mup_base > 0;
}

torch::Tensor select_next_words(const torch::Tensor& projected_MD, const Segments& memory,
                                std::span<const int64_t> sentences, const torch::Tensor& words_R) {
  std::vector<int64_t> first, last;
  for (const int64_t sentence : sentences) {
    TORCH_CHECK(sentence >= 0 && sentence < memory.count() && memory.length(sentence) > 0,
                "deterministic_attention: no memory of sentence ", sentence);
    first.push_back(memory.offset(sentence));
    last.push_back(memory.offset(sentence + 1) - 1);
  }
  const torch::Device device = projected_MD.device();
  // Without search.constrained a tree may have more leaves than the sentence has words.
  const torch::Tensor rows_R =
      torch::minimum(int64_tensor(first, device) + words_R, int64_tensor(last, device));
  return projected_MD.index_select(0, rows_R);
}

}  // namespace attn
