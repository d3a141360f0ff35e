// Fast path transformer_step: multi_head_attention 21ebf064
// Fast path transformer_step: visible_keys 2a8fd925
// Fast path transformer_step: mixer 15d8e02a
// Fast path transformer_step: decoder_layer 1ded3b43
// Fast path transformer_step: decoder dfbb101e
// Fast path transformer_step: transformer 9ef56070
// Fast path transformer_step: convolution cb8ed742
// Fast path transformer_step: recurrence 6ae53595
// Fast path transformer_step: shifted_rows da3773ae
#include "model/transformer/transformer.h"

#include <cmath>
#include <vector>

#include "model/layers/layer.h"
#include "model/transformer/scaling.h"

namespace attn {
namespace {

// The sentence of every row.
std::vector<int64_t> sentences_of(const Segments& rows) {
  std::vector<int64_t> sentences;
  for (int64_t s = 0; s < rows.count(); ++s) {
    sentences.insert(sentences.end(), static_cast<size_t>(rows.length(s)), s);
  }
  return sentences;
}

}  // namespace

TransformerImpl::TransformerImpl(const TransformerConfig& config, const VocabularySizes& sizes)
    : Seq2SeqModel(config, sizes), config_(config) {
  source_embedding = register_module("source_embedding", Embedding(config, false, false));
  target_embedding =
      register_module("target_embedding", Embedding(config, config.word_positions, true));
  encoder = register_module("encoder", Encoder(config));
  decoder = register_module("decoder", Decoder(config));
  if (config.deterministic_attention) {
    deterministic_attention =
        register_module("deterministic_attention", DeterministicAttention(config));
  }
  if (config.counts_words()) word_index.emplace(*this, sizes);
  set_scales(config, *encoder, *decoder);
  reset_parameters();
}

void TransformerImpl::reset_parameters() {
  embeddings.reset_parameters();
  if (config_.mup_base > 0) {  // the standard deviation of the base, as is the factor √mup_base
    const torch::NoGradGuard no_grad;
    for (auto& matrix : parameters(/*recurse=*/false))
      matrix.mul_(std::sqrt(config_.width_ratio()));
  }
  reset_layers(*this);
}

Memory TransformerImpl::encode(const TokenSequences& source) {
  const Segments& rows = source.segments;
  const torch::Tensor x_ND = source_embedding(
      embeddings.of_source(), source.tokens_N, rows.positions(), rows.longest(),
      /*word_index_N=*/torch::Tensor(), embeddings.features_of(source, source_embedding->scale()));
  const AttentionSpec self{
      .queries = rows,
      .keys = rows,
      .position = source_embedding->position->in_scores(rows.positions(), rows.longest())};
  return {encoder(x_ND, self), rows};
}

torch::Tensor TransformerImpl::decode(const TokenSequences& target_in, const Memory& memory) {
  // Formula transformer: fast paths packed_search, transformer_step.
  const Segments& rows = target_in.segments;
  torch::Tensor word_index_N, next_words_ND;
  if (word_index) word_index_N = word_index->of_rows(target_in);
  if (deterministic_attention) {
    next_words_ND = select_next_words(deterministic_attention(memory.rows_MD), memory.segments,
                                      sentences_of(rows), word_index_N);
  }
  const torch::Tensor x_ND =
      target_embedding(embeddings.of_target(), target_in.tokens_N, rows.positions(), rows.longest(),
                       word_index_N, next_words_ND);
  const AttentionSpec self{
      .queries = rows,
      .keys = rows,
      .causal = true,
      .position = target_embedding->position->in_scores(rows.positions(), rows.longest())};
  return output_rows(
      decoder(x_ND, memory.rows_MD, self, AttentionSpec{.queries = rows, .keys = memory.segments}));
  // End of formula.
}

WordState TransformerImpl::start_words(const torch::Tensor& memory_MD) {
  if (!deterministic_attention) return {};
  return {.next_words_MD = deterministic_attention(memory_MD), .index_R = {}};
}

DecoderState TransformerImpl::start(const Memory& memory) {
  DecoderState state = decoder->start(memory.rows_MD, memory.segments);
  state.words = start_words(memory.rows_MD);
  return state;
}

torch::Tensor TransformerImpl::step(DecoderState& state, const StepRows& step) {
  const int64_t position = state.ancestors.steps();
  state.ancestors.advance(step.parents);
  const Segments rows = by_sentence(step, state.memory.count(), device());
  const torch::Tensor x_RD = embed_step(step, position, state.memory, state.words);
  const torch::Tensor positions_R =
      torch::full({rows.rows()}, position, torch::TensorOptions(device()).dtype(torch::kInt64));
  return output_rows(decoder->step(
      x_RD, state, rows, target_embedding->position->in_scores(positions_R, position + 1)));
}

torch::Tensor TransformerImpl::output_rows(const torch::Tensor& x_ND) const {
  // Formula transformer: fast paths packed_search, transformer_step.
  return config_.mup_base > 0 ? x_ND / config_.width_ratio() : x_ND;
  // End of formula.
}

torch::Tensor TransformerImpl::embed_step(const StepRows& rows, int64_t position,
                                          const Segments& memory, WordState& words) {
  const torch::Tensor tokens_R = int64_tensor(rows.tokens, device());
  torch::Tensor next_words_RD;
  if (word_index) words.index_R = word_index->of_step(rows, words.index_R);
  if (deterministic_attention) {
    next_words_RD = select_next_words(words.next_words_MD, memory, rows.sentences, words.index_R);
  }
  return target_embedding(embeddings.of_target(), tokens_R, torch::full_like(tokens_R, position),
                          position + 1, words.index_R, next_words_RD);
}

}  // namespace attn
