#include "model/transformer/deterministic_attention.h"

#include <vector>

namespace attn {

DeterministicAttentionImpl::DeterministicAttentionImpl(const TransformerConfig& config) {
  projection = register_module(
      "projection", Linear(torch::nn::LinearOptions(config.d_model, config.d_model).bias(false)));
  projection->unit_fan_in = config.mup_base > 0;
}

torch::Tensor select_next_words(const torch::Tensor& projected_MD, const Segments& memory,
                                std::span<const int64_t> sentences, const torch::Tensor& words_R) {
  TORCH_CHECK(words_R.defined(), "deterministic_attention: second_N is undefined");
  TORCH_CHECK(words_R.dim() == 1 && words_R.size(0) == std::ssize(sentences),
              "deterministic_attention: ", words_R.sizes(), " word counts for ", sentences.size(),
              " rows");
  std::vector<int64_t> first, last;
  first.reserve(sentences.size());
  last.reserve(sentences.size());
  for (const int64_t sentence : sentences) {
    TORCH_CHECK(sentence >= 0 && sentence < memory.count() && memory.length(sentence) > 0,
                "deterministic_attention: no memory of sentence ", sentence);
    first.push_back(memory.offset(sentence));
    last.push_back(memory.offset(sentence + 1) - 1);
  }
  const torch::Device device = projected_MD.device();
  // Without search.constrained a tree may have more leaves than the sentence has words.
  const torch::Tensor rows_R = torch::minimum(int64_tensor<int64_t>(first, device) + words_R,
                                              int64_tensor<int64_t>(last, device));
  return projected_MD.index_select(0, rows_R);
}

torch::Tensor select_next_words(const torch::Tensor& projected_MD, const Segments& memory,
                                const StepRows& rows) {
  if (!projected_MD.defined()) return {};
  const torch::Tensor words_R =
      rows.second.empty() ? torch::Tensor() : int64_tensor(rows.second, projected_MD.device());
  return select_next_words(projected_MD, memory, rows.sentences, words_R);
}

}  // namespace attn
